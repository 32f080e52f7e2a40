"""Which replica to talk to."""

from __future__ import annotations

import contextlib
import json
import random
import re
import threading
import time
from typing import Any, Callable, Optional, Union

import grpc

from tenure import _fork, _surroundings
from tenure._service import Membership, Survey
from tenure.credentials import Metadata, Tls
from tenure.v1 import election_pb2 as pb
from tenure.v1 import election_pb2_grpc as rpc

Credentials = Union[Tls, grpc.ChannelCredentials, None]

CLOSE_DELAY = 1.0  # seconds
DRIVER_PATIENCE = 0.25  # seconds; the thread that connects a channel polls every 0.2 s
# Seconds of silence after which a failing channel is replaced: otherwise gRPC may wait for two
# minutes before it looks up an unknown name again.
REPLACED_AFTER = 5.0

_HEALTH_CHECKED = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": ""},  # the health of the server as a whole
    }
)
_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.keepalive_time_ms", 5_000),
    ("grpc.keepalive_timeout_ms", 3_000),
    # Since 1.60, gRPC ignores the option above and waits for a minute (grpc/grpc#39239).
    ("grpc.http2.ping_timeout_ms", 3_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    # Connecting may take longer than the pause between attempts, to another continent for example.
    ("grpc.min_reconnect_backoff_ms", 3_000),
    ("grpc.max_reconnect_backoff_ms", 200),
    # Otherwise a replica that has moved is only looked up again after half a minute.
    ("grpc.dns_min_time_between_resolutions_ms", 1_000),
    # An unused replica needs no connection.
    ("grpc.client_idle_timeout_ms", 30_000),
    # A full page of elections with long values is larger than gRPC's own limit.
    ("grpc.max_receive_message_length", -1),
    # A proxy for the web does not forward gRPC.
    ("grpc.enable_http_proxy", 0),
    # Each replica has a connection of its own: none waits for another's.
    ("grpc.use_local_subchannel_pool", 1),
]


# If a TLS handshake fails, only an operator can change that.
_SLOWLY = {
    "grpc.initial_reconnect_backoff_ms": 5_000,
    "grpc.min_reconnect_backoff_ms": 5_000,
    "grpc.max_reconnect_backoff_ms": 5_000,
}


class Replica:
    """Hold _fork.calling to call its methods, or anything by its stub."""

    def __init__(
        self,
        endpoint: str,
        open_channel: Callable[[], grpc.Channel],
        call_metadata: Callable[[], Metadata],
    ) -> None:
        self.endpoint = endpoint
        self.call_metadata = call_metadata  # for each call; raises RuntimeError
        self._open_channel = open_channel
        self._channel: Optional[grpc.Channel] = None
        self._stub: Optional[rpc.ElectionServiceStub] = None
        _fork.watch_channel(self)
        self.slow = False  # reconnects slowly, because the TLS handshake failed
        self.answered = False  # whether anything was received on this connection
        self.answered_at = time.monotonic()  # or when it was opened
        self._driven = False
        self._was_driven = False

    @property
    def channel(self) -> grpc.Channel:
        """The channel, opened if necessary."""
        if self._channel is None:
            self._channel = self._open_channel()
            _fork.hook()
        return self._channel

    @property
    def stub(self) -> rpc.ElectionServiceStub:
        if self._stub is None:
            self._stub = rpc.ElectionServiceStub(self.channel)
        return self._stub

    def drive(self) -> None:
        """Makes a gRPC thread connect it. Calls that fail at once do not, before gRPC 1.85."""
        if not self._driven:
            with contextlib.suppress(RuntimeError):  # no thread can be started
                self.channel.subscribe(_ignore, try_to_connect=True)
                self._driven = self._was_driven = True

    def leave_to_calls(self) -> None:
        if self._driven:
            self._driven = False
            self.channel.unsubscribe(_ignore)

    def close(self) -> None:
        """Does not wait."""
        self.leave_to_calls()
        if self._was_driven:
            # The thread that connects it polls every 0.2 s, and complains about closed channels.
            later = threading.Timer(CLOSE_DELAY, self._close_channel)
            later.daemon = True
            with contextlib.suppress(RuntimeError):  # no thread can be started
                return later.start()
        self._close_channel()

    def before_fork(self) -> None:
        """Ends its calls. The next call opens another channel."""
        if self._channel:
            self.leave_to_calls()
            if self._was_driven:
                time.sleep(DRIVER_PATIENCE)
            self._close_channel()
            self._was_driven = False

    def _close_channel(self) -> None:
        with _fork.calling:
            channel, self._channel, self._stub = self._channel, None, None
            if channel:
                channel.close()


