"""Stands for one election, works while it leads, and prints every change of who leads.

It uses nothing but the stubs generated from election.proto, whose comments are the contract.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import time

import grpc
from google.protobuf.duration_pb2 import Duration

from tenure.v1 import election_pb2 as pb, election_pb2_grpc as rpc

TRUST = 0.9  # of a lease; the rest is for clocks that drift apart
RENEWALS_PER_LEASE = 3
UNANSWERED_MAX = 2  # renewals, each for a sixth of the lease; then the replica hangs
CHECK_PLACE_S = 30  # how often to see that the place in the queue is still there
SILENCE_MAX_S = 25  # of an Observe stream, which says something at least every 10 s
GONE = (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION)
# A lease goes on while the machine is suspended, and on Linux so does this clock.
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now():
    return time.clock_gettime(CLOCK)


def say(event, **fields):
    print(json.dumps({"event": event, **fields, "time_ms": int(time.time() * 1000)}), flush=True)


def complain(error):
    print(f"{error.code().name}: {error.details()}", file=sys.stderr, flush=True)


async def each_of(queue):
    while True:
        yield await queue.get()


class Replicas:
    """Which replica to talk to. Any will do; whoever meets a broken one moves on to the next."""

    def __init__(self, endpoints):
        options = [("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 200),
                   ("grpc.keepalive_time_ms", 10_000), ("grpc.keepalive_timeout_ms", 3_000)]
        self.stubs = [rpc.ElectionServiceStub(grpc.aio.insecure_channel(endpoint, options=options))
                      for endpoint in endpoints.split(",")]
        self.failures = 0

    def current(self):
        return self.stubs[0]

    def failed(self, stub):
        """Answers how long to wait before the next try: longer each time, and never in step."""
        if stub is self.stubs[0]:
            self.stubs.append(self.stubs.pop(0))
        self.failures = min(self.failures + 1, 5)
        return 0.03 * 2**self.failures * random.uniform(0.5, 1)


class Candidate:
    """run() makes all decisions, one after the other; a stream only puts into its mailbox."""

    def __init__(self, arguments):
        self.election, self.name, self.ttl = arguments.election, arguments.candidate, arguments.ttl
        self.replicas = Replicas(arguments.endpoints)
        self.mailbox = asyncio.Queue()
        self.stopping = False
        self.lease = self.ttl
        self.granted = 0  # the term that the service says we hold
        self.term = 0  # the one that we believe in, and that only before `until`
        self.until = 0.0
        self.over = 0  # the last one in which our belief has ended: it never comes back
        self.stream = None
        self.new_session(previous="")

    def new_session(self, previous):
        self.close_stream()
        self.session, self.previous, self.granted = "", previous, 0
        # The same in every retry: if an answer is lost, the retry finds the session that it opened.
        self.request_id = os.urandom(16)
        self.campaign_at = self.open_at = now()

    async def run(self):
        while not self.stopping:
            if self.term and now() >= self.until:
                self.stop_work("lost", cause="EXPIRED")  # whatever the network says, or does not
            if not self.term and now() >= self.campaign_at:
                await self.campaign()
            if self.session and not self.stream and now() >= self.open_at:
                self.open_stream()
            if self.stream and now() >= self.renew_at:
                self.renew()
            if self.term and now() >= self.work_at:
                self.work()
            await self.take_one_message()
        await self.leave()

    async def take_one_message(self):
        """Comes back without one when something is due."""
        due = [self.until, self.work_at] if self.term else [self.campaign_at]
        if self.session:
            due.append(self.renew_at if self.stream else self.open_at)
        try:
            stream, message = await asyncio.wait_for(self.mailbox.get(), max(0, min(due) - now()))
        except asyncio.TimeoutError:
            return
        if stream is self.stream:  # and not one that was closed
            self.take_in(message)

    def work(self):
        """Longer work runs elsewhere, and asks the same before each step that matters."""
        self.work_at = now() + 1
        left = self.until - now()
        if left > 0:
            # The term is the fencing token: pass it along with every write.
            say("work", term=self.term, left_ms=int(left * 1000))

    def stop_work(self, event, **fields):
        """Ends the belief for good. Work that runs elsewhere has to be waited for here."""
        if self.term:
            say(event, term=self.term, **fields)
        self.term, self.over = 0, max(self.over, self.granted)
        self.campaign_at = now()

    def seat(self, term):
        """The service says that we hold the seat in this term."""
        if self.term and term > self.term:
            self.stop_work("lost", cause="UNKNOWN")
        self.granted = max(self.granted, term)
        if self.granted <= self.over:
            self.campaign_at = now()  # which resigns it first
        elif not self.term and now() < self.until:
            self.term, self.work_at = self.granted, now()
            say("elected", election=self.election, term=self.term, candidate=self.name)

    async def campaign(self):
        """Takes a place in the queue, or sees that it is still there. KeepAlive tells the rest."""
        if 0 < self.granted <= self.over and not await self.resign(self.election):
            return
        request = pb.CampaignRequest(
            election=self.election, candidate=self.name, session_id=self.session,
            request_id=self.request_id, previous_session_id=self.previous, wait=Duration())
        request.lease_ttl.FromMilliseconds(int(self.ttl * 1000))
        stub = self.replicas.current()
        try:
            answer = await stub.Campaign(request, timeout=self.lease / RENEWALS_PER_LEASE)
        except grpc.aio.AioRpcError as error:
            complain(error)
            if error.code() == grpc.StatusCode.INVALID_ARGUMENT:
                sys.exit(1)
            self.campaign_at = now() + self.replicas.failed(stub)
            if error.code() == grpc.StatusCode.NOT_FOUND:
                self.new_session(previous="")
            elif error.code() == grpc.StatusCode.FAILED_PRECONDITION:
                self.renew_at = now()  # the session is over; the renewal tells why
            return
        self.campaign_at = now() + CHECK_PLACE_S
        self.session, self.previous = answer.session.session_id, ""
        if answer.HasField("elected"):
            self.seat(answer.elected.term)

    async def resign(self, election):
        """Leaves the election, or all and the session if it is "". False if that has to be repeated.

        Only when the work has stopped: once this call is on its way, another one may lead.
        """
        request = pb.ResignRequest(session_id=self.session, election=election,
                                   term=self.granted if election else None)
        stub = self.replicas.current()
        try:
            answer = await stub.Resign(request, timeout=self.lease / RENEWALS_PER_LEASE)
            if election and answer.outcome != pb.ResignResponse.OUTCOME_SESSION_ENDED:
                say("resigned", term=self.granted)
        except grpc.aio.AioRpcError as error:
            complain(error)
            if error.code() not in GONE:
                self.campaign_at = now() + self.replicas.failed(stub)
                return False
        self.granted = 0
        return True

    async def leave(self):
        self.over = self.granted  # nothing works any more
        give_up_at = now() + self.lease  # by then the service has taken the seat back
        while self.session and now() < give_up_at:
            if (not self.granted or await self.resign(self.election)) and await self.resign(""):
                return
            await asyncio.sleep(self.campaign_at - now())

    def open_stream(self):
        self.stream_stub = self.replicas.current()
        self.requests = asyncio.Queue()
        self.stream = self.stream_stub.KeepAlive(each_of(self.requests))
        self.reader = asyncio.create_task(self.read(self.stream))
        self.believed_at_open = self.term
        self.sequence, self.sent_at = 0, {}
        self.renew_at = now()

    def close_stream(self):
        if self.stream:
            self.stream.cancel()
            self.stream = None
            self.open_at = now() + self.replicas.failed(self.stream_stub)

    async def read(self, stream):
        try:
            async for message in stream:
                self.mailbox.put_nowait((stream, message))
        except grpc.aio.AioRpcError as error:
            complain(error)
        except asyncio.CancelledError:
            pass
        self.mailbox.put_nowait((stream, None))

    def renew(self):
        if len(self.sent_at) == UNANSWERED_MAX:
            return self.close_stream()
        self.sequence += 1
        # The lease counts from before the request is sent: the service begins to count it later, so
        # our belief ends before its lease does, however long request and answer are on their way.
        self.sent_at[self.sequence] = now()
        self.renew_at = now() + self.lease / RENEWALS_PER_LEASE / 2  # unless this one is answered
        self.requests.put_nowait(
            pb.KeepAliveRequest(sequence=self.sequence, session_ids=[self.session]))

    def take_in(self, message):
        if message is None:
            self.close_stream()
        elif message.HasField("renewal"):
            self.take_in_renewal(message.renewal)
        elif message.HasField("session_ended"):
            self.session_ended(message.session_ended.cause)
        elif message.notice.election == self.election:
            notice = message.notice
            if notice.HasField("elected"):
                self.seat(notice.elected.term)
            elif notice.HasField("lost") and notice.lost.term == self.granted:
                self.stop_work("lost", cause=pb.Cause.Name(notice.lost.cause)[6:])
                self.granted = 0
            elif notice.HasField("step_down") and notice.step_down.term == self.granted:
                self.stop_work("step_down", successor=notice.step_down.successor)

    def take_in_renewal(self, renewal):
        session = renewal.sessions[0]
        if not session.HasField("lease_ttl"):
            return self.session_ended(session.ended)
        self.replicas.failures = 0
        self.lease = session.lease_ttl.ToMilliseconds() / 1000
        sent_at = self.sent_at.get(renewal.sequence)
        if sent_at is None:
            return
        self.until = max(self.until, sent_at + TRUST * self.lease)
        self.renew_at = sent_at + self.lease / RENEWALS_PER_LEASE
        self.sent_at = {n: at for n, at in self.sent_at.items() if n > renewal.sequence}
        if renewal.sequence == 1:  # the first of a stream lists what the session holds
            held = next((s for s in session.seats if s.election == self.election), pb.Leadership())
            if self.term and self.term == self.believed_at_open != held.term:
                self.stop_work("lost", cause="UNKNOWN")
                self.granted = 0
            if held.term:
                self.seat(held.term)
            if held.successor and held.term == self.granted:
                self.stop_work("step_down", successor=held.successor)
        if self.granted:
            self.seat(self.granted)

    def session_ended(self, cause):
        self.stop_work("lost", cause=pb.Cause.Name(cause)[6:])
        # To name a session that expired although this process lives gives the next a longer lease.
        self.new_session(previous=self.session if cause == pb.CAUSE_EXPIRED else "")


async def observe(arguments):
    """Prints every change, each once and in order, from whichever replica."""
    replicas = Replicas(arguments.endpoints)
    selector = pb.Selector(election=arguments.election)
    while True:
        stub = replicas.current()
        stream = stub.Observe(pb.ObserveRequest(selectors=[selector]))
        try:
            while message := await asyncio.wait_for(stream.read(), SILENCE_MAX_S):
                replicas.failures = 0
                if message.HasField("progress"):
                    continue
                if message.HasField("event"):
                    told, what = message.event, message.event.leadership
                    kind, cause = pb.Event.Type.Name(told.type)[5:], pb.Cause.Name(told.cause)[6:]
                else:
                    told, what, cause = message.snapshot, message.snapshot.leader, "UNSPECIFIED"
                    resync = told.reason == pb.Snapshot.REASON_RESYNC
                    kind = "RESYNC" if resync else "SNAPSHOT"
                say("observed", revision=told.revision, type=kind, term=what.term or told.term,
                    candidate=what.candidate or None, cause=None if cause == "UNSPECIFIED" else cause)
                selector.from_revision = told.revision + 1
        except grpc.aio.AioRpcError as error:
            complain(error)
        except asyncio.TimeoutError:
            pass  # a stream that is silent for so long is dead
        await asyncio.sleep(replicas.failed(stub))


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("election")
    parser.add_argument("candidate")
    parser.add_argument("--endpoints", default=os.getenv("TENURE_ENDPOINTS", "127.0.0.1:7070"))
    parser.add_argument("--ttl", type=float, default=10, help="seconds that a lease lasts")
    arguments = parser.parse_args()
    candidate = Candidate(arguments)

    def stop():
        candidate.stopping = True
        candidate.mailbox.put_nowait((None, None))

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    observer = asyncio.create_task(observe(arguments))
    await candidate.run()
    observer.cancel()


if __name__ == "__main__":
    asyncio.run(main())
