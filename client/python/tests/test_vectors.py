"""Plays tests/polyglot/vectors to the pure machines, as the C++ library's tests do."""

import json
import os
import pathlib
import random

import grpc
import pytest
from google.protobuf import json_format

from tenure import _effects, _observation, _seat, _service, _session
from tenure._lease import FOREVER, MILLISECOND, SECOND
from tenure.errors import ServiceError
from tenure.v1 import election_pb2 as pb

VECTORS = pathlib.Path(
    os.environ.get("TENURE_VECTORS")
    or pathlib.Path(__file__).parents[3] / "tests" / "polyglot" / "vectors"
)
START = 3600 * SECOND  # of a scenario; 0 is never


def scenarios(machine):
    for path in sorted(VECTORS.glob("*.json")):
        file = json.loads(path.read_text())
        if file["machine"] != machine:
            continue
        for scenario in file["scenarios"]:
            scenario.setdefault("options", file.get("options"))
            if "opening" in scenario:
                scenario["steps"] = file["openings"][scenario["opening"]] + scenario["steps"]
            yield pytest.param(scenario, id=scenario["name"])


def nanoseconds(fields, name):
    return fields[name] * MILLISECOND if name in fields else None


def error_of(answer):
    if "error" not in answer:
        return None
    error = answer["error"]
    return ServiceError(
        grpc.StatusCode[error["code"]],
        reason=error.get("reason", ""),
        metadata=error.get("metadata"),
        retry_delay=error.get("retry_delay_ms", 0) / 1000,
    )


class Player:
    def __init__(self, options, seed):
        self.session = _session.Session(
            options["candidate"],
            nanoseconds(options, "lease_ttl_ms"),
            options.get("supersede", False),
            random.Random(seed),
        )
        self.seats = set()
        self.request_ids = []

    def play(self, step):
        """The step's outcome, in the words of the vectors."""
        now = START + step["at_ms"] * MILLISECOND
        for name, told in step.get("input", {}).items():
            getattr(self, name)(told, now)
        effects = [self.told_effect(effect) for effect in self.session.decide(now)]
        news = [
            {"seat": seat, **self.told_event(event)} for seat, event in self.session.take_news()
        ]
        gone = self.session.take_gone()
        wake = self.session.next_wake()
        error = self.session.end_error
        return {
            "effects": effects,
            "news": news,
            "gone": gone,
            "believed_until_ms": self.beliefs(),
            "wake_ms": None if wake == FOREVER else self.milliseconds(max(wake, now)),
            "ended": (error.code.name if error else "OK") if self.session.ended else None,
        }

    # Inputs.

    def add(self, told, now):
        self.seats.add(told["seat"])
        options = _seat.SeatOptions(
            told["election"],
            told.get("value", "").encode(),
            told.get("priority", 0),
            told.get("has_work", False),
            nanoseconds(told, "stop_grace_ms"),
            told.get("one_term", False),
        )
        self.session.add(told["seat"], options)

    def proclaim(self, told, now):
        self.session.proclaim(told["seat"], told["value"].encode(), now)

    def leave(self, told, now):
        self.session.leave(told["seat"], now)

    def abandon(self, told, now):
        self.session.abandon(told["seat"], now)

    def work_ended(self, told, now):
        self.session.work_ended(told["seat"], now)

    def belief_ended(self, told, now):
        self.session.belief_ended(told["seat"], now)

    def end(self, told, now):
        until = nanoseconds(told, "insist_until_ms")
        self.session.end(now, None if until is None else START + until)

    def campaign_done(self, told, now):
        response = json_format.ParseDict(told.get("response", {}), pb.CampaignResponse())
        self.session.on_campaign_done(told["call"], now, response, error_of(told))

    def resign_done(self, told, now):
        self.session.on_resign_done(told["call"], now, error_of(told))

    def stream_message(self, told, now):
        message = json_format.ParseDict(told["message"], pb.KeepAliveResponse())
        self.session.on_stream_message(told["stream"], message, now)

    def stream_closed(self, told, now):
        self.session.on_stream_closed(told["stream"], now)

    def service_replaced(self, _told, now):
        self.session.on_service_replaced(now)

    # Outputs.

    @staticmethod
    def milliseconds(time):
        assert isinstance(time, int)
        return (time - START) / MILLISECOND

    def beliefs(self):
        untils = {seat: self.session.believed_until(seat) for seat in self.seats}
        return {str(seat): self.milliseconds(until) for seat, until in untils.items() if until}

    def told_effect(self, effect):
        if isinstance(effect, _effects.SendCampaign):
            told = {"call": effect.call, "patience_ms": effect.patience / MILLISECOND}
            request = pb.CampaignRequest.FromString(effect.request.SerializeToString())
            if request.request_id:
                if request.request_id not in self.request_ids:
                    self.request_ids.append(request.request_id)
                told["request_id"] = self.request_ids.index(request.request_id) + 1
                request.ClearField("request_id")
            return {"campaign": {**told, "request": json_format.MessageToDict(request)}}
        if isinstance(effect, _effects.SendResign):
            request = json_format.MessageToDict(effect.request)
            patience = effect.patience / MILLISECOND
            return {"resign": {"call": effect.call, "request": request, "patience_ms": patience}}
        if isinstance(effect, _effects.SendRenewal):
            request = json_format.MessageToDict(effect.request)
            return {"renew": {"stream": effect.stream, "request": request}}
        if isinstance(effect, _effects.UseAnotherReplica):
            return {"another_replica": {"silent": effect.silent}}
        name = {_effects.OpenStream: "open", _effects.CloseStream: "close"}[type(effect)]
        return {name: {"stream": effect.stream}}

    @staticmethod
    def told_event(event):
        if isinstance(event, _seat.Standing):
            return {"event": "standing", "position": event.place.position}
        if isinstance(event, _seat.Elected):
            return {"event": "elected", "term": event.leadership.term}
        if isinstance(event, _seat.HandoverAsked):
            return {"event": "handover_asked", "successor": event.successor}
        if isinstance(event, _seat.Lost):
            return {"event": "lost", "cause": pb.Cause.Name(event.cause)}
        if isinstance(event, _seat.Troubled):
            return {"event": "troubled", "code": event.error.code.name}
        if isinstance(event, _seat.Refused):
            return {"event": "refused", "code": event.error.code.name}
        names = {
            _seat.Suspended: "suspended",
            _seat.Resumed: "resumed",
            _seat.StopWork: "stop_work",
            _seat.Overrun: "overrun",
        }
        return {"event": names[type(event)]}


