"""Why an endpoint cannot be used, in plain words, and when to log it. Pure."""

from __future__ import annotations

import re
from typing import Optional

import grpc

from tenure._lease import FOREVER, SECOND
from tenure._service import Survey
from tenure.errors import WRONG_SERVICE, ServiceError

CHANGE_INTERVAL = 60 * SECOND  # minimum between two warnings about one trouble
WARNING_INTERVAL = 10 * SECOND  # minimum between two warnings

_NOT_GRPC = "it does not speak gRPC; is it an HTTP port, or a database?"
_CERTIFICATE = "its certificate "

# The texts of gRPC's core. The first match counts.
_PHRASES = [
    (r"Connection refused", "connection refused"),
    (r"DNS resolution failed|Domain name not found", "no such host"),
    (r"No route to host|Network is unreachable", "no route to host"),
    (r"certificate has expired", _CERTIFICATE + "has expired"),
    (r"certificate is not yet valid", _CERTIFICATE + "is not valid yet"),
    (r"is not in peer certificate", _CERTIFICATE + "is for another host name"),
    (
        r"self.signed certificate|unable to (verify|get) ",
        _CERTIFICATE + "is signed by an unknown authority",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        _CERTIFICATE + "is signed by an unknown authority, or has expired",
    ),
    (r"WRONG_VERSION_NUMBER", "it does not speak TLS"),
    (r"Ssl handshake failed", "the TLS handshake failed"),
    (
        r"Failed parsing HTTP/2|http1\.x server|SETTINGS frame|HTTP status|content-type",
        _NOT_GRPC,
    ),
]
# The connection itself broke before anything was received on it.
_CLOSED = re.compile(
    r"(connections to all backends|failed to connect to all)"
    r".*(Socket closed|Connection reset by peer)"
)
_REASONS = {
    "STORE_UNAVAILABLE": "the service runs, but cannot reach its database: ",
    "DRAINING": "the replica is shutting down: ",
    "OVERLOADED": "the replica is overloaded: ",
}


def explain(error: ServiceError, tls: bool) -> str:
    """`tls`: whether the connection uses TLS."""
    if error.reason in _REASONS:
        return _REASONS[error.reason] + error.details
    if error.code is grpc.StatusCode.UNIMPLEMENTED:
        return "it speaks gRPC, but does not know this call; is it Tenure, and new enough?"
    if error.code in (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED):
        return f"permission denied: {error.details}"
    for pattern, text in _PHRASES:
        if re.search(pattern, error.details):
            return text
    if _CLOSED.search(error.details):
        if tls:
            return "it closed the connection after the TLS handshake; does it want a certificate?"
        return "it closed the connection at once; does it want TLS?"
    if error.details == "Deadline Exceeded":
        return "no answer"
    return " ".join(error.details.split()) or error.code.name


def is_of_tls(error: ServiceError) -> bool:
    """Whether the TLS handshake failed for a reason that only an operator can change."""
    return bool(re.search("Ssl handshake failed|is not in peer certificate", error.details))


def explained(error: ServiceError, endpoint: str, tls: bool) -> ServiceError:
    """The same error, in plain words, with its endpoint. A server that is not Tenure counts as
    unreachable: another endpoint may be Tenure. The service's own text about a request is kept.
    """
    foreign = error.reason == WRONG_SERVICE or (
        error.code is grpc.StatusCode.UNIMPLEMENTED and not error.reason
    )
    if not foreign and not error.is_transient:
        return error
    code = grpc.StatusCode.UNAVAILABLE if foreign else error.code
    details = f"cannot use {endpoint}: {explain(error, tls)}"
    return ServiceError(code, details, error.reason, error.metadata, error.retry_delay)


class Troubles:
    """Logs once why a service cannot be used, and once that it can be used again."""

    def __init__(self) -> None:
        self.last: Optional[ServiceError] = None  # why the last attempt failed; None: it succeeded
        self._since: Optional[int] = None
        self._said = ""  # logged for this trouble
        self._warned_at: float = -FOREVER
        self._named: set[str] = set()  # endpoints that have not answered since a warning named them

    def failed(self, endpoint: str, error: ServiceError, tls: bool, now: int) -> Optional[str]:
        """Returns the warning that is due."""
        self.last = explained(error, endpoint, tls)
        if self._since is None:
            self._since, self._said = now, ""
        text = explain(error, tls)
        kind = text.partition(": ")[0]
        interval = CHANGE_INTERVAL if self._said else WARNING_INTERVAL
        if kind == self._said or now < self._warned_at + interval:
            return None
        self._said, self._warned_at = kind, now
        return self._warning(endpoint, text)

    def found(self, survey: Survey, tls: bool) -> list[str]:
        """The warnings that are due: some endpoints may fail although the service can be used."""
        self._named.difference_update(endpoint for endpoint, answer in survey.answers if answer)
        return [
            self._warning(endpoint, explain(error, tls))
            for endpoint, error in survey.failures.items()
            if endpoint not in self._named and error.code is not grpc.StatusCode.CANCELLED
        ]

    def _warning(self, endpoint: str, text: str) -> str:
        self._named.add(endpoint)
        return f"cannot use {endpoint}: {text}; still trying"

    def answered(self, endpoint: str, now: int) -> Optional[str]:
        """Returns the line that is due."""
        since, said = self._since, self._said
        self.last, self._since, self._said = None, None, ""
        self._named.discard(endpoint)
        if since is None or not said:
            return None
        return f"{endpoint} answers after {(now - since) / SECOND:.3g} s"
