"""Leader election as a service: the client library of Tenure.

    import tenure

    elector = tenure.Elector("127.0.0.1:7070")
    with elector.lead("orders") as seat:
        while not seat.wait(1):
            ship_the_next_order(seat.term)

See Elector, which says what it promises and what it does not; follow, Observer and LeaderCache, to
find out who leads; Fence, TermGuard and SqlFence, to keep two terms apart.
"""

from importlib import metadata as _metadata

from tenure import _setup  # noqa: F401  # must be first
from tenure.candidacy import Callbacks, Candidacy, Seat
from tenure.client import Client
from tenure.credentials import Tls
from tenure.elector import Elector, Lead
from tenure.errors import NotElected, SeatLost, ServiceError, TenureError
from tenure.fence import Fence, FenceCalls, FenceError, GuardCalls, NotLeader, TermGuard
from tenure.leader_cache import CachedSeat, LeaderCache
from tenure.observer import Observer, follow, follow_async
from tenure.sql_fence import SqlFence, TermOver, guarded

__version__ = _metadata.version("tenure")

__all__ = [
    "CachedSeat",
    "Callbacks",
    "Candidacy",
    "Client",
    "Elector",
    "Fence",
    "FenceCalls",
    "FenceError",
    "GuardCalls",
    "Lead",
    "LeaderCache",
    "NotElected",
    "NotLeader",
    "Observer",
    "Seat",
    "SeatLost",
    "ServiceError",
    "SqlFence",
    "TenureError",
    "TermGuard",
    "TermOver",
    "Tls",
    "__version__",
    "follow",
    "follow_async",
    "guarded",
]
