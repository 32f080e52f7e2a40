"""Electors against a real service."""

import asyncio
import contextlib
import gc
import os
import queue
import signal
import subprocess
import sys
import threading
import weakref

import grpc
import pytest
from conftest import PATIENCE

import tenure


class Told:
    """The calls of callbacks, in order."""

    def __init__(self):
        self._queue = queue.Queue()

    def callback(self, name):
        return lambda *arguments: self._queue.put((name, *arguments))

    def callbacks(self, *names):
        return {name: self.callback(name) for name in names}

    def next(self):
        return self._queue.get(timeout=PATIENCE)

    def next_names(self, count):
        return [self.next()[0] for _ in range(count)]


def wait_for_renewal(seat):
    """Waits until the deadline has moved twice: the first answer may be to an earlier renewal."""
    for _ in range(2):
        left = seat.remaining
        while seat.remaining <= left:
            left = seat.remaining
            assert not seat.wait(0.01)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE))


def test_it_leads_within_the_block_and_another_one_afterwards(elector, rival):
    with elector.lead("orders", wait=PATIENCE) as first:
        assert first.is_leader
        assert not first.stopping
        assert 0 < first.remaining <= 9
        with pytest.raises(tenure.NotElected):
            rival.lead("orders", wait=0).__enter__()

    assert not first.is_leader
    assert first.stopping
    with rival.lead("orders", wait=PATIENCE) as second:
        assert second.term > first.term


def test_it_may_lead_again_and_again(elector):
    terms = []
    for _ in range(3):
        with elector.lead("orders", wait=PATIENCE) as seat:
            terms.append(seat.term)

    assert terms == sorted(set(terms))


def test_an_exception_in_the_block_gives_the_seat_up(elector, rival):
    with pytest.raises(ZeroDivisionError), elector.lead("orders", wait=PATIENCE):
        raise ZeroDivisionError

    with rival.lead("orders", wait=PATIENCE):
        pass


def test_a_seat_that_is_not_won_in_time_is_an_error(elector, rival):
    with elector.lead("orders", wait=PATIENCE):
        with pytest.raises(tenure.NotElected):
            rival.lead("orders", wait=0.1).__enter__()

        async def wait():
            async with rival.lead("orders", wait=0.1):
                pass

        with pytest.raises(tenure.NotElected):
            run(wait())


def test_a_wait_that_has_ended_is_forgotten(elector, rival):
    with elector.lead("orders", wait=PATIENCE):
        candidacy = rival.stand("orders")

        async def wait():
            await candidacy.wait_async(0.001)

        for call in (lambda: candidacy.wait(0.001), lambda: run(wait())):
            with pytest.raises(tenure.NotElected):
                call()

        assert not candidacy._waiting


def test_a_refusal_for_good_is_an_error(service):
    client = tenure.Client(service.endpoint, lease_ttl=7 * 24 * 3600)

    with pytest.raises(tenure.ServiceError) as error:
        tenure.Elector(client).lead("orders", wait=PATIENCE).__enter__()

    assert error.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.value.reason == "INVALID_LEASE_TTL"


def test_each_term_is_reported_once_and_in_order(service, elector):
    told = Told()
    names = ["on_standing", "on_elected", "on_lost"]
    client = tenure.Client(service.endpoint, candidate="b", lease_ttl=10)
    observed = tenure.Elector(client, **told.callbacks(*names))

    with elector.lead("orders", wait=PATIENCE):
        candidacy = observed.stand("orders")
        _, told_of, place = told.next()
    _, seat = told.next()
    service.tool("depose", "orders")
    lost = told.next()

    assert told_of is candidacy
    assert (place.position, place.leader.candidate) == (1, "a")
    assert lost == ("on_lost", seat, "DEPOSED")
    assert not seat.is_leader
    name, again = told.next()
    assert name == "on_elected"
    assert again.term > seat.term
    assert candidacy.wait(PATIENCE) is again
    client.close()
    assert told.next() == ("on_lost", again, "RESIGNED")


