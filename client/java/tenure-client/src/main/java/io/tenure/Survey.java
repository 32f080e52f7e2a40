package io.tenure;

import io.grpc.stub.StreamObserver;
import io.tenure.Connection.Replica;
import io.tenure.v1.ElectionServiceGrpc.ElectionServiceStub;
import io.tenure.v1.IdentifyRequest;
import io.tenure.v1.IdentifyResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** Asks all endpoints at once which service they belong to. */
final class Survey {
  /** How long a survey may take that no campaign waits for. */
  static final long PATIENCE = 3 * Lease.SECOND;

  private final List<Replica> replicas;
  private final String pinned; // null: none
  private final BiConsumer<Replica, String> late;
  private final ServiceChoice.Answer[] answers; // null: none yet; these under this
  private final Map<String, Integer> votes = new HashMap<>();
  private int missing;
  private boolean isOver;
  private final CompletableFuture<List<ServiceChoice.Answer>> end = new CompletableFuture<>();

  private Survey(List<Replica> replicas, String pinned, BiConsumer<Replica, String> late) {
    this.replicas = List.copyOf(replicas);
    this.pinned = pinned;
    this.late = late;
    answers = new ServiceChoice.Answer[replicas.size()];
    missing = replicas.size();
  }

  /**
   * Ends when all have answered, when more than half of them agree, or after {@code patience}.
   *
   * @param pinned an agreement on another id does not end it early; null if none is pinned
   * @param late gets the id of each replica that answers after an early end, within {@code
   *     patience}; on one of gRPC's threads
   */
  static CompletableFuture<List<ServiceChoice.Answer>> of(
      List<Replica> replicas, String pinned, long patience, BiConsumer<Replica, String> late) {
    Survey survey = new Survey(replicas, pinned, late);
    for (int i = 0; i < replicas.size(); i++) survey.ask(i, patience);
    return survey.end;
  }

  private void ask(int index, long patience) {
    StreamObserver<IdentifyResponse> answer =
        new StreamObserver<>() {
          @Override
          public void onNext(IdentifyResponse response) {
            String id = response.getServiceId();
            if (!id.isEmpty()) take(index, id, null);
          }

          @Override
          public void onError(Throwable failure) {
            take(index, null, ServiceException.of(failure));
          }

          @Override
          public void onCompleted() {
            take(index, null, null);
          }
        };
    try {
      ElectionServiceStub stub = replicas.get(index).plainStub();
      stub.withDeadlineAfter(patience, TimeUnit.NANOSECONDS)
          .identify(IdentifyRequest.getDefaultInstance(), answer);
    } catch (RuntimeException | Error notSent) {
      answer.onError(notSent);
    }
  }

  private void take(int index, String id, ServiceException error) {
    List<ServiceChoice.Answer> taken;
    synchronized (this) {
      if (answers[index] != null) return; // the end of an answered call
      answers[index] = new ServiceChoice.Answer(replicas.get(index).endpoint(), id, error);
      missing--;
      int agreed = id == null ? 0 : votes.merge(id, 1, Integer::sum);
      boolean isMajority = 2 * agreed > answers.length && (pinned == null || pinned.equals(id));
      if (!isOver && missing > 0 && !isMajority) return;
      isOver = true;
      taken = new ArrayList<>();
      for (int i = 0; i < answers.length; i++) {
        ServiceChoice.Answer none =
            new ServiceChoice.Answer(replicas.get(i).endpoint(), null, null);
        taken.add(answers[i] == null ? none : answers[i]);
      }
    }
    if (!end.complete(taken) && id != null) late.accept(replicas.get(index), id);
  }
}
