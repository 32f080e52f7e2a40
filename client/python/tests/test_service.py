"""Some endpoints belong to another service: their replicas work on another database."""

import queue
import re
import threading

import pytest
from conftest import PATIENCE, Service
from test_elector import wait_for_renewal
from test_trouble import lines  # noqa: F401  # a fixture

import tenure
from tenure import _session, observer
from tenure._lease import SECOND
from tenure.v1 import election_pb2 as pb


@pytest.fixture
def foreign(tmp_path, new_service):
    service = Service(f"sqlite:{tmp_path}/other.db").start()
    yield service
    service.stop()


def service_id_of(service):
    with tenure.Client(service.endpoint, lease_ttl=10) as client:
        tenure.Elector(client).stand("any").wait(PATIENCE)
        return client._loop._membership.id


def test_of_three_endpoints_one_on_another_database_is_never_used(
    new_service,
    foreign,
    lines,  # noqa: F811
    monkeypatch,
):
    monkeypatch.setattr(_session, "ANSWER_PATIENCE", (PATIENCE * SECOND, PATIENCE * SECOND))
    replicas = [new_service().start(), new_service().start()]
    endpoints = ",".join(service.endpoint for service in (foreign, *replicas))
    ours, theirs = service_id_of(replicas[0]), service_id_of(foreign)
    while not lines.empty:
        lines.next()

    clients = [tenure.Client(endpoints, candidate=f"c{n}", lease_ttl=10) for n in range(4)]
    candidacies = [tenure.Elector(client).stand("orders") for client in clients]
    seats = []
    for candidacy in candidacies:
        try:
            seats.append(candidacy.wait(0))
        except tenure.NotElected:
            seats.append(None)

    assert len([seat for seat in seats if seat]) == 1
    warning = (
        f"WARNING {foreign.endpoint} belongs to service {theirs}, not to {ours}: its replica works "
        "on another database; it is not used"
    )
    for _ in clients:  # each names it once
        line = lines.next()
        while line.startswith("INFO "):
            line = lines.next()
        assert line == warning
    for client in clients:
        assert client._loop._membership.id == ours
        client.close()
    progress = queue.Queue()
    with tenure.Observer(endpoints, "orders", on_progress=progress.put) as watching:
        progress.get(timeout=PATIENCE)
        assert watching._membership.id == ours


def test_an_endpoint_of_another_service_is_named_even_if_it_answers_late(
    new_service,
    new_proxy,
    lines,  # noqa: F811
    monkeypatch,
):
    monkeypatch.setattr(_session, "ANSWER_PATIENCE", (PATIENCE * SECOND, PATIENCE * SECOND))
    monkeypatch.setattr(observer, "SURVEY_PATIENCE", PATIENCE * SECOND)
    may_answer = threading.Event()

    def identify(_request, _context):
        may_answer.wait(PATIENCE)
        return pb.IdentifyResponse(service_id="f" * 32)

    late = new_proxy(identify=identify)
    endpoints = ",".join([late, *(new_service().start().endpoint for _ in range(2))])
    progress = queue.Queue()
    with (
        tenure.Client(endpoints, lease_ttl=10) as client,
        tenure.Observer(endpoints, "orders", on_progress=progress.put),
    ):
        assert tenure.Elector(client).stand("orders").wait(PATIENCE).is_leader
        progress.get(timeout=PATIENCE)

        may_answer.set()

        for _ in range(2):
            while not lines.next().startswith(f"WARNING {late} belongs to service {'f' * 32}"):
                pass


def test_a_tie_elects_nobody_until_the_service_is_named(service, foreign, lines):  # noqa: F811
    endpoints = f"{service.endpoint},{foreign.endpoint}"
    with tenure.Client(endpoints, lease_ttl=10) as client:
        candidacy = tenure.Elector(client).stand("orders")
        with pytest.raises(tenure.NotElected, match="belong to different services") as failure:
            candidacy.wait(0)
        assert failure.value.__cause__.reason == "WRONG_SERVICE"
        assert re.search("belong to different services: .*; set service_id", lines.next())

    pinned = service_id_of(service)
    with tenure.Client(endpoints, lease_ttl=10, service_id=pinned) as client:
        assert tenure.Elector(client).stand("orders").wait(PATIENCE).is_leader


def test_a_client_of_one_service_does_not_stand_at_another(new_service, foreign):
    replica = new_service().start()
    with tenure.Client(foreign.endpoint, lease_ttl=10, service_id=service_id_of(replica)) as client:
        candidacy = tenure.Elector(client).stand("orders")
        with pytest.raises(tenure.NotElected, match="no endpoint belongs to service"):
            candidacy.wait(0)


@pytest.fixture
def replace(tmp_path):
    """Restarts a service on an empty database."""

    def replace(service):
        service.stop()
        for file in tmp_path.glob("tenure.db*"):
            file.unlink()
        service.start()

    return replace


def test_a_leader_leads_in_the_new_service_long_before_its_lease_in_the_old_one_ends(
    service, replace
):
    elected = queue.Queue()
    with tenure.Client(service.endpoint, lease_ttl=3600) as client:
        tenure.Elector(client, on_elected=elected.put).stand("orders")
        old = elected.get(timeout=PATIENCE)

        replace(service)

        new = elected.get(timeout=PATIENCE)
        assert (old.term, new.term) == (1, 1)
        assert not old.is_leader


