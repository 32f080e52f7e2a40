"""The fake, as tests of applications use it: no server, and no time but its own."""

import asyncio
import queue
import threading

import pytest
from conftest import PATIENCE

import tenure
from tenure.testing import FakeTenure


@pytest.fixture
def fake():
    return FakeTenure()


class Said:
    """The lines of an elector's callbacks, in order."""

    def __init__(self):
        self._lines = queue.SimpleQueue()

    def callbacks(self):
        say = self._lines.put
        return {
            "on_standing": lambda _, place: say(f"standing at {place.position}"),
            "on_elected": lambda seat: say(f"elected {seat.term}"),
            "on_suspended": lambda seat: say(f"suspended {seat.term}"),
            "on_resumed": lambda seat: say(f"resumed {seat.term}"),
            "on_step_down": lambda seat, successor: say(f"step down {seat.term} for {successor}"),
            "on_lost": lambda seat, cause: say(f"lost {seat.term} {cause}"),
            "on_overrun": lambda seat: say(f"overrun {seat.term}"),
        }

    def all(self):
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get())
        return lines


def stand(fake, candidate, work=None, *, priority=0, **options):
    said = Said()
    client = fake.client(candidate, **{"lease_ttl": 10, **options})
    elector = tenure.Elector(client, priority=priority, **said.callbacks())
    candidacy = elector.stand("orders", work)
    fake.settle()
    return candidacy, said


def test_a_leader_that_can_renew_leads_for_hours(fake):
    candidacy, said = stand(fake, "a")

    fake.advance(7_200)

    assert candidacy.is_leader
    assert said.all() == ["elected 1"]
    assert 6 < candidacy.remaining <= 9


def test_a_leader_that_resigns_is_followed_by_the_next_in_a_later_term(fake):
    first, _ = stand(fake, "a")
    second, said = stand(fake, "b")
    third, _ = stand(fake, "c", priority=1)
    assert fake.queue("orders") == ["c", "b"]

    first.close()
    fake.advance(3)  # the grace for work begun while it led
    assert (third.term, second.term) == (2, 0)
    third.close()
    fake.advance(3)

    assert said.all() == ["standing at 1", "elected 3"]
    assert fake.leader("orders").candidate == "b"


def test_a_leader_that_is_cut_off_stops_before_the_next_one_leads(fake):
    first, said_first = stand(fake, "a")
    second, said_second = stand(fake, "b")

    fake.cut("a")
    fake.advance(6)
    assert said_first.all() == ["elected 1", "suspended 1"]
    fake.advance(3.5)  # within the tenth between the deadline and the end of the lease
    assert said_first.all() == ["lost 1 EXPIRED"]
    assert not first.is_leader
    assert not second.is_leader
    fake.advance(1)

    assert said_second.all() == ["standing at 1", "elected 2"]
    fake.restore("a")
    fake.advance(1)
    assert said_first.all() == ["standing at 1"]


def test_a_leader_that_is_back_before_its_lease_ends_leads_in_the_next_term(fake):
    first, said_first = stand(fake, "a")
    stand(fake, "b")

    fake.cut("a")
    fake.advance(9.2)
    fake.restore("a")
    fake.advance(0.6)

    assert said_first.all() == ["elected 1", "suspended 1", "lost 1 EXPIRED", "elected 2"]
    assert first.is_leader
    assert fake.queue("orders") == ["b"]


def test_an_outage_that_is_shorter_than_the_lease_costs_no_seat(fake):
    candidacy, said = stand(fake, "a")

    fake.cut()
    fake.advance(6)
    fake.restore()
    fake.advance(60)

    assert said.all() == ["elected 1", "suspended 1", "resumed 1"]
    assert candidacy.term == 1


def test_work_ends_before_the_lease_and_begins_again_after_an_outage(fake):
    terms = []

    def work(seat):
        seat.wait()
        terms.append((seat.term, seat.is_leader))

    candidacy, said = stand(fake, "a", work)

    fake.cut()
    fake.advance(7)  # a quarter of the lease before the deadline, it was asked to end

    assert terms == [(1, True)]
    fake.advance(10)
    fake.restore()
    fake.advance(5)
    assert candidacy.term == 2
    assert "overrun 1" not in said.all()


def test_work_that_does_not_end_is_not_waited_for_and_overruns(fake):
    may_end = threading.Event()
    _, said = stand(fake, "a", lambda _: may_end.wait(PATIENCE))

    fake.cut()
    fake.advance(20)

    assert "overrun 1" in said.all()
    may_end.set()


def test_a_process_that_was_paused_finds_its_seat_taken(fake):
    rival_first = fake.rival("orders")
    candidacy, said = stand(fake, "a")
    rival_first.resign()
    rival = fake.rival("orders")
    assert candidacy.is_leader
    assert not rival.leads

    fake.jump(11)

    assert not candidacy.is_leader
    assert rival.leads
    assert fake.leader("orders").term == 3
    assert said.all()[:2] == ["standing at 1", "elected 2"]


def test_an_operator_appoints_and_deposes(fake):
    _, said_first = stand(fake, "a")
    second, said_second = stand(fake, "b", priority=-1)

    fake.appoint("orders", "b")
    fake.advance(7)
    assert said_first.all() == [
        "elected 1",
        "step down 1 for b",
        "lost 1 RESIGNED",
        "standing at 1",
    ]
    assert second.is_leader
    fake.depose("orders")
    fake.advance(1)

    assert said_second.all()[:3] == ["standing at 1", "elected 2", "lost 2 DEPOSED"]
    assert fake.leader("orders").candidate == "a"
    with pytest.raises(ValueError, match="'c' does not wait in 'orders'"):
        fake.appoint("orders", "c")
    with pytest.raises(ValueError, match="nobody leads 'empty'"):
        fake.depose("empty")