def expected_of(step):
    """What a step expects, including everything that it leaves out."""
    return {
        "effects": step.get("effects", []),
        "news": step.get("news", []),
        "gone": step.get("gone", []),
        "believed_until_ms": step.get("believed_until_ms", {}),
        "wake_ms": step.get("wake_ms"),
        "ended": step.get("ended"),
    }


def match_range(expected, said):
    """Any time within a range matches it."""
    wake, said_wake = expected["wake_ms"], said["wake_ms"]
    if isinstance(wake, list) and said_wake is not None and wake[0] <= said_wake <= wake[1]:
        said["wake_ms"] = wake


@pytest.mark.parametrize("scenario", list(scenarios("session")))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_session_follows_the_vectors(scenario, seed):
    player = Player(scenario["options"], seed)
    for step in scenario["steps"]:
        expected = expected_of(step)
        said = player.play(step)
        match_range(expected, said)

        assert said == expected, f"in the step {json.dumps(step)}"


@pytest.mark.parametrize("scenario", list(scenarios("observation")))
def test_the_observation_follows_the_vectors(scenario):
    observation = _observation.Observation(_observation.Wish(**scenario["wish"]))
    for step in scenario["steps"]:
        if "message" in step:
            message = json_format.ParseDict(step["message"], pb.ObserveResponse())
            assert observation.note(message).value == step["verdict"], json.dumps(step)
        if "selectors" in step:
            asked = json_format.MessageToDict(observation.request()).get("selectors", [])
            assert sorted(asked, key=str) == sorted(step["selectors"], key=str), json.dumps(step)


@pytest.mark.parametrize("scenario", list(scenarios("service")))
def test_the_service_is_chosen_by_the_vectors(scenario):
    answers = [(answer["endpoint"], answer.get("service_id")) for answer in scenario["answers"]]
    ask = (scenario.get("known", ""), scenario.get("pinned", False), answers)
    if "error" in scenario:
        expected = scenario["error"]
        with pytest.raises(ServiceError) as failure:
            _service.choose(*ask)
        error = failure.value
        assert (error.code.name, error.reason) == (expected["code"], expected.get("reason", ""))
        assert expected.get("message", error.details) == error.details
        return
    chosen = _service.choose(*ask)
    assert chosen == scenario["chosen"]
    not_used = [endpoint for endpoint, said in answers if said and said != chosen]
    assert not_used == scenario.get("not_used", [])
