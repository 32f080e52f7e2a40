package io.tenure.testing;

import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.TenureClient;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;

/**
 * A process that leads an election, and answers each line of its input with whether it leads; at
 * the end of its input it returns from {@code main} without closing its client.
 */
public final class Candidate {
  private Candidate() {}

  /** Arguments: the endpoint, the election, and the lease in seconds. */
  public static void main(String[] arguments) throws Exception {
    Duration leaseTtl = Duration.ofSeconds(Long.parseLong(arguments[2]));
    TenureClient client = TenureClient.builder().endpoints(arguments[0]).leaseTtl(leaseTtl).build();
    Seat seat = new Elector(client).stand(arguments[1]).awaitSeat();
    System.out.println("leading");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    while (input.readLine() != null) System.out.println(seat.isLeader());
  }
}
