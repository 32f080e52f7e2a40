"""How a client connects, and what it counts."""

import queue
import re
import resource
import subprocess
import threading
import time

import grpc
import prometheus_client
import pytest
from conftest import PATIENCE

import tenure
from tenure import _connection, _loop
from tenure._connection import REPLACED_AFTER, Connection, endpoints_of
from tenure._lease import SECOND
from tenure.v1 import election_pb2 as pb

TOKEN = "0123456789abcdef"
POLICY = """
identities:
  - name: orders
    token_files: [{token}]
    rules: [{{verbs: [campaign, observe], prefixes: [""]}}]
"""


class Authority:
    """Makes certificates in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-subj", "/CN=ca",
            "-keyout", self.path("ca.key"), "-out", self.path("ca.crt"),
        )  # fmt: skip

    def path(self, name):
        return self.folder / name

    def certify(self, name, host):
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-subj", f"/CN={name}",
            "-addext", f"subjectAltName=IP:{host}", "-addext", "basicConstraints=CA:FALSE",
            "-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"),
            "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.crt"),
        )  # fmt: skip

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def tls_service(authority, new_service):
    """Accepts clients with a certificate, or with the token."""
    service = new_service()
    authority.certify("server", service.endpoint.split(":")[0])
    authority.certify("client", "127.0.0.1")
    authority.path("token").write_text(f"{TOKEN}\n")
    authority.path("policy.yaml").write_text(POLICY.format(token=authority.path("token")))
    for option, file in [
        ("--tls-cert", "server.crt"),
        ("--tls-key", "server.key"),
        ("--tls-client-ca", "ca.crt"),
    ]:
        service.add_options(option, authority.path(file))
    return service


def leads_with(service, **tls):
    client = tenure.Client(service.endpoint, lease_ttl=10, credentials=tenure.Tls(**tls))
    with client, tenure.Elector(client).lead("orders", wait=PATIENCE) as seat:
        return seat.is_leader


def test_a_client_certificate_opens_the_door(tls_service, authority):
    tls_service.start()

    assert leads_with(
        tls_service,
        ca=authority.path("ca.crt"),
        certificate=authority.path("client.crt"),
        key=authority.path("client.key"),
    )


def test_a_token_opens_the_door(tls_service, authority):
    tls_service.add_options("--tls-client-certs", "optional")
    tls_service.add_options("--policy", authority.path("policy.yaml"))
    tls_service.start()

    assert leads_with(tls_service, ca=authority.path("ca.crt"), token=authority.path("token"))


def test_grpc_is_not_asked_to_call_back_for_a_token(tls_service, authority, monkeypatch):
    """If a channel is closed meanwhile, the process freezes, about once in thousands of runs."""
    tls_service.add_options("--tls-client-certs", "optional")
    tls_service.add_options("--policy", authority.path("policy.yaml"))
    tls_service.start()
    monkeypatch.delattr(grpc, "metadata_call_credentials")

    assert leads_with(tls_service, ca=authority.path("ca.crt"), token=authority.path("token"))


def test_a_token_that_cannot_be_sent_is_reported_but_not_shown(tls_service, authority, tmp_path):
    tls_service.start()
    token = tmp_path / "mine"
    token.write_text("secr\x01t\n")
    troubled = queue.Queue()
    credentials = tenure.Tls(ca=authority.path("ca.crt"), token=token)

    client = tenure.Client(tls_service.endpoint, lease_ttl=10, credentials=credentials)
    tenure.Elector(client, on_trouble=lambda _, error: troubled.put(error)).stand("orders")
    error = troubled.get(timeout=PATIENCE)
    client.close()

    assert error.details.startswith(f"the first line of {token} is no token: ")


def test_a_client_that_ends_without_its_token_says_so(tls_service, authority):
    tls_service.add_options("--tls-client-certs", "optional")
    tls_service.add_options("--policy", authority.path("policy.yaml"))
    tls_service.start()
    token = authority.path("token")
    credentials = tenure.Tls(ca=authority.path("ca.crt"), token=token)
    client = tenure.Client(tls_service.endpoint, lease_ttl=10, credentials=credentials)
    tenure.Elector(client).stand("orders").wait(PATIENCE)
    token.write_text("")

    with pytest.raises(tenure.ServiceError, match="holds no token"):
        client.close(0.5)

    assert not client._loop.failed


def test_a_token_that_is_missing_for_a_moment_is_read_again(tls_service, authority, tmp_path):
    tls_service.add_options("--tls-client-certs", "optional")
    tls_service.add_options("--policy", authority.path("policy.yaml"))
    tls_service.start()
    token = tmp_path / "mine"
    token.touch()
    credentials = tenure.Tls(ca=authority.path("ca.crt"), token=token)
    troubled, broken, snapshots = queue.Queue(), queue.Queue(), queue.Queue()
    endpoint = tls_service.endpoint

    with (
        tenure.Client(endpoint, lease_ttl=10, credentials=credentials) as client,
        tenure.Observer(
            endpoint,
            "orders",
            credentials=credentials,
            on_broken=broken.put,
            on_snapshot=snapshots.put,
        ),
    ):
        elector = tenure.Elector(client, on_trouble=lambda _, error: troubled.put(error))
        candidacy = elector.stand("orders")
        for told in (troubled, broken):
            assert "holds no token" in told.get(timeout=PATIENCE).details
        token.unlink()
        broken.get(timeout=PATIENCE)
        token.write_text(f"{TOKEN}\n")

        assert candidacy.wait(PATIENCE).is_leader
        assert snapshots.get(timeout=PATIENCE)


def test_a_certificate_that_is_replaced_is_read_again(tls_service, authority, tmp_path):
    tls_service.start()
    (tmp_path / "wrong").mkdir()
    other = Authority(tmp_path / "wrong")
    other.certify("client", "127.0.0.1")
    mine = tmp_path / "mine"
    mine.mkdir()
    for kind in ("crt", "key"):
        (mine / f"client.{kind}").write_bytes(other.path(f"client.{kind}").read_bytes())
    troubled = threading.Event()
    credentials = tenure.Tls(authority.path("ca.crt"), mine / "client.crt", mine / "client.key")

    with tenure.Client(tls_service.endpoint, lease_ttl=10, credentials=credentials) as client:
        elector = tenure.Elector(client, on_trouble=lambda *_: troubled.set())
        candidacy = elector.stand("orders")
        assert troubled.wait(PATIENCE)
        for kind in ("crt", "key"):
            (mine / f"client.{kind}").write_bytes(authority.path(f"client.{kind}").read_bytes())

        assert candidacy.wait(PATIENCE).is_leader


def test_an_unreadable_file_is_an_error(authority):
    with pytest.raises(ValueError, match="give both or neither"):
        tenure.Tls(certificate=authority.path("ca.crt"))
    with pytest.raises(ValueError, match="cannot read"):
        tenure.Tls(ca=authority.path("missing"))


def test_a_client_has_the_metrics_of_the_cpp_library(service):
    registry = prometheus_client.CollectorRegistry()
    client = tenure.Client(service.endpoint, lease_ttl=10, registry=registry)
    lost = threading.Event()
    elector = tenure.Elector(client, on_lost=lambda *_: lost.set())

    candidacy = elector.stand("orders")
    candidacy.wait(PATIENCE)
    leading = registry.get_sample_value("leader_election_master_status", {"name": "orders"})
    candidacy.resign()
    assert lost.wait(PATIENCE)
    client.close(PATIENCE)

    def value(name, **labels):
        return registry.get_sample_value(name, {"name": "orders", **labels})

    assert leading == 1
    assert value("leader_election_master_status") == 0
    assert value("leader_election_slowpath_total") is not None
    assert value("tenure_client_elected_total") == 1
    assert value("tenure_client_lost_total", cause="RESIGNED") == 1
    assert value("tenure_client_overruns_total") == 0
    for name in ("renewal_seconds_count", "renewal_margin_seconds_count", "replica_changes_total"):
        assert registry.get_sample_value(f"tenure_client_{name}") is not None


def test_after_a_fork_a_client_counts_in_the_same_registry(service):
    registry = prometheus_client.CollectorRegistry()
    client = tenure.Client(service.endpoint, lease_ttl=10, registry=registry)
    tenure.Elector(client).stand("orders").wait(PATIENCE)
    of_parent = client._loop

    client.after_fork()
    tenure.Elector(client).stand("jobs").wait(PATIENCE)

    def status(name):
        return registry.get_sample_value("leader_election_master_status", {"name": name})

    assert (status("orders"), status("jobs")) == (None, 1)
    client.close()
    of_parent.close(SECOND)


def test_a_client_that_cannot_connect_leaves_no_thread_behind(authority, tmp_path):
    ca = tmp_path / "ca.pem"
    ca.write_bytes(authority.path("ca.crt").read_bytes())
    client = tenure.Client(credentials=tenure.Tls(ca))
    ca.unlink()
    before = threading.enumerate()

    with pytest.raises(FileNotFoundError):
        tenure.Elector(client).stand("orders")

    assert set(threading.enumerate()) <= set(before)


def test_a_client_that_fails_reports_it_and_stands_again(service):
    registry = prometheus_client.CollectorRegistry()
    client = tenure.Client(service.endpoint, lease_ttl=2, registry=registry)
    lost = queue.Queue()
    elector = tenure.Elector(client, on_lost=lambda *what: lost.put(what))
    job = elector.leader_only("nightly")(lambda: "done")
    seat = elector._standing_in("nightly").wait(PATIENCE)
    candidacy = elector.stand("orders")
    candidacy.wait(PATIENCE)

    def fail(*_):
        raise SystemExit

    client._loop.tell(fail)

    assert lost.get(timeout=PATIENCE) == (seat, "UNSPECIFIED")
    lost.get(timeout=PATIENCE)
    assert seat.wait(PATIENCE)
    with pytest.raises(tenure.NotElected, match="has ended"):
        candidacy.wait(PATIENCE)
    status = registry.get_sample_value("leader_election_master_status", {"name": "orders"})
    assert status == 0
    assert client._loop.close(SECOND).code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert elector._standing_in("nightly").wait(PATIENCE).term > seat.term
    assert job() == "done"
    client.close()


def test_closing_a_client_that_is_held_up_has_a_time_limit(service, monkeypatch):
    monkeypatch.setattr(_loop, "THREAD_PATIENCE", 0)
    client = tenure.Client(service.endpoint, lease_ttl=10)
    tenure.Elector(client).stand("orders").wait(PATIENCE)
    held_up, may_go_on = threading.Event(), threading.Event()
    client._loop.tell(lambda *_: (held_up.set(), may_go_on.wait(PATIENCE)))
    assert held_up.wait(PATIENCE)

    with pytest.raises(tenure.ServiceError, match="is held up"):
        client.close(0.1)

    may_go_on.set()


def test_a_stand_that_begins_while_the_client_ends_does_not_wait(service):
    client = tenure.Client(service.endpoint, lease_ttl=10)
    elector = tenure.Elector(client)
    elector.stand("orders").wait(PATIENCE)
    client._loop.close(SECOND)

    with pytest.raises(tenure.NotElected, match="has ended"):
        elector.stand("jobs").wait(PATIENCE)


def test_the_service_may_be_away_when_the_client_begins(new_service):
    service = new_service()
    troubled = threading.Event()
    errors = []

    def on_trouble(_, error):
        errors.append(error)
        troubled.set()

    with tenure.Client(service.endpoint, lease_ttl=10) as client:
        candidacy = tenure.Elector(client, on_trouble=on_trouble).stand("orders")
        assert troubled.wait(PATIENCE)
        service.start()
        assert candidacy.wait(PATIENCE).is_leader

    assert [error.code for error in errors] == [grpc.StatusCode.UNAVAILABLE]


def test_details_that_cannot_be_read_do_not_hide_the_error(new_proxy):
    def refuse(_request, context):
        context.set_trailing_metadata((("grpc-status-details-bin", b"\xff"),))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "by a proxy")

    proxy = new_proxy(refuse)
    with tenure.Client(proxy) as client, pytest.raises(tenure.ServiceError, match="by a proxy"):
        tenure.Elector(client).lead("orders", wait=PATIENCE).__enter__()

    failed = queue.Queue()
    with tenure.Observer(proxy, "orders", on_failed=failed.put):
        assert failed.get(timeout=PATIENCE).details == "by a proxy"


def test_a_thousand_elections_cost_little(service):
    """Prints the processor time."""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    client = tenure.Client(service.endpoint, lease_ttl=10)
    electors = [tenure.Elector(client) for _ in range(2)]
    candidacies = [electors[number % 2].stand(f"jobs/{number}") for number in range(1_000)]
    seats = [candidacy.wait(PATIENCE) for candidacy in candidacies]

    before, seconds = spent(), 5
    assert not seats[0].wait(seconds)

    print(f"\n1,000 elections, lease of 10 s: {(spent() - before) / seconds:.2%} of a core")
    assert all(seat.is_leader for seat in seats)
    client.close(PATIENCE)


def test_a_connection_on_which_pings_are_not_answered_is_given_up(service):
    connection = Connection(service.endpoint, None, health_check=False)
    request = pb.ObserveRequest(selectors=[pb.Selector(prefix="")])
    stream = connection.replica.stub.Observe(request, timeout=PATIENCE)
    next(stream)
    service.pause()

    with pytest.raises(grpc.RpcError) as failure:
        list(stream)

    assert failure.value.code() == grpc.StatusCode.UNAVAILABLE  # and not a timeout
    connection.close()


def test_a_channel_that_has_not_answered_for_a_while_is_replaced_when_it_fails():
    """gRPC may take two minutes to look up an unknown name again."""
    connection = Connection("tenure.test:7070", None, health_check=False)
    first = connection.replica

    connection.move_on()
    assert connection.replica is first
    first.answered_at -= REPLACED_AFTER
    connection.move_on()

    assert connection.replica is not first
    connection.close()


@pytest.mark.parametrize(
    ("endpoints", "mistake"),
    [
        ("", "names no replica"),
        (" , ", "names no replica"),
        ("a:1,http://x:1", "'http://x:1' is a URL"),
        ("a:1/x", "is not an address"),
        ("a b:1", "is not an address"),
        ("::1:7070", "is ambiguous"),
        (":7070", "has no host"),
        ("[]:7070", "has no host"),
        ("127.0.0.1", "has no port"),
        ("a:", "has no port"),
        ("[::1]", "has no port"),
        ("a:99999", "has no port from 1 to 65535"),
        ("a:0", "has no port from 1 to 65535"),
        ("a:x", "has no port from 1 to 65535"),
    ],
)
def test_malformed_endpoints_are_an_error(endpoints, mistake):
    for use in (
        lambda: tenure.Client(endpoints),
        lambda: tenure.Observer(endpoints, "orders"),
        lambda: tenure.LeaderCache(endpoints, "orders"),
    ):
        with pytest.raises(ValueError, match=re.escape(mistake)):
            use()


def test_an_endpoint_is_a_name_or_an_address_with_a_port():
    endpoints = " a.example:7070, 127.0.0.1:1,[::1]:65535 "

    assert endpoints_of(endpoints) == ["a.example:7070", "127.0.0.1:1", "[::1]:65535"]


def test_a_connection_that_is_not_used_is_closed(new_service, monkeypatch):
    options = {**dict(_connection._OPTIONS), "grpc.client_idle_timeout_ms": 1_000}
    monkeypatch.setattr(_connection, "_OPTIONS", list(options.items()))
    replicas = [new_service().start(), new_service().start()]

    def await_connections(*counts):
        deadline = time.monotonic() + PATIENCE
        while sorted(replica.connections() for replica in replicas) != sorted(counts):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    await_connections(1, 1)  # of each other
    endpoints = ",".join(replica.endpoint for replica in replicas)
    with tenure.Client(endpoints, lease_ttl=10) as client:
        seat = tenure.Elector(client).stand("orders").wait(PATIENCE)

        await_connections(1, 2)

        assert seat.is_leader
