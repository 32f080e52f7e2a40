"""A candidate that lives through bad days: it speaks the protocol of tests/polyglot/bad_days."""

import json
import os
import sys
import threading
import time

import tenure

BETWEEN_QUESTIONS = 0.020
BETWEEN_LINES_NS = 50_000_000


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Says:
    def __init__(self):
        self._lock = threading.Lock()

    def line(self, event, **what):
        with self._lock:
            sys.stdout.write(json.dumps({"event": event, **what}) + "\n")
            sys.stdout.flush()

    def event(self, event, term, **what):
        self.line(event, term=term, at_ns=now_ns(), **what)


says = Says()


class Candidate:
    def __init__(self, endpoints, election, candidate, lease_ms, supersede):
        self.lingers = False
        self.resigns = False
        self.client = tenure.Client(
            endpoints, candidate=candidate, lease_ttl=lease_ms / 1000, supersede=supersede
        )
        self.elector = tenure.Elector(
            self.client,
            on_elected=self.elected,
            on_lost=self.lost,
            on_refused=lambda _candidacy, _error: says.event("refused", 0),
        )
        self.over = threading.Event()  # the latest term
        self.over.set()
        self.candidacy = self.elector.stand(election, self.work)
        threading.Thread(target=self.say_beliefs, daemon=True).start()

    def elected(self, seat):
        self.over.clear()
        says.event("leading", seat.term)

    def lost(self, seat, cause):
        says.event("over", seat.term, cause=cause)
        self.over.set()

    def stand_again(self):
        self.candidacy.resign()
        self.over.wait()
        self.candidacy.close()
        self.candidacy = self.elector.stand(self.candidacy.election, self.work)

    def work(self, seat):
        self.resigns = False
        says.event("working", seat.term)
        while not self.resigns and not seat.wait(BETWEEN_QUESTIONS):
            pass
        if seat.stopping:
            says.event("stop", seat.term)
            while self.lingers and seat.is_leader:
                time.sleep(BETWEEN_QUESTIONS)
        says.event("stopped", seat.term)

    def say_beliefs(self):
        """One line for a run of equal answers, and a new one every now and then."""
        belief, said_ns = None, 0
        while True:
            before_ns = now_ns()
            candidacy = self.candidacy
            term, remaining = candidacy.term, candidacy.remaining
            after_ns = now_ns()
            same = belief and belief["term"] == term
            if belief and not same:
                says.line("belief", **belief)
            if not same:
                belief = {"term": term, "first_ns": after_ns}
            belief.update(last_ns=before_ns, at_ns=after_ns)
            if term:
                belief["deadline_ns"] = before_ns + int(remaining * 1e9)
            if not same or (term and after_ns - said_ns >= BETWEEN_LINES_NS):
                says.line("belief", **belief)
                said_ns = after_ns
            time.sleep(BETWEEN_QUESTIONS)


def fork():
    """Forks a child that ends at once."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def main():
    candidate = None
    for line in sys.stdin:
        command = json.loads(line)
        what = command.pop("do")
        if what == "stand":
            candidate = Candidate(**command)
        elif what in ("linger", "heed"):
            candidate.lingers = what == "linger"
        elif what == "resign":
            candidate.resigns = True
        elif what == "trouble":
            fork()
        elif what == "stand again":
            candidate.stand_again()
        elif what == "quit":
            break
    candidate.client.close()


if __name__ == "__main__":
    main()
