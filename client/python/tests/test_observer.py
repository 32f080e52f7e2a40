"""Observers and caches against a real service."""

import asyncio
import queue

import grpc
import pytest
from conftest import PATIENCE

import tenure
from tenure import _pauses
from tenure.v1 import election_pb2 as pb


def names_of(changes, count):
    """The next changes, each in a few words."""
    names = []
    for change in (next(changes) for _ in range(count)):
        if isinstance(change, pb.Snapshot):
            names.append(f"snapshot {change.revision}")
        else:
            names.append(f"{pb.Event.Type.Name(change.type)[5:].lower()} {change.revision}")
    return names


def test_every_change_is_reported_once_and_in_order(service, elector):
    changes = tenure.follow(service.endpoint, "orders")
    assert names_of(changes, 1) == ["snapshot 0"]

    for _ in range(2):
        with elector.lead("orders", wait=PATIENCE):
            pass

    assert names_of(changes, 4) == ["elected 1", "vacated 2", "elected 3", "vacated 4"]
    changes.close()


def test_it_continues_where_it_was_after_an_outage(new_service):
    service = new_service().start()
    broken, events, progress = queue.Queue(), queue.Queue(), queue.Queue()
    observer = tenure.Observer(
        service.endpoint,
        "orders",
        on_event=events.put,
        on_progress=progress.put,
        on_broken=broken.put,
    )
    progress.get(timeout=PATIENCE)
    with tenure.Client(service.endpoint, lease_ttl=10) as client, observer:
        candidacy = tenure.Elector(client).stand("orders")
        assert events.get(timeout=PATIENCE).revision == 1

        service.stop()
        assert broken.get(timeout=PATIENCE).code is grpc.StatusCode.UNAVAILABLE
        service.start()
        candidacy.wait(PATIENCE)
        candidacy.close()

        assert events.get(timeout=PATIENCE).revision == 2


def test_a_silent_stream_is_given_up(service):
    broken, progress = queue.Queue(), queue.Queue()
    with tenure.Observer(
        service.endpoint,
        "orders",
        silence_max=1,
        on_broken=broken.put,
        on_progress=progress.put,
    ):
        progress.get(timeout=PATIENCE)

        assert "silent" in broken.get(timeout=PATIENCE).details
        progress.get(timeout=PATIENCE)


@pytest.mark.parametrize("name", ["tenure-probe", "tenure-silence"])
def test_a_thread_that_cannot_be_started_is_tried_again(service, refuse_threads, name):
    refused = refuse_threads(lambda thread: thread.name.startswith(name), 1)
    changes = tenure.follow(service.endpoint, "orders")

    assert names_of(changes, 1) == ["snapshot 0"]
    assert len(refused) == 1
    changes.close()


@pytest.mark.parametrize(
    ("code", "is_final"),
    [
        ("UNAUTHENTICATED", False),
        ("UNKNOWN", False),
        ("INTERNAL", False),
        ("RESOURCE_EXHAUSTED", False),
        ("PERMISSION_DENIED", True),
        ("INVALID_ARGUMENT", True),
    ],
)
def test_a_refusal_that_an_operator_can_lift_is_not_final(new_proxy, monkeypatch, code, is_final):
    monkeypatch.setattr(_pauses, "REFUSED_FOR_NOW", (0, 0))
    told = queue.Queue()
    with tenure.Observer(
        new_proxy(lambda _, context: context.abort(grpc.StatusCode[code], "")),
        "orders",
        on_broken=lambda error: told.put(("broken", error.code.name)),
        on_failed=lambda error: told.put(("failed", error.code.name)),
    ):
        first = told.get(timeout=PATIENCE)
        assert first == ("failed" if is_final else "broken", code)
        assert is_final or told.get(timeout=PATIENCE) == first


def test_history_can_be_read_from_its_beginning(service, elector):
    with elector.lead("orders", wait=PATIENCE):
        pass

    changes = tenure.follow(service.endpoint, ["ord"], prefix=True, from_revision=1)

    assert names_of(changes, 1) == ["elected 1"]
    changes.close()


@pytest.mark.parametrize(("names", "prefix"), [(["a/1", "a/2", "a/3"], False), ("a/", True)])
def test_each_election_can_continue_where_its_reader_was(service, elector, names, prefix):
    for election in ("a/1", "a/2", "a/3"):
        for _ in range(2):
            with elector.lead(election, wait=PATIENCE):
                pass

    changes = tenure.follow(
        service.endpoint, names, prefix=prefix, from_revisions={"a/1": 3, "a/2": 5}
    )
    with elector.lead("a/2", wait=PATIENCE):
        pass

    told = [next(changes) for _ in range(5)]
    assert sorted((change.election, change.revision) for change in told) == [
        ("a/1", 3),
        ("a/1", 4),
        ("a/2", 5),
        ("a/2", 6),
        ("a/3", 4),
    ]
    changes.close()


def test_it_can_be_followed_by_asyncio(service, elector):
    async def follow():
        told = []
        changes = tenure.follow_async(service.endpoint, "orders")
        async for change in changes:
            told.append(type(change).__name__)
            if len(told) == 1:
                async with elector.lead("orders"):
                    pass
            if len(told) == 3:
                break
        await changes.aclose()
        return told

    assert asyncio.run(asyncio.wait_for(follow(), PATIENCE)) == ["Snapshot", "Event", "Event"]


def test_a_cache_knows_who_leads(service, elector):
    changed = queue.Queue()
    with tenure.LeaderCache(
        service.endpoint, "jobs/", prefix=True, on_change=lambda *change: changed.put(change)
    ) as leaders:
        assert leaders.wait_until_ready(PATIENCE)
        assert leaders.get("jobs/1") == tenure.CachedSeat(known=True)
        assert not leaders.get("orders").known

        candidacy = elector.stand("jobs/1")
        election, seat = changed.get(timeout=PATIENCE)

        assert (election, seat.leader.candidate, seat.term) == ("jobs/1", "a", 1)
        assert leaders.get("jobs/1") == seat
        assert leaders.leader("jobs/1").candidate == "a"
        candidacy.close()
        _, seat = changed.get(timeout=PATIENCE)
        assert (seat.leader, seat.term, seat.revision) == (None, 1, 2)


def test_a_value_is_published_and_changed(service, elector):
    elector = tenure.Elector(elector._client, value="host-7:80")
    changes = tenure.follow(service.endpoint, "orders")
    next(changes)  # nobody leads

    candidacy = elector.stand("orders")
    assert next(changes).leadership.value == b"host-7:80"
    candidacy.proclaim("host-7:81")

    assert next(changes).leadership.value == b"host-7:81"
    changes.close()


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ([], {}),
        ("", {}),
        (["a/"] * 65, {"prefix": True}),
        ("orders", {"from_revision": 0}),
        ("orders", {"silence_max": 0}),
        ("orders", {"from_revisions": {"jobs": 1}}),
        ("orders", {"from_revisions": {"orders": 0}}),
    ],
)
def test_a_malformed_argument_is_an_error(names, options):
    with pytest.raises(ValueError, match=r"must|start at"):
        tenure.Observer("127.0.0.1:7070", names, **options)