def test_work_runs_in_each_term_and_one_that_fails_ends_it(brief):
    terms = queue.Queue()

    def work(seat):
        terms.put(seat.term)
        raise ZeroDivisionError

    brief.stand("orders", work)  # again after a heartbeat

    assert terms.get(timeout=PATIENCE) < terms.get(timeout=PATIENCE)


def test_a_handover_waits_for_the_work(service, elector, rival):
    may_end, asked = threading.Event(), threading.Event()

    def work(seat):
        seat.wait()
        asked.set()
        may_end.wait(PATIENCE)

    leader = elector.stand("orders", work)
    leader.wait(PATIENCE)
    successor = rival.stand("orders")
    with pytest.raises(tenure.NotElected):
        successor.wait(0)
    service.tool("appoint", "orders", "b")

    assert asked.wait(PATIENCE)
    assert leader.is_leader
    assert not successor.is_leader
    may_end.set()
    successor.wait(PATIENCE)
    assert not leader.is_leader


def test_closing_the_client_waits_for_the_work(service, rival):
    client = tenure.Client(service.endpoint, candidate="a", lease_ttl=10)
    ended = threading.Event()

    def work(seat):
        seat.wait()
        ended.set()

    tenure.Elector(client).stand("orders", work).wait(PATIENCE)

    client.close()

    assert ended.is_set()
    with rival.lead("orders", wait=PATIENCE):
        pass
    with pytest.raises(tenure.TenureError):
        tenure.Elector(client).stand("orders")


def test_closing_the_client_waits_for_the_work_of_a_closed_candidacy(service):
    client = tenure.Client(service.endpoint, lease_ttl=10)
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work(_):
        begun.set()
        may_end.wait(PATIENCE)
        ended.set()

    candidacy = tenure.Elector(client).stand("orders", work)
    assert begun.wait(PATIENCE)
    candidacy.close()
    with pytest.raises(tenure.TenureError, match="still running"):
        client.close(patience=0)
    may_end.set()
    client.close(PATIENCE)

    assert ended.is_set()


def test_work_that_does_not_end_keeps_its_seat_when_the_client_is_closed(service):
    may_end = threading.Event()
    client = tenure.Client(service.endpoint, lease_ttl=10)
    begun = threading.Event()

    def work(_):
        begun.set()
        may_end.wait(PATIENCE)

    tenure.Elector(client).stand("orders", work)
    assert begun.wait(PATIENCE)

    with pytest.raises(tenure.TenureError, match="still running"):
        client.close(patience=0.1)

    may_end.set()
    client.close()


def test_a_silent_service_stops_the_work_before_the_lease_ends(service, brief):
    told = Told()
    elector = tenure.Elector(brief._client, **told.callbacks("on_suspended", "on_lost"))
    left = []

    with elector.lead("orders", wait=PATIENCE) as seat:
        service.pause()
        assert seat.wait(PATIENCE)
        left.append(seat.remaining)
    service.resume()

    assert left[0] > 0
    assert told.next() == ("on_suspended", seat)
    assert told.next() == ("on_lost", seat, "RESIGNED")


def test_work_that_ignores_the_end_of_its_lease_is_reported_as_overrun(service, brief):
    told = Told()
    elector = tenure.Elector(brief._client, **told.callbacks("on_overrun", "on_lost"))
    may_end = threading.Event()
    begun = queue.Queue()

    def work(seat):
        begun.put(seat)
        may_end.wait(PATIENCE)

    candidacy = elector.stand("orders", work)
    seat = begun.get(timeout=PATIENCE)
    service.pause()

    # On two threads, in any order.
    assert {told.next(), told.next()} == {("on_overrun", seat), ("on_lost", seat, "EXPIRED")}
    assert not seat.is_leader
    service.resume()
    assert not candidacy.is_leader
    may_end.set()
    assert candidacy.wait(PATIENCE).term > seat.term


