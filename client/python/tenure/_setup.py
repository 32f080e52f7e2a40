"""What gRPC reads from the environment when it is imported. So this is imported before.

- Its support for forks is for what other parts of the process do with gRPC: see _fork.
- gRPC writes to standard error what this library says by `logging`, and much that concerns nobody.

What is set already is left alone.
"""

from __future__ import annotations

import os
import sys

_FORKS = "GRPC_ENABLE_FORK_SUPPORT"

# Whether gRPC was imported before without it: then nothing can be done about it any more.
too_late = "grpc._cython.cygrpc" in sys.modules and _FORKS not in os.environ

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
os.environ.setdefault(_FORKS, "1")