def _ignore(_: grpc.ChannelConnectivity) -> None:
    pass


class Connection:
    """The replicas of one service, one of them in use. Any will do. For one thread."""

    def __init__(
        self,
        endpoints: str,
        credentials: Credentials,
        health_check: bool,
        service: Callable[[], Metadata] = tuple,  # names the service in each call
        surroundings: _surroundings.Surroundings = _surroundings.REAL,
    ) -> None:
        self._surroundings = surroundings
        self._credentials = credentials
        self._service = service
        self._foreign: set[str] = set()  # endpoints of other services, until the next survey
        self._options = list(_OPTIONS)
        if health_check:
            self._options.append(("grpc.service_config", _HEALTH_CHECKED))
        self._stamp: tuple = ()
        self._channel_credentials: Callable[[], Optional[grpc.ChannelCredentials]]
        self._call_metadata: Callable[[], Metadata] = tuple  # none
        if isinstance(credentials, Tls):
            self._call_metadata = credentials.call_metadata
            self._stamp = credentials.stamp()
            self._channel_credentials = credentials.channel_credentials()
        else:
            self._channel_credentials = lambda: credentials
        self._replicas = [self._open(endpoint) for endpoint in endpoints_of(endpoints)]
        self._in_use = random.randrange(len(self._replicas))

    @property
    def several(self) -> bool:
        return len(self._replicas) > 1

    @property
    def tls(self) -> bool:
        return self._credentials is not None

    @property
    def replica(self) -> Replica:
        """The replica in use."""
        return self._replicas[self._in_use]

    def answered(self, replica: Replica) -> None:
        """The replica has answered, so its connection works."""
        replica.answered = True
        replica.answered_at = time.monotonic()
        with _fork.calling:
            for one in self._replicas:
                one.leave_to_calls()

    def move_on(self, silent: bool = False) -> None:
        """Switches to the next replica.

        If the current one was connected but did not answer, its connection is made again. A
        connection that is still being made is left alone.
        """
        failed = self.replica
        overdue = time.monotonic() - failed.answered_at >= REPLACED_AFTER
        if self._files_have_changed():
            for replica in list(self._replicas):
                self._reopen(replica)
        elif failed.slow:
            if failed.answered:
                self._reopen(failed)
        elif overdue or (silent and failed.answered):
            self._reopen(failed)
        self._use_next()
        self.replica.drive()

    def _use_next(self) -> None:
        for _ in self._replicas:
            self._in_use = (self._in_use + 1) % len(self._replicas)
            if self.replica.endpoint not in self._foreign:
                return

    def leave(self, endpoint: str) -> None:
        """It belongs to another service. If all do, all are used until the next survey."""
        self._foreign.add(endpoint)
        if all(replica.endpoint in self._foreign for replica in self._replicas):
            self._foreign.clear()

    def identify(self, pinned: str, patience: float) -> Survey:
        """Asks all replicas at once; the caller waits for the calls. Raises RuntimeError."""
        survey = Survey([replica.endpoint for replica in self._replicas], pinned)
        try:
            for replica in self._replicas:
                metadata = replica.call_metadata()
                metadata = tuple(pair for pair in metadata if pair not in self._service())
                ask = replica.stub.Identify.future
                survey.calls.append(ask(pb.IdentifyRequest(), timeout=patience, metadata=metadata))
        except RuntimeError:
            survey.cancel()
            raise
        return survey

    def use(self, service_id: str, survey: Survey) -> None:
        """Excludes endpoints of other services, until the next survey."""
        self._foreign = {one for one, said in survey.answers if said and said != service_id}
        if self.replica.endpoint in self._foreign:
            self._use_next()

    def prefer(self, service_id: str, survey: Survey) -> None:
        """Switches to a replica that has answered, as nothing is open yet."""
        answers = survey.answers
        if service_id and answers[self._in_use][1] != service_id:
            good = [index for index, (_, said) in enumerate(answers) if said == service_id]
            if good:
                self._in_use = random.choice(good)

    def hear_late(self, membership: Membership, survey: Survey, which: int) -> None:
        """Takes in an endpoint's answer after more than half had agreed."""
        endpoint, service_id = survey.answers[which]
        if service_id and service_id != membership.id:
            membership.warn(endpoint, service_id)
            self.leave(endpoint)

    def close(self) -> None:
        with _fork.calling:
            for replica in self._replicas:
                replica.close()

    def _reopen(self, replica: Replica) -> None:
        replica.close()
        self._replicas[self._replicas.index(replica)] = self._open(replica.endpoint)

    def slow_down(self, replica: Replica) -> None:
        """The TLS handshake failed: retry only every 5 s, or when a file has changed."""
        if replica in self._replicas and not replica.slow:
            slow = self._open(replica.endpoint, _SLOWLY)
            slow.slow = True
            with _fork.calling:
                replica.close()
            self._replicas[self._replicas.index(replica)] = slow

    def _open(self, endpoint: str, pace: Optional[dict[str, Any]] = None) -> Replica:
        options = list({**dict(self._options), **(pace or {})}.items())
        credentials = self._channel_credentials  # separate for each channel: they keep gRPC running

        def open_channel() -> grpc.Channel:
            return self._surroundings.open_channel(endpoint, options, credentials())

        return Replica(endpoint, open_channel, lambda: (*self._call_metadata(), *self._service()))

    def _files_have_changed(self) -> bool:
        if not isinstance(self._credentials, Tls):
            return False
        try:
            stamp = self._credentials.stamp()
            if stamp == self._stamp:
                return False
            self._channel_credentials = self._credentials.channel_credentials()
        except OSError:  # they are being replaced; the next failure tries again
            return False
        self._stamp = stamp
        return True