def test_a_callback_that_calls_sys_exit_ends_no_thread(service, brief):
    told = Told()
    begun = queue.Queue()
    may_end = threading.Event()

    def work(seat):
        begun.put(seat)
        may_end.wait(PATIENCE)

    def overrun(_):
        told.callback("on_overrun")()
        sys.exit(1)

    elector = tenure.Elector(brief._client, on_elected=lambda _: sys.exit(1), on_overrun=overrun)
    elector.stand("orders", work)
    seat = begun.get(timeout=PATIENCE)
    service.pause()
    assert told.next_names(1) == ["on_overrun"]
    service.resume()
    may_end.set()

    assert begun.get(timeout=PATIENCE).term > seat.term


@pytest.mark.parametrize("wait", ["wait", "lead", "job", "async"])
def test_a_callback_that_waits_for_a_seat_is_an_error(elector, wait):
    said = queue.Queue()

    def on_elected(_):
        try:
            {
                "wait": lambda: other.wait(PATIENCE),
                "lead": lambda: elector.lead("third", wait=PATIENCE).__enter__(),
                "job": elector.leader_only("third")(lambda: None),
                "async": lambda: run(other.wait_async(PATIENCE)),
            }[wait]()
        except Exception as error:
            said.put(error)

    other = elector.stand("other")
    other.wait(PATIENCE)
    candidacy = tenure.Elector(elector._client, on_elected=on_elected).stand("orders")

    with pytest.raises(RuntimeError, match="must not wait"):
        raise said.get(timeout=2 * PATIENCE)
    assert candidacy.wait(PATIENCE).is_leader


@pytest.mark.parametrize("name", ["tenure-probe", "tenure-keep-alive", "tenure-work-orders"])
def test_a_thread_that_cannot_be_started_is_tried_again(brief, refuse_threads, name):
    begun = queue.Queue()

    def work(seat):
        begun.put(seat)
        seat.wait(PATIENCE)

    refused = refuse_threads(lambda thread: thread.name.startswith(name), 1)
    brief.stand("orders", work)

    wait_for_renewal(begun.get(timeout=PATIENCE))
    assert len(refused) == 1


def test_a_client_that_can_start_no_thread_resigns_at_another_replica(new_service, refuse_threads):
    """As when Python 3.12 or later exits."""
    replicas = [new_service().start(), new_service().start()]
    client = tenure.Client(",".join(replica.endpoint for replica in replicas), lease_ttl=600)
    tenure.Elector(client).stand("orders").wait(PATIENCE)
    in_use = client._loop._connection.replica.endpoint
    replicas.sort(key=lambda replica: replica.endpoint != in_use)

    with tenure.Client(replicas[1].endpoint, candidate="b") as rival:
        successor = tenure.Elector(rival).stand("orders")
        with pytest.raises(tenure.NotElected):
            successor.wait(0)
        loop = client._loop._thread
        refuse_threads(lambda _: threading.current_thread() is loop)
        replicas[0].stop()
        client.close(PATIENCE)

        assert successor.wait(PATIENCE).is_leader


def test_a_seat_is_kept_when_its_replica_dies(new_service):
    replicas = [new_service().start(), new_service().start()]
    endpoints = ",".join(replica.endpoint for replica in replicas)
    told = Told()
    with tenure.Client(endpoints, lease_ttl=6) as client:
        elector = tenure.Elector(client, **told.callbacks("on_suspended", "on_resumed", "on_lost"))
        seat = elector.stand("orders").wait(PATIENCE)
        for replica in replicas:
            replica.stop()
            wait_for_renewal(seat)
            replica.start()

        assert seat.is_leader


def test_a_newer_session_of_the_same_candidate_takes_over(service):
    told = Told()
    older = tenure.Client(service.endpoint, candidate="a", lease_ttl=30)
    elector = tenure.Elector(older, **told.callbacks("on_lost", "on_refused"))
    old = elector.stand("orders")
    seat = old.wait(PATIENCE)

    newer = tenure.Client(service.endpoint, candidate="a", lease_ttl=30, supersede=True)
    with tenure.Elector(newer).lead("orders", wait=PATIENCE) as new:
        assert new.term > seat.term
        assert told.next() == ("on_lost", seat, "SUPERSEDED")
        assert told.next()[0] == "on_refused"
        with pytest.raises(tenure.ServiceError, match="superseded"):
            old.wait(PATIENCE)
    newer.close()
    older.close()


