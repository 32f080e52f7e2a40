"""Which service the endpoints belong to: each database is one, with an id."""

from __future__ import annotations

import logging
import re
from typing import Any, Callable, Optional, Sequence

import grpc

from tenure._lease import FOREVER, SECOND
from tenure.errors import WRONG_SERVICE, ServiceError

METADATA = "tenure-service-id"
Answer = tuple[str, Optional[str]]  # an endpoint, and the id that it answered with
Say = Callable[[int, str], None]

# A client that is not sure of its service asks all endpoints again after the first of these pauses,
# counted from the start of the last survey; after the second, if a replica has refused its service
# since.
SURVEY_INTERVAL = 10 * SECOND
SURVEY_PAUSE = SECOND
SURVEY_PATIENCE = 3 * SECOND  # for a survey that no lease waits for

# An older service, or one that does not answer this caller: its next answer has the id.
_NO_IDENTITY = (
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
)


def check_service_id(service_id: Optional[str]) -> str:
    """Raises ValueError if the id is malformed. Empty: no id."""
    if service_id is None:
        return ""
    if not re.fullmatch("[0-9a-f]{32}", service_id):
        raise ValueError(
            f"service_id is {service_id!r}; it must be 32 lower-case hexadecimal digits, as "
            "`tenure status` shows them"
        )
    return service_id


def choose(known: str, pinned: bool, answers: Sequence[Answer]) -> str:
    """Returns the id to use; raises ServiceError if there is none. Pure."""
    groups: dict[str, list[str]] = {}
    for endpoint, service_id in answers:
        if service_id:
            groups.setdefault(service_id, []).append(endpoint)
    named = ", ".join(f"{', '.join(endpoints)} to {one}" for one, endpoints in groups.items())
    most = majority(answers)
    if most and not pinned:
        return most
    if known:
        if known in groups or not all(service_id for _, service_id in answers):
            return known
        if pinned:
            raise _wrong(
                f"no endpoint belongs to service {known}: {named}; correct the endpoints or "
                "service_id"
            )
    elif not groups:
        raise ServiceError(grpc.StatusCode.UNAVAILABLE, "no replica of the service can be reached")
    else:
        sizes = sorted((len(endpoints) for endpoints in groups.values()), reverse=True)
        if len(sizes) == 1 or sizes[0] > sizes[1]:
            return max(groups, key=lambda one: len(groups[one]))
    raise _wrong(
        f"the endpoints belong to different services: {named}; set service_id to the right one"
    )


def majority(answers: Sequence[Answer]) -> str:
    """The service of more than half of the endpoints. Empty: there is none."""
    said = [service_id for _, service_id in answers if service_id]
    return next((one for one in said if 2 * said.count(one) > len(answers)), "")


def _wrong(details: str, **metadata: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.FAILED_PRECONDITION, details, WRONG_SERVICE, metadata)


class Survey:
    """The answers of all endpoints, asked at once. For one thread, except `cancel`."""

    def __init__(self, endpoints: Sequence[str], pinned: str) -> None:
        self.answers: list[Answer] = [(endpoint, None) for endpoint in endpoints]
        self.without_id = False  # an endpoint answered, but did not say
        self.failures: dict[str, ServiceError] = {}  # of unusable endpoints
        self.calls: list[Any] = []
        self.pending = set(range(len(endpoints)))
        self._pinned = pinned  # empty: no service is pinned

    def heard(self, which: int, call: Any) -> None:
        """The call to this endpoint has ended."""
        self.pending.discard(which)
        endpoint, _ = self.answers[which]
        if call.code() is grpc.StatusCode.OK:
            self.answers[which] = (endpoint, call.result().service_id or None)
            self.without_id = self.without_id or not call.result().service_id
        elif call.code() in _NO_IDENTITY:
            self.without_id = True
        else:
            self.failures[endpoint] = ServiceError.from_rpc(call)

    @property
    def over(self) -> bool:
        """Whether all have answered, or more than half agree."""
        most = majority(self.answers)
        return not self.pending or (most == self._pinned if self._pinned else most != "")

    def cancel(self) -> None:
        for call in self.calls:
            call.cancel()


class Membership:
    """The service that a client belongs to. For one thread."""

    def __init__(self, service_id: str, say: Say) -> None:
        self.id = service_id  # empty: not known yet
        self.pinned = service_id  # empty: none is pinned
        self._say = say
        self._warned: dict[str, str] = {}  # by endpoint: the service that the last warning named
        self._sure = True  # more than half of all endpoints belong to it, as far as we know
        self._refused = False  # a replica of another service has refused us since the last survey
        self._surveyed_at = 0

    def metadata(self) -> tuple[tuple[str, str], ...]:
        return ((METADATA, self.id),) if self.id else ()

    def check(self, endpoint: str, service_id: str) -> Optional[ServiceError]:
        """The error of an endpoint of another service that is too old to compare ids itself."""
        if not service_id or service_id == self.id:
            return None
        if not self.id:
            self.id = service_id
            return None
        details = f"{endpoint} belongs to service {service_id}, not to {self.id}"
        return _wrong(details, service_id=service_id)

    @property
    def survey_at(self) -> float:
        """When to ask all endpoints again while a session or a stream is open."""
        if self._sure or self.pinned or not self.id:
            return FOREVER
        return self._surveyed_at + (SURVEY_PAUSE if self._refused else SURVEY_INTERVAL)

    def begin_survey(self, now: int) -> None:
        self._surveyed_at, self._refused = now, False

    def meet(self, endpoint: str, service_id: str) -> None:
        """Records that a replica has refused this service, because it belongs to `service_id`."""
        self.warn(endpoint, service_id)
        self._sure, self._refused = False, True

    def warn(self, endpoint: str, service_id: str) -> None:
        if self._warned.get(endpoint) != service_id:
            self._warned[endpoint] = service_id
            self._say(
                logging.WARNING,
                f"{endpoint} belongs to service {service_id}, not to {self.id}: its replica works "
                "on another database; it is not used",
            )

    def choose(self, survey: Survey) -> bool:
        """Whether the service has changed. Raises ServiceError if there is no usable one."""
        try:
            chosen = choose(self.id, bool(self.pinned), survey.answers)
        except ServiceError as error:
            if error.reason or not survey.without_id:
                raise
            return False
        replaced = bool(self.id) and chosen != self.id
        if replaced:
            self._say(
                logging.WARNING,
                f"most endpoints belong to service {chosen} now, not to {self.id}: the service was "
                "replaced",
            )
        self.id = chosen
        self._sure = majority(survey.answers) == chosen
        for endpoint, service_id in survey.answers:
            if service_id and service_id != chosen:
                self.warn(endpoint, service_id)
        return replaced
