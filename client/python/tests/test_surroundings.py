"""Changes around a client: names move, replicas freeze, processes fork and end."""

import os
import queue
import subprocess
import sys
import threading

import pytest
from conftest import PATIENCE
from test_client import authority, tls_service  # noqa: F401  # fixtures

import tenure
from tenure import _session
from tenure._lease import SECOND


class Child:
    """A Python program that answers each line with a line."""

    def __init__(self, program, prefix=()):
        self._process = subprocess.Popen(
            [*prefix, sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))

    def ask(self, line=""):
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self.next()

    def next(self):
        return self._lines.get(timeout=PATIENCE)

    @property
    def is_running(self):
        return self._process.poll() is None

    def end(self):
        """Lets the interpreter exit, and returns its exit code."""
        self._process.stdin.close()
        try:
            return self._process.wait(PATIENCE)
        finally:
            self.kill()

    def kill(self):
        self._process.kill()
        self._process.wait()


@pytest.fixture
def new_child():
    children = []

    def new(program, prefix=()):
        children.append(Child(program, prefix))
        return children[-1]

    yield new
    for child in children:
        child.kill()


class Name:
    """A host name for processes started with `prefix`, which have their own /etc/hosts."""

    def __init__(self, folder):
        self._hosts = folder / "hosts"
        namespace = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
        mount = f'mount --bind "{self._hosts}" /etc/hosts && exec "$@"'
        self.prefix = ["unshare", *namespace, "--", "sh", "-c", mount, "sh"]

    def move(self, *services):
        hosts = [service.endpoint.split(":")[0] for service in services]
        self._hosts.write_text("".join(f"{host} tenure.test\n" for host in hosts))


@pytest.fixture
def name(tmp_path):
    return Name(tmp_path)


LEADS = """
import sys, tenure
client = tenure.Client({endpoint!r}, lease_ttl=6)
seat = tenure.Elector(client).stand("orders").wait()
print("leading", flush=True)
for line in sys.stdin:
    for _ in range(2):  # the first answer may be to an earlier renewal
        left = seat.remaining
        while seat.is_leader and seat.remaining <= left:
            left = seat.remaining
            seat.wait(0.01)
    print("leading" if seat.is_leader else "lost", flush=True)
"""

OBSERVES = """
import queue, sys, tenure
broken, progress = queue.Queue(), queue.Queue()
observer = tenure.Observer(
    {endpoint!r}, "orders", on_broken=broken.put, on_progress=progress.put
)
progress.get()
print("observing", flush=True)
for line in sys.stdin:
    broken.get()
    while not progress.empty():
        progress.get()
    progress.get()
    print("observing", flush=True)
"""


@pytest.mark.parametrize(
    ("program", "goes_on"),
    [(LEADS, "leading"), (OBSERVES, "observing")],
    ids=["client", "observer"],
)
def test_a_replica_is_found_at_the_address_that_its_name_has_moved_to(
    new_service, name, new_child, program, goes_on
):
    replica = new_service().start()
    port = int(replica.endpoint.split(":")[1])
    name.move(replica)
    child = new_child(program.format(endpoint=f"tenure.test:{port}"), name.prefix)
    assert child.next() == goes_on

    for _ in range(2):
        moved = new_service(port).start()
        name.move(moved)
        replica.stop()

        assert child.ask() == goes_on
        replica = moved


def test_a_seat_is_kept_while_one_of_the_addresses_of_a_name_works(new_service, name, new_child):
    replicas = [new_service().start()]
    port = int(replicas[0].endpoint.split(":")[1])
    replicas.append(new_service(port).start())
    name.move(*replicas)
    child = new_child(LEADS.format(endpoint=f"tenure.test:{port}"), name.prefix)
    assert child.next() == "leading"

    for _ in range(2):
        replicas.pop(0).stop()
        assert child.ask() == "leading"
        replicas.append(new_service(port).start())
        name.move(*replicas)


def freeze_the_one_in_use(client, replicas):
    in_use = client._loop._connection.replica.endpoint
    [frozen] = [replica for replica in replicas if replica.endpoint == in_use]
    frozen.pause()


@pytest.mark.parametrize("campaigns", [False, True])
def test_a_client_that_ends_while_its_replica_is_frozen_uses_another_one(
    new_service, campaigns, monkeypatch
):
    monkeypatch.setattr(_session, "ANSWER_PATIENCE", (20 * SECOND, 20 * SECOND))
    replicas = [new_service().start() for _ in range(3)]
    endpoints = ",".join(replica.endpoint for replica in replicas)
    client = tenure.Client(endpoints, lease_ttl=600)
    elector = tenure.Elector(client)
    elector.stand("orders").wait(PATIENCE)
    freeze_the_one_in_use(client, replicas)
    if campaigns:
        elector.stand("jobs")

    client.close(10)

    rival_of(endpoints)


def test_a_process_that_ends_while_its_replica_is_frozen_uses_another_one(new_service, new_child):
    replicas = [new_service().start() for _ in range(3)]
    endpoints = ",".join(replica.endpoint for replica in replicas)
    child = new_child(
        f"""
import sys, tenure, tenure.client
from tenure import _session
tenure.client._EXIT_PATIENCE = 10
_session.ANSWER_PATIENCE = (20_000_000_000, 20_000_000_000)
client = tenure.Client({endpoints!r}, lease_ttl=600)
tenure.Elector(client).stand("orders").wait()
for line in sys.stdin:
    print(client._loop._connection.replica.endpoint, flush=True)
"""
    )
    in_use = child.ask()
    for replica in replicas:
        if replica.endpoint == in_use:
            replica.pause()

    assert child.end() == 0

    rival_of(endpoints)