def test_all_elections_share_one_stream(elector):
    candidacies = [elector.stand(f"jobs/{number}") for number in range(100)]

    assert all(candidacy.wait(PATIENCE).is_leader for candidacy in candidacies)
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("tenure-keep-alive") == 1


def test_a_client_stands_only_once_in_an_election(elector):
    with elector.stand("orders"), pytest.raises(ValueError, match="already stands"):
        elector.stand("orders")

    elector.stand("orders").wait(PATIENCE)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"endpoints": ","}, "endpoints"),
        ({"candidate": ""}, "candidate"),
        ({"candidate": "a\n"}, "control character"),
        ({"lease_ttl": -1}, "lease_ttl"),
    ],
)
def test_a_malformed_argument_of_a_client_is_an_error(arguments, what):
    with pytest.raises(ValueError, match=what):
        tenure.Client(**arguments)


def test_a_malformed_argument_of_an_elector_is_an_error(elector):
    with pytest.raises(ValueError, match="maximum is 4096"):
        tenure.Elector("127.0.0.1:7070", value=b"x" * 4097)
    with pytest.raises(ValueError, match="stop_grace"):
        tenure.Elector("127.0.0.1:7070", stop_grace=-1)
    with pytest.raises(ValueError, match="1 to 255 bytes"):
        elector.stand("ö" * 128)


def test_a_child_does_not_lead_what_its_parent_leads(elector):
    seat = elector.stand("orders").wait(PATIENCE)

    child = os.fork()
    if child == 0:
        os._exit(1 if seat.is_leader else 0)

    assert os.waitpid(child, 0)[1] == 0
    assert seat.is_leader


def test_a_process_that_was_stopped_past_its_lease_does_not_lead_when_it_goes_on(service, rival):
    program = f"""
import tenure
client = tenure.Client({service.endpoint!r}, lease_ttl=2)
seat = tenure.Elector(client).stand("orders").wait()
print("leading", flush=True)
input()
print(seat.is_leader, flush=True)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "leading\n"
    child.send_signal(signal.SIGSTOP)

    with rival.lead("orders", wait=PATIENCE):
        child.stdin.write("\n")
        child.stdin.flush()
        child.send_signal(signal.SIGCONT)

        assert child.stdout.readline() == "False\n"
    child.communicate(timeout=PATIENCE)


def test_a_process_that_ends_gives_up_its_seat(service, rival):
    program = f"""
import tenure
client = tenure.Client({service.endpoint!r}, lease_ttl=600)
print(tenure.Elector(client).stand("orders").wait().is_leader)
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert (said.stdout, said.stderr) == ("True\n", "")
    with rival.lead("orders", wait=PATIENCE):
        pass


def test_a_signal_handler_may_resign_while_work_begins(elector, monkeypatch):
    candidacy = elector.stand("orders")
    seat = candidacy.wait(PATIENCE)
    monkeypatch.setattr(seat, "check", candidacy.resign)  # as a handler would, in between
    ended = threading.Event()

    def begin():
        with pytest.raises(tenure.SeatLost, match="is ending"):
            candidacy._begin_work(seat)
        ended.set()

    threading.Thread(target=begin, daemon=True).start()

    assert ended.wait(PATIENCE)


# For jobs only.


def test_a_job_runs_where_the_leader_is_and_nowhere_else(elector, rival):
    jobs = [elector.leader_only("nightly")(lambda: "a"), rival.leader_only("nightly")(lambda: "b")]

    assert [job() for job in jobs] == ["a", None]
    assert [job() for job in jobs] == ["a", None]
    elector.close()
    assert rival._standing_in("nightly").wait(PATIENCE)
    assert jobs[1]() == "b"