def check_threads() -> None:
    """Raises RuntimeError if no thread can be started. Call it at the beginning of each call.

    gRPC starts a thread if nothing else is under way on a channel. If it cannot, no call of that
    channel is ever answered, and the channel never closes.
    """
    threading.Thread(target=int, name="tenure-probe", daemon=True).start()


def endpoints_of(endpoints: str) -> list[str]:
    """Raises ValueError if there is no endpoint, or one is malformed."""
    named = [endpoint.strip() for endpoint in endpoints.split(",") if endpoint.strip()]
    if not named:
        raise ValueError("endpoints names no replica; write host:port[,host:port...]")
    for endpoint in named:
        mistake = _mistake_in(endpoint)
        if mistake:
            raise ValueError(f"endpoints: {endpoint!r} {mistake}; write host:port[,host:port...]")
    return named


def _mistake_in(endpoint: str) -> str:
    """What is wrong with the endpoint. Empty: nothing."""
    if "://" in endpoint:
        return "is a URL"
    if re.search(r"[/\s]", endpoint):
        return "is not an address"
    match = re.fullmatch(r"(\[[^]]*]|[^:]*)(?::([^:]*))?", endpoint)
    if not match:
        return "is ambiguous; an IPv6 address is written [address]:port"
    host, port = match.groups()
    if host in ("", "[]"):
        return "has no host"
    if not port:
        return "has no port"
    valid = re.fullmatch("[0-9]{1,5}", port) and 1 <= int(port) <= 65_535
    return "" if valid else "has no port from 1 to 65535"
