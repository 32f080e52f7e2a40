"""What can go wrong. Losing an election is an answer, and not among these."""

from __future__ import annotations

import contextlib
from typing import Mapping, Optional

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

_TRANSIENT = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
)
_FOR_NOW = (
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
)
WRONG_SERVICE = "WRONG_SERVICE"
DETAILS = "grpc-status-details-bin"


class TenureError(Exception):
    """The base of all errors of this package."""


class NotElected(TenureError, TimeoutError):
    """The seat was not won within the time to wait. If the service could not be used, `__cause__`
    is the ServiceError that says why.
    """


class SeatLost(TenureError):
    """The term has ended, or the work had to end before it. `str()` says why."""


class ServiceError(TenureError):
    """A call failed.

    `code` is gRPC's. `reason` and `metadata` are those of the service's ErrorInfo, empty if there
    is none; election.proto says what each reason means. `retry_delay` is how long the service wants
    its caller to wait, in seconds.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        details: str = "",
        reason: str = "",
        metadata: Optional[Mapping[str, str]] = None,
        retry_delay: float = 0,
    ) -> None:
        super().__init__(f"{code.name}: {details}" + (f" ({reason})" if reason else ""))
        self.code = code
        self.details = details
        self.reason = reason
        self.metadata = dict(metadata or {})
        self.retry_delay = retry_delay

    @classmethod
    def from_rpc(cls, call: grpc.Call) -> ServiceError:
        """Converts a call that has failed, or the grpc.RpcError that it raised."""
        error = cls(call.code() or grpc.StatusCode.UNKNOWN, call.details() or "")
        for key, value in call.trailing_metadata() or ():
            if key == DETAILS:
                with contextlib.suppress(DecodeError):  # from a proxy, not the service
                    error = cls(error.code, error.details, **_details_of(value))
        return error

    @property
    def is_transient(self) -> bool:
        """The same request may succeed later or on another replica."""
        overloaded = self.code is grpc.StatusCode.RESOURCE_EXHAUSTED and self.reason in (
            "",
            "OVERLOADED",
        )
        return self.code in _TRANSIENT or overloaded

    @property
    def is_silence(self) -> bool:
        """No answer came at all."""
        return self.code is grpc.StatusCode.DEADLINE_EXCEEDED

    @property
    def is_session_gone(self) -> bool:
        """The session in use has ended or is unknown."""
        return self.reason in ("SESSION_ENDED", "SESSION_NOT_FOUND")

    @property
    def is_refused_for_now(self) -> bool:
        """Only an operator, or other candidates, can lift the refusal."""
        return self.code in _FOR_NOW or self.reason in ("CANDIDACY_WITHDRAWN", WRONG_SERVICE)


def _details_of(serialized: bytes) -> dict:
    details: dict = {}
    for packed in status_pb2.Status.FromString(serialized).details:
        info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        if packed.Unpack(info):
            details.update(reason=info.reason, metadata=dict(info.metadata))
        elif packed.Unpack(retry):
            details.update(retry_delay=retry.retry_delay.ToNanoseconds() / 1e9)
    return details