def test_a_job_that_runs_delays_the_handover(service, elector, rival):
    begun, may_end = threading.Event(), threading.Event()

    @elector.leader_only("nightly")
    def job():
        begun.set()
        elector.seat("nightly").wait()
        may_end.wait(PATIENCE)
        return elector.seat("nightly").is_leader

    results = queue.Queue()
    threading.Thread(target=lambda: results.put(job())).start()
    assert begun.wait(PATIENCE)
    successor = rival.stand("nightly")
    with pytest.raises(tenure.NotElected):
        successor.wait(0)
    service.tool("appoint", "nightly", "b")
    may_end.set()

    assert results.get(timeout=PATIENCE)
    assert successor.wait(PATIENCE)


def test_a_job_of_asyncio_runs_only_where_the_leader_is(elector, rival):
    @elector.leader_only("nightly")
    async def mine(number):
        return number

    @rival.leader_only("nightly")
    async def theirs(number):
        return number

    async def both():
        return [await mine(1), await theirs(2)]

    assert run(both()) == [1, None]


def test_a_job_of_asyncio_that_has_ended_is_forgotten(elector):
    tasks = []

    @elector.leader_only("nightly")
    async def job():
        tasks.append(weakref.ref(asyncio.current_task()))

    async def twice():
        for _ in range(2):
            await asyncio.create_task(job())

    run(twice())

    gc.collect()
    assert [task() for task in tasks] == [None, None]


# With asyncio.


def test_a_task_leads_within_the_block(elector):
    async def lead():
        async with elector.lead("orders") as seat:
            return seat.is_leader

    assert run(lead())


def test_a_task_is_cancelled_before_the_lease_ends(service, brief):
    async def lead(left):
        async with brief.lead("orders") as seat:
            service.pause()
            try:
                await asyncio.sleep(PATIENCE)
            finally:
                left.append(seat.remaining)

    left = []
    with pytest.raises(tenure.SeatLost, match="must be given up"):
        run(lead(left))
    service.resume()

    assert left[0] > 0


def test_a_task_is_cancelled_when_the_seat_is_lost(service, elector):
    async def lead():
        async with elector.lead("orders"):
            await asyncio.to_thread(service.tool, "depose", "orders")
            await asyncio.sleep(PATIENCE)

    with pytest.raises(tenure.SeatLost, match="DEPOSED"):
        run(lead())


def test_a_task_that_others_cancel_is_cancelled(elector, rival):
    async def lead(leads):
        async with elector.lead("orders"):
            leads.set()
            await asyncio.sleep(PATIENCE)

    async def cancel():
        leads = asyncio.Event()
        task = asyncio.create_task(lead(leads))
        await leads.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with rival.lead("orders"):
            pass

    run(cancel())


def test_a_cancellation_that_comes_too_late_hits_nobody(elector):
    async def lead():
        async with elector.lead("orders") as seat:
            seat._ask_to_stop("test")
        await asyncio.sleep(0.01)
        return True

    assert run(lead())


def test_a_task_that_waits_for_the_seat_can_be_cancelled(elector, rival):
    async def cancel():
        async with elector.lead("orders"):
            waiting = asyncio.create_task(rival.lead("orders").__aenter__())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        async with elector.lead("orders"):
            pass

    run(cancel())


def test_work_of_asyncio_runs_again_after_it_was_lost(service, elector):
    async def work(seat):
        terms.append(seat.term)
        if len(terms) == 2:
            raise ZeroDivisionError
        await asyncio.to_thread(service.tool, "depose", "orders")
        await asyncio.sleep(PATIENCE)

    terms = []
    with contextlib.suppress(ZeroDivisionError):
        run(elector.run("orders", work))

    assert terms[0] < terms[1]


def test_work_of_asyncio_that_is_too_late_stands_again_after_the_others(brief):
    async def work(seat):
        terms.append(seat.term)
        if len(terms) == 2:
            raise ZeroDivisionError
        raise tenure.TermOver

    terms = []
    claims = []
    claim = brief._client._claim
    brief._client._claim = lambda candidacy: claims.append(candidacy) or claim(candidacy)
    with contextlib.suppress(ZeroDivisionError):
        run(brief.run("orders", work))

    assert terms[0] < terms[1]
    assert len(claims) == 1  # a new one would not let the others go first
