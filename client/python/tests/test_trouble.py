"""The log lines when a service cannot be used, and when it can be used again."""

import contextlib
import http.server
import logging
import queue
import re
import socket
import threading

import grpc
import pytest
from conftest import PATIENCE, free_address
from test_client import Authority, authority, tls_service  # noqa: F401  # fixtures

import tenure
from tenure._lease import SECOND
from tenure._trouble import Troubles
from tenure.errors import ServiceError


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self._lines = queue.Queue()

    def emit(self, record):
        self._lines.put(f"{record.levelname} {record.getMessage()}")

    def next(self):
        return self._lines.get(timeout=PATIENCE)

    @property
    def empty(self):
        return self._lines.empty()


@pytest.fixture
def lines():
    handler, logger = Lines(), logging.getLogger("tenure")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


@contextlib.contextmanager
def nobody():
    yield free_address()


@contextlib.contextmanager
def unknown_host():
    yield "no.such.invalid:7070"


@contextlib.contextmanager
def http_port():
    class Quiet(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@contextlib.contextmanager
def accepting(greet):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    greet(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"


def database():
    kept = []

    def greet(connection):
        connection.sendall(b"\x4a\x00\x00\x00\x0a10.11.6-MariaDB\x00" + b"x" * 60)
        kept.append(connection)

    return accepting(greet)


def closing():
    return accepting(lambda connection: connection.close())


@contextlib.contextmanager
def not_tenure():
    from concurrent import futures

    server = grpc.server(futures.ThreadPoolExecutor(2))
    endpoint = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield endpoint
    server.stop(None).wait()


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (nobody, "connection refused"),
        (unknown_host, "no such host"),
        (http_port, "it does not speak gRPC; is it an HTTP port, or a database?"),
        (database, "it does not speak gRPC; is it an HTTP port, or a database?"),
        (closing, "it closed the connection at once; does it want TLS?"),
        (not_tenure, "it speaks gRPC, but does not know this call; is it Tenure, and new enough?"),
    ],
)
def test_the_trouble_of_an_endpoint_is_logged_and_is_the_cause_of_not_elected(
    lines, wrong, reason, monkeypatch
):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with wrong() as endpoint:
        client = tenure.Client(endpoint, lease_ttl=10)
        with tenure.Elector(client).stand("orders") as candidacy:
            assert lines.next() == f"WARNING cannot use {endpoint}: {reason}; still trying"
            with pytest.raises(tenure.NotElected, match=re.escape(reason)) as failure:
                candidacy.wait(0.3)
        assert isinstance(failure.value.__cause__, tenure.ServiceError)
        with pytest.raises(tenure.NotElected, match=re.escape(reason)):
            tenure.Elector(client).lead("orders", wait=0.3).__enter__()
        with contextlib.suppress(tenure.TenureError):
            client.close(0.1)
        assert lines.empty

        with tenure.Observer(endpoint, "orders"):
            assert lines.next() == f"WARNING cannot use {endpoint}: {reason}; still trying"


def test_each_term_and_the_end_of_a_trouble_have_a_line(new_service, lines):
    service = new_service()
    with tenure.Client(service.endpoint, lease_ttl=10) as client:
        candidacy = tenure.Elector(client).stand("orders")
        assert "connection refused" in lines.next()
        service.start()
        assert re.fullmatch(rf"INFO {service.endpoint} answers after \S+ s", lines.next())
        candidacy.wait(PATIENCE)
        assert lines.next() == "INFO leads 'orders' in term 1"
        candidacy.resign()
        assert lines.next() == "INFO no longer leads 'orders': term 1 ended: RESIGNED"


def test_a_refusal_for_good_has_a_line(service, lines):
    client = tenure.Client(service.endpoint, lease_ttl=7 * 24 * 3600)
    tenure.Elector(client).stand("orders")

    line = lines.next()

    assert line.startswith("ERROR stands no longer for 'orders': INVALID_ARGUMENT")
    client.close()


def test_a_trouble_and_its_end_are_logged_once():
    troubles = Troubles()

    def fails(details):
        error = ServiceError(grpc.StatusCode.UNAVAILABLE, details)
        return lambda now: troubles.failed("a:1", error, False, now)

    def works(now):
        return troubles.answered("b:2", now)

    for at, what, said in [
        (0, works, None),
        (1, fails("x"), "cannot use a:1: x; still trying"),
        (2, fails("x"), None),
        (3, fails("y"), None),  # not so soon
        (61, fails("y"), "cannot use a:1: y; still trying"),
        (63, works, "b:2 answers after 62 s"),
        (64, works, None),
        (65, fails("x"), None),  # it flaps
        (66, works, None),
        (75, fails("x"), "cannot use a:1: x; still trying"),
    ]:
        assert what((3600 + at) * SECOND) == said, at


@pytest.mark.parametrize("user", ["client", "observer"])
def test_a_wrong_authority_is_logged_once_and_retried_slowly(
    tls_service,  # noqa: F811
    tmp_path,
    lines,
    user,
):
    (tmp_path / "wrong").mkdir()
    other = Authority(tmp_path / "wrong")
    tls_service.add_options("--tls-client-certs", "optional")
    tls_service.start()
    host, port = tls_service.endpoint.split(":")
    connections = []

    def pass_on(connection):
        connections.append(connection)
        onward = socket.create_connection((host, int(port)))
        for source, target in ((connection, onward), (onward, connection)):
            threading.Thread(target=pump, args=(source, target), daemon=True).start()

    def pump(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    with accepting(pass_on) as endpoint:
        credentials = tenure.Tls(ca=other.path("ca.crt"))
        with contextlib.ExitStack() as stack:
            if user == "client":
                client = tenure.Client(endpoint, lease_ttl=10, credentials=credentials)
                candidacy = stack.enter_context(tenure.Elector(client).stand("orders"))
            else:
                stack.enter_context(tenure.Observer(endpoint, "orders", credentials=credentials))
            line = lines.next()
            while endpoint not in line:  # of a client of another test
                line = lines.next()
            assert "its certificate is signed by an unknown authority" in line
            before = len(connections)
            threading.Event().wait(3)
            assert len(connections) <= before + 2
            while not lines.empty:
                assert endpoint not in lines.next()
            if user == "client":
                with pytest.raises(tenure.NotElected, match="unknown authority"):
                    candidacy.wait(0.1)


def test_unusable_endpoints_are_logged_once_even_if_they_are_not_needed(new_service, lines):
    replicas = [new_service().start(), new_service().start()]
    with nobody() as closed, http_port() as http:
        endpoints = ",".join([closed, http, *(replica.endpoint for replica in replicas)])
        expected = [
            f"WARNING cannot use {closed}: connection refused; still trying",
            f"WARNING cannot use {http}: it does not speak gRPC; is it an HTTP port, or a "
            "database?; still trying",
        ]

        def next_warning():
            return next(line for line in iter(lines.next, None) if line.startswith("WARNING"))

        with tenure.Client(endpoints, lease_ttl=10) as client:
            tenure.Elector(client).stand("orders").wait(PATIENCE)
            assert sorted(next_warning() for _ in expected) == sorted(expected)
        progress = queue.Queue()
        with tenure.Observer(endpoints, "orders", on_progress=progress.put):
            progress.get(timeout=PATIENCE)
            assert sorted(next_warning() for _ in expected) == sorted(expected)
