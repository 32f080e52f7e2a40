package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import io.tenure.v1.Leadership;
import org.junit.jupiter.api.Test;

/** What a session remembers of seats that are gone. */
class SeatsTest {
  private final Seats seats = new Seats();
  private final Lease lease = new Lease();
  private int number;

  private void leadAndLeave(String election, long term) {
    SeatOptions options =
        new SeatOptions(election, ByteString.EMPTY, 0, false, SeatOptions.QUARTER, false);
    Seats.Entry entry = seats.add(++number, options);
    Leadership seat = Leadership.newBuilder().setElection(election).setTerm(term).build();
    entry.seat.onElected(seat, 0, lease);
    entry.seat.abandon(0);
    entry.seat.onResigned(term, false, 0);
    assertEquals(1, seats.takeGone().size());
  }

  @Test
  void theLatestClosedTermsAreKeptAndNoMore() {
    lease.renewed(1, Lease.SECOND);
    leadAndLeave("first", 7);
    leadAndLeave("kept", 7);
    for (int i = 0; i < 9_998; i++) leadAndLeave("jobs/" + i, 1);
    leadAndLeave("kept", 6); // is the latest again, in its highest term
    for (int i = 9_998; i < 9_999; i++) leadAndLeave("jobs/" + i, 1);

    assertEquals(10_000, seats.closedTermsKept());
    SeatOptions again = SeatOptions.unwanted("kept");
    assertEquals(7, seats.add(++number, again).seat.closedTerm());
    assertEquals(0, seats.add(++number, SeatOptions.unwanted("first")).seat.closedTerm());
  }
}