def rival_of(endpoints):
    with (
        tenure.Client(endpoints, candidate="rival", lease_ttl=10) as rival,
        tenure.Elector(rival).lead("orders", wait=PATIENCE) as seat,
    ):
        assert seat.is_leader


FORKS = """
import os, sys, tenure
rests = []
os.register_at_fork(before=lambda: rests.append(_fork._grpc_rests()))  # runs after tenure's
from tenure import _fork
client = tenure.Client({endpoint!r}, lease_ttl=10, credentials={credentials})
elector = tenure.Elector(client)
seat = elector.stand("orders").wait()

def use_tenure(number):
    assert not seat.is_leader and seat.stopping
    with elector.lead(f"jobs/{{number}}") as own:
        assert own.is_leader
    client.close()

children = []
for number in range(10):
    child = os.fork()
    if child == 0:
        try:
            use_tenure(number)
            os._exit(0)
        finally:
            os._exit(1)
    children.append(child)
assert all(rests)
print([os.waitpid(child, 0)[1] for child in children], seat.is_leader, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_a_leader_may_fork_children_that_use_tenure(
    tls,
    tls_service,  # noqa: F811
    authority,  # noqa: F811
    new_service,
    new_child,
    monkeypatch,
):
    monkeypatch.delenv("GRPC_ENABLE_FORK_SUPPORT")
    service = (tls_service if tls else new_service()).start()
    files = [str(authority.path(name)) for name in ("ca.crt", "client.crt", "client.key")]
    credentials = f"tenure.Tls(*{files})" if tls else None

    child = new_child(FORKS.format(endpoint=service.endpoint, credentials=credentials))

    assert child.next() == f"{[0] * 10} True"
    assert child.end() == 0


OBSERVER_FORKS = """
import os, sys, tenure
broken = []
changes = tenure.follow({endpoint!r}, "orders", on_broken=broken.append)
next(changes)
for line in sys.stdin:
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    print("forked", flush=True)
    print(next(changes).revision, broken, flush=True)
"""


def test_an_observer_goes_on_in_a_parent_that_forks(service, elector, new_child):
    child = new_child(OBSERVER_FORKS.format(endpoint=service.endpoint))
    assert child.ask() == "forked"
    candidacy = elector.stand("orders")
    candidacy.wait(PATIENCE)
    assert child.next() == "1 []"

    assert child.ask() == "forked"
    candidacy.proclaim("7")

    assert child.next() == "2 []"


CACHES = """
import os, sys, tenure
told = []
cache = tenure.LeaderCache({endpoint!r}, "orders", {options})
cache.wait_until_ready()
if os.fork() == 0:
    for line in sys.stdin:
        while not ({condition}):
            pass
        print(line, end="", flush=True)
os.wait()
"""


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ("", "cache.get('orders').leader"),
        ("on_change=lambda *change: told.append(change)", "told and told[-1][1].leader"),
    ],
    ids=["asked", "called back"],
)
def test_a_cache_goes_on_in_a_forked_child(
    service, elector, new_child, monkeypatch, options, condition
):
    monkeypatch.delenv("GRPC_ENABLE_FORK_SUPPORT")
    program = CACHES.format(endpoint=service.endpoint, options=options, condition=condition)
    elector.stand("orders").wait(PATIENCE)

    assert new_child(program).ask("knows") == "knows"


# gRPC registers its hooks with the first channel, and so after this one.
COUNTS_THREADS = """
import os, threading
register, hooks = os.register_at_fork, []
os.register_at_fork = lambda **given: (register(**given), hooks.append(given["after_in_child"]))
import tenure
threads = []
register(after_in_child=lambda: threads.append(threading.active_count()))
cache = tenure.LeaderCache({endpoint!r}, "orders", on_change=lambda *change: None)
cache.wait_until_ready()
if os.fork() == 0:
    print(*threads, threading.active_count() > 1, hooks[-1].__module__, flush=True)
    os._exit(0)
os.wait()
"""


def test_no_thread_begins_in_a_child_before_grpc_has_dealt_with_the_fork(
    service, new_child, monkeypatch
):
    monkeypatch.delenv("GRPC_ENABLE_FORK_SUPPORT")

    child = new_child(COUNTS_THREADS.format(endpoint=service.endpoint))

    assert child.next() == "1 True tenure._fork"


def test_candidacies_of_the_parent_have_ended_in_the_child(elector):
    candidacy = elector.stand("orders")
    seat = candidacy.wait(PATIENCE)
    held, may_go_on = threading.Event(), threading.Event()

    def hold():
        with candidacy._lock, candidacy._gate._lock, seat._stop._condition:
            held.set()
            may_go_on.wait(PATIENCE)

    threading.Thread(target=hold, daemon=True).start()
    assert held.wait(PATIENCE)

    child = os.fork()
    if child == 0:
        try:
            assert seat.wait(0)
            with pytest.raises(tenure.NotElected, match="has ended"):
                candidacy.wait(1)
            candidacy.close()
            os._exit(0)
        finally:
            os._exit(1)

    assert os.waitpid(child, 0)[1] == 0
    may_go_on.set()
    assert seat.is_leader
