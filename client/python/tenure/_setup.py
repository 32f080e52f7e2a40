"""Sets what gRPC reads from the environment when it is imported; so import this first.

- gRPC's support for forks is on for other parts of the process that use gRPC: see _fork.
- gRPC writes to standard error what this library logs itself, and much that concerns nobody.

Variables that are set already stay as they are.
"""

from __future__ import annotations

import os
import sys

_FORKS = "GRPC_ENABLE_FORK_SUPPORT"

# Whether gRPC was imported before, without them: then it is too late.
too_late = "grpc._cython.cygrpc" in sys.modules and _FORKS not in os.environ

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
os.environ.setdefault(_FORKS, "1")
