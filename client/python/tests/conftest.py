"""A real service for the tests: `tenured` of build/bin, on its embedded store."""

import math
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import urllib.request
from concurrent import futures

import grpc
import pytest

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"  # no child forked here uses gRPC
import tenure
from tenure.v1 import election_pb2_grpc as rpc

# A shell that starts the tests in the background makes them, and their children, ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)

BIN = pathlib.Path(
    os.environ.get("TENURE_BIN") or pathlib.Path(__file__).parents[3] / "build" / "bin"
)
PATIENCE = 20  # for what must happen; only a failing test waits this long


def free_address(port=0):
    """An address on its own loopback host, so that nobody else takes the port meanwhile."""
    host = f"127.{random.randint(1, 254)}.{random.randint(1, 254)}.{random.randint(1, 254)}"
    with socket.socket() as one:
        one.bind((host, port))
        return f"{host}:{one.getsockname()[1]}"


class Service:
    def __init__(self, store, *options, port=0):
        self.endpoint = free_address(port)
        self._http = free_address()
        self._command = [BIN / "tenured", "--store", store, "--listen", self.endpoint]
        self._command += ["--http-listen", self._http, *options]
        self._process = None

    def add_options(self, *options):
        self._command += options

    def start(self):
        self._process = subprocess.Popen(
            self._command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        lines = []
        for line in self._process.stderr:
            lines.append(line)
            if line.split(maxsplit=2)[1:] == ["info", "ready\n"]:
                return self
        raise AssertionError("".join(lines))

    def pause(self):
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)

    def stop(self):
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def connections(self):
        """The number of connections to it."""
        with urllib.request.urlopen(f"http://{self._http}/metrics") as metrics:
            [line] = [line for line in metrics if line.startswith(b"tenure_connections ")]
        return int(line.split()[1])

    def tool(self, *arguments):
        command = [BIN / "tenure", "--endpoint", self.endpoint, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def new_service(tmp_path):
    """Makes replicas of one service, not started yet; they end with the test."""
    services = []

    def new(port=0):
        services.append(Service(f"sqlite:{tmp_path}/tenure.db", port=port))
        return services[-1]

    yield new
    for service in services:
        service.stop()


@pytest.fixture
def refuse_threads(monkeypatch):
    """Makes the first `count` threads with `whose(thread)` fail to start."""
    start = threading.Thread.start

    def refuse(whose, count=math.inf):
        refused = []

        def refusing(thread):
            if len(refused) < count and whose(thread):
                refused.append(thread.name)
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refusing)
        return refused

    return refuse


@pytest.fixture
def new_proxy():
    """Makes proxies that answer Campaign and Observe, or Identify; returns their endpoints."""
    servers = []

    def new(answer=None, identify=None):
        answers = type("", (rpc.ElectionServiceServicer,), {})()
        if answer:
            answers.Campaign = answers.Observe = answer
        if identify:
            answers.Identify = identify
        servers.append(grpc.server(futures.ThreadPoolExecutor(2)))
        rpc.add_ElectionServiceServicer_to_server(answers, servers[-1])
        endpoint = free_address()
        servers[-1].add_insecure_port(endpoint)
        servers[-1].start()
        return endpoint

    yield new
    for server in servers:
        server.stop(None).wait()


@pytest.fixture
def service(new_service):
    return new_service().start()


def electing(service, candidate, lease_ttl):
    client = tenure.Client(service.endpoint, candidate=candidate, lease_ttl=lease_ttl)
    yield tenure.Elector(client)
    client.close()


@pytest.fixture
def elector(service):
    yield from electing(service, "a", 10)


@pytest.fixture
def rival(service):
    yield from electing(service, "b", 10)


@pytest.fixture
def brief(service):
    """An elector with short leases."""
    yield from electing(service, "a", 2)