def test_a_restarted_process_takes_its_seat_over(fake):
    _, said = stand(fake, "a")
    stand(fake, "b")

    again, _ = stand(fake, "a", supersede=True)

    assert again.term == 2
    assert said.all() == ["elected 1", "lost 1 SUPERSEDED"]


def test_a_single_try_is_not_elected_while_another_leads_or_during_an_outage(fake):
    fake.rival("orders", "b")
    elector = tenure.Elector(fake.client("a"))

    with pytest.raises(tenure.NotElected), elector.lead("orders", wait=0):
        pass

    fake.cut()
    with pytest.raises(tenure.NotElected, match="fake service cannot be reached") as failure:
        elector.stand("jobs").wait(0)
    assert failure.value.__cause__.is_transient


def test_a_refusal_is_a_service_error(fake):
    with pytest.raises(tenure.ServiceError, match="the minimum is 1 s") as refusal:
        tenure.Elector(fake.client("a", lease_ttl=0.5)).stand("orders").wait(PATIENCE)

    assert refusal.value.reason == "INVALID_LEASE_TTL"


def test_closing_during_an_outage_takes_no_time(fake):
    client = fake.client("a")
    tenure.Elector(client).stand("orders").wait(PATIENCE)
    fake.cut("a")

    with pytest.raises(tenure.ServiceError, match="not answered in time"):
        client.close(PATIENCE)


def test_observers_and_caches_see_every_change_also_across_an_outage(fake):
    seen = []
    tenure.Observer(
        fake.endpoint,
        "ord",
        prefix=True,
        on_snapshot=lambda snapshot: seen.append(f"snapshot {snapshot.revision}"),
        on_event=lambda event: seen.append((event.revision, event.leadership.value)),
    )
    cache = tenure.LeaderCache(fake.endpoint, "orders")
    assert cache.wait_until_ready(PATIENCE)
    with fake.client("a") as client:
        candidacy = tenure.Elector(client, value="10.0.0.7").stand("orders")
        candidacy.wait(PATIENCE)
        fake.cut()
        fake.advance(3)
        assert cache.age == pytest.approx(3)
        fake.restore()
        candidacy.proclaim("10.0.0.8")
        fake.advance(1)

        assert cache.leader("orders").value == b"10.0.0.8"
        fake.advance(3_600)
        assert cache.age <= 10

    fake.settle()
    assert cache.get("orders") == tenure.CachedSeat(True, None, term=1, revision=3)
    assert seen == [(1, b"10.0.0.7"), (2, b"10.0.0.8"), (3, b"10.0.0.8")]


def test_code_that_makes_its_own_clients_uses_the_endpoint(fake):
    changes = tenure.follow(fake.endpoint, "orders")
    assert next(changes).reason == tenure.v1.election_pb2.Snapshot.REASON_INITIAL
    ended = threading.Event()

    def ship():
        with tenure.Elector(fake.endpoint).lead("orders") as seat:
            seat.wait()
        ended.set()

    thread = threading.Thread(target=ship)
    thread.start()
    fake.wait_for_leader("orders")
    assert next(changes).leadership.term == 1

    fake.cut()
    fake.advance(9)

    assert ended.wait(PATIENCE)
    thread.join()
    with pytest.raises(TimeoutError, match="nobody leads 'jobs' after 0 s"):
        fake.wait_for_leader("jobs", timeout=0)


def test_the_task_of_asyncio_is_cancelled_before_the_lease_ends(fake):
    async def lead():
        terms = []

        async def work(seat):
            terms.append(seat.term)
            await asyncio.sleep(PATIENCE)

        running = asyncio.create_task(tenure.Elector(fake.client("a")).run("orders", work))
        while not terms:
            await asyncio.sleep(0)
        fake.cut()
        await fake.advance_async(15)
        fake.restore()
        await fake.advance_async(5)
        while len(terms) < 2:
            await asyncio.sleep(0)
        running.cancel()
        return terms

    assert asyncio.run(lead()) == [1, 2]


def test_a_callback_must_not_move_the_clock(fake):
    raised = queue.SimpleQueue()

    def advance(_seat):
        try:
            fake.advance(1)
        except RuntimeError as error:
            raised.put(str(error))

    tenure.Elector(fake.client("a"), on_elected=advance).stand("orders")

    assert "must not move the clock" in raised.get(timeout=PATIENCE)


def test_the_fake_and_the_service_publish_the_same_changes(fake, service):
    def changes_of(endpoint):
        changes = tenure.follow(endpoint, "orders")
        told = [next(changes)]
        first = tenure.Client(endpoint, candidate="a", lease_ttl=10)
        second = tenure.Client(endpoint, candidate="b", lease_ttl=10)
        candidacy = tenure.Elector(first, value="1").stand("orders")
        candidacy.wait(PATIENCE)
        with pytest.raises(tenure.NotElected):
            tenure.Elector(second, value="2").stand("orders").wait(0)
        candidacy.proclaim("3")
        told += [next(changes), next(changes)]
        first.close()
        told += [next(changes), next(changes)]
        second.close()
        told += [next(changes)]
        for event in told[1:]:
            event.ClearField("time")
            event.leadership.ClearField("elected_time")
        return told

    assert changes_of(fake.endpoint) == changes_of(service.endpoint)