@pytest.fixture
def one_of_three(foreign, new_service):
    """Three endpoints, where only the wrong one runs, and a function that starts the others."""
    others = [new_service(), new_service()]
    endpoints = ",".join(service.endpoint for service in (foreign, *others))
    return endpoints, lambda: [service.start() for service in others]


def test_a_leader_of_the_wrong_service_moves_when_the_other_endpoints_start(
    one_of_three,
    foreign,
    lines,  # noqa: F811
):
    endpoints, start_others = one_of_three
    elected, lost = queue.Queue(), queue.Queue()
    with tenure.Client(endpoints, lease_ttl=3600) as client:
        elector = tenure.Elector(client, on_elected=elected.put, on_lost=lambda *_: lost.put(_))
        elector.stand("orders")
        old = elected.get(timeout=PATIENCE)

        start_others()

        lost.get(timeout=PATIENCE)
        assert elected.get(timeout=PATIENCE).term == 1
        assert not old.is_leader
        while f"{foreign.endpoint} belongs to service " not in lines.next():
            pass


def test_an_observer_of_the_wrong_service_moves_when_the_other_endpoints_start(
    one_of_three,
    foreign,
    lines,  # noqa: F811
):
    endpoints, start_others = one_of_three
    told = queue.Queue()
    with tenure.Observer(
        endpoints,
        "orders",
        on_snapshot=lambda _: told.put("snapshot"),
        on_service_replaced=lambda: told.put("replaced"),
    ):
        assert told.get(timeout=PATIENCE) == "snapshot"

        start_others()

        assert told.get(timeout=PATIENCE) == "replaced"
        assert told.get(timeout=PATIENCE) == "snapshot"
        while f"{foreign.endpoint} belongs to service " not in lines.next():
            pass


def test_an_observer_starts_again_when_its_service_is_replaced(service, replace):
    with tenure.Client(service.endpoint, lease_ttl=10) as client:
        for _ in range(2):
            with tenure.Elector(client).lead("orders", wait=PATIENCE):
                pass
    told = queue.Queue()
    with tenure.Observer(
        service.endpoint,
        "orders",
        from_revision=4,
        on_snapshot=lambda snapshot: told.put(("snapshot", snapshot.reason)),
        on_event=lambda event: told.put(("event", event.revision)),
        on_service_replaced=lambda: told.put("replaced"),
    ):
        assert told.get(timeout=PATIENCE) == ("event", 4)

        replace(service)

        assert told.get(timeout=PATIENCE) == "replaced"
        assert told.get(timeout=PATIENCE) == ("snapshot", pb.Snapshot.REASON_INITIAL)
        with tenure.Client(service.endpoint, lease_ttl=10) as client:
            tenure.Elector(client).stand("orders").wait(PATIENCE)
            assert told.get(timeout=PATIENCE) == ("event", 1)


def test_a_cache_forgets_the_leaders_of_a_service_that_is_replaced(service, replace):
    client = tenure.Client(service.endpoint, lease_ttl=3600)
    tenure.Elector(client).stand("old").wait(PATIENCE)
    changes = queue.Queue()
    with tenure.LeaderCache(
        service.endpoint, "", prefix=True, on_change=lambda *change: changes.put(change)
    ) as leaders:
        assert changes.get(timeout=PATIENCE)[1].leader
        assert leaders.wait_until_ready(PATIENCE)

        replace(service)

        assert changes.get(timeout=PATIENCE) == ("old", tenure.CachedSeat(known=True))
        while not changes.get(timeout=PATIENCE)[1].leader:
            pass
        assert leaders.leader("old").term == 1  # in the new one
    client.close()


def test_a_client_whose_service_is_gone_closes_without_an_error(service, replace):
    client = tenure.Client(service.endpoint, lease_ttl=3600)
    tenure.Elector(client).stand("orders").wait(PATIENCE)

    replace(service)

    client.close()


@pytest.mark.parametrize("service_id", ["", "x", "A" * 32, "0" * 31, "0" * 32 + "\n"])
def test_a_malformed_service_id_is_an_error(service_id):
    with pytest.raises(ValueError, match="32 lower-case"):
        tenure.Client(service_id=service_id)
    with pytest.raises(ValueError, match="32 lower-case"):
        tenure.Observer("127.0.0.1:7070", "orders", service_id=service_id)


def test_a_seat_is_kept_when_a_replica_of_another_service_takes_the_address(
    new_service,
    tmp_path,
    lines,  # noqa: F811
):
    replica, other = new_service().start(), new_service().start()
    client = tenure.Client(f"{replica.endpoint},{other.endpoint}", lease_ttl=10)
    seat = tenure.Elector(client).stand("orders").wait(PATIENCE)
    in_use = client._loop._connection.replica.endpoint
    [taken] = [service for service in (replica, other) if service.endpoint == in_use]
    taken.stop()
    impostor = Service(f"sqlite:{tmp_path}/other.db")
    impostor._command[impostor._command.index("--listen") + 1] = in_use
    impostor.start()
    other_one = other if taken is replica else replica
    other_one.pause()
    while "belongs to service" not in lines.next():
        pass
    other_one.resume()

    wait_for_renewal(seat)

    assert seat.is_leader
    client.close()
    impostor.stop()
