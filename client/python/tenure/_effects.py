"""The decisions of a session, to be carried out in order.

Numbers of calls and streams are never reused. Durations are in nanoseconds.
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
    """An answered renewal."""

    round_trip: int
    margin: int  # time that was left until the deadline when the answer came
