package io.tenure.testing;

import io.tenure.Candidacy;
import io.tenure.ClientMetrics;
import io.tenure.ElectionListener;
import io.tenure.Elector;
import io.tenure.Seat;
import io.tenure.ServiceException;
import io.tenure.TenureClient;
import io.tenure.v1.Cause;
import io.tenure.v1.Standing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process that reports what happens to it; its test denies it any further threads. */
public final class ReportingCandidate {
  private static final Duration LONG = Duration.ofHours(1);

  private ReportingCandidate() {}

  private static synchronized void say(String line) {
    System.out.println(line);
  }

  private static final class Says implements ElectionListener {
    @Override
    public void standing(Candidacy candidacy, Standing place) {
      say("standing");
    }

    @Override
    public void elected(Seat seat) {
      say("elected");
    }

    @Override
    public void trouble(Candidacy candidacy, ServiceException error) {
      say("trouble " + error.getMessage());
    }

    @Override
    public void lost(Seat seat, Cause cause) {
      say("lost " + cause);
    }
  }

  private static final class Renewals implements ClientMetrics {
    @Override
    public void renewed(Duration roundTrip, Duration margin) {
      say("renewed");
    }
  }

  /** The command that starts it. */
  public static List<String> command(String endpoints, int leaseSeconds) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(ReportingCandidate.class.getName());
    command.addAll(List.of(endpoints, String.valueOf(leaseSeconds)));
    return command;
  }

  /** Arguments: the endpoint, and the lease in seconds. */
  public static void main(String[] arguments) throws Exception {
    Duration leaseTtl = Duration.ofSeconds(Long.parseLong(arguments[1]));
    TenureClient client =
        TenureClient.builder()
            .endpoints(arguments[0])
            .leaseTtl(leaseTtl)
            .metrics(new Renewals())
            .build();
    Elector elector = Elector.builder(client).listener(new Says()).build();
    elector.stand(
        "orders",
        seat -> {
          say("working");
          seat.awaitStop(LONG);
        });
    System.in.read();
  }
}
