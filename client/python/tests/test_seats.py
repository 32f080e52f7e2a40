"""The seats of a session."""

from tenure import _seats
from tenure._lease import Lease
from tenure._seat import SeatOptions
from tenure.v1 import election_pb2 as pb


def test_closed_terms_are_remembered_of_the_last_elections_only(monkeypatch):
    monkeypatch.setattr(_seats, "CLOSED_TERMS_MAX", 3)
    seats = _seats.Seats()

    def lead_and_leave(number, election):
        seat = seats.add(number, SeatOptions(election)).seat
        seat.on_elected(pb.Leadership(election=election, term=7), 1, Lease())
        seat.leave(1)
        seat.on_resigned(7, False, 1)
        assert seats.take_gone() == [number]

    for number, election in enumerate(["a", "b", "c", "a", "d"]):
        lead_and_leave(number, election)

    closed = {name: seats.add(9, SeatOptions(name)).seat.closed_term for name in "abcd"}
    assert closed == {"a": 7, "b": 0, "c": 7, "d": 7}
