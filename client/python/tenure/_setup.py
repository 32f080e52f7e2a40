"""What gRPC reads from the environment when it is first used. Imported before everything else.

- Without its support for forks, a process that leads dies when a child that it forked uses gRPC.
- gRPC writes to standard error what this library says by `logging`, and much that concerns nobody.

What is set already is left alone. gRPC reads it with its first channel; what it read before, when
it was imported, is set as well.
"""

from __future__ import annotations

import os
import sys

_FORKS = "GRPC_ENABLE_FORK_SUPPORT"

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
if _FORKS not in os.environ:
    os.environ[_FORKS] = "1"
    if "grpc._cython.cygrpc" in sys.modules:
        sys.modules["grpc._cython.cygrpc"]._GRPC_ENABLE_FORK_SUPPORT = True  # type: ignore[attr-defined]
