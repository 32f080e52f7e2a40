"""What a session has decided, to be done in its order.

Calls and streams have numbers that are never used again. Durations are in nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from tenure.v1 import election_pb2 as pb


@dataclass(frozen=True)
class SendCampaign:
    call: int
    request: pb.CampaignRequest
    patience: int  # the deadline of the call


@dataclass(frozen=True)
class SendResign:
    call: int
    request: pb.ResignRequest
    patience: int


@dataclass(frozen=True)
class OpenStream:
    stream: int


@dataclass(frozen=True)
class SendRenewal:
    stream: int
    request: pb.KeepAliveRequest


@dataclass(frozen=True)
class CloseStream:
    stream: int


@dataclass(frozen=True)
class UseAnotherReplica:
    """The replica in use did not answer as it should: use another one from now on."""

    silent: bool  # it did not answer at all


Effect = Union[SendCampaign, SendResign, OpenStream, SendRenewal, CloseStream, UseAnotherReplica]


@dataclass(frozen=True)
class Renewal:
    """One that was answered."""

    round_trip: int
    margin: int  # what was left until the deadline, had it not been answered
