package io.tenure;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors.CheckedForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Sends a term with each call of a gRPC client; on the other side, a {@link TermGuard} refuses any
 * term lower than the highest it has seen.
 *
 * <pre>{@code
 * stub.withInterceptors(FenceCalls.with(seat.fence())).append(request);
 * }</pre>
 *
 * <p>Use the seat in which the content of the call was decided: in between, a leader may lose the
 * seat and win it back. Thread-safe.
 */
public final class FenceCalls implements ClientInterceptor {
  /** The metadata key of the election's name, in UTF-8. */
  public static final Metadata.Key<byte[]> ELECTION =
      Metadata.Key.of("tenure-election-bin", Metadata.BINARY_BYTE_MARSHALLER);

  /** The metadata key of the term, in decimal digits. */
  public static final Metadata.Key<String> TERM =
      Metadata.Key.of("tenure-term", Metadata.ASCII_STRING_MARSHALLER);

  private final String election;
  private final LongSupplier term;

  private FenceCalls(String election, LongSupplier term) {
    this.election = Validation.checkName(election, "election");
    this.term = term;
  }

  /**
   * Sends this term.
   *
   * @param fence that of a seat
   * @return an interceptor for a stub or a channel
   */
  public static FenceCalls with(Fence fence) {
    return new FenceCalls(fence.election(), fence::term);
  }

  /**
   * Sends the term that {@code term} returns when a call begins, unless the call carries one. If it
   * is 0, the call is not sent, and fails at once with FAILED_PRECONDITION and NOT_LEADER.
   *
   * @param election its name
   * @param term may be called from any thread, and must not wait: {@code candidacy::term}
   * @return an interceptor for a stub or a channel
   * @throws IllegalArgumentException if the name is malformed
   */
  public static FenceCalls with(String election, LongSupplier term) {
    return new FenceCalls(election, term);
  }

  @Override
  public <Request, Response> ClientCall<Request, Response> interceptCall(
      MethodDescriptor<Request, Response> method, CallOptions options, Channel next) {
    return new CheckedForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      protected void checkedStart(Listener<Response> listener, Metadata headers) {
        if (!headers.containsKey(TERM)) {
          long now = term.getAsLong();
          if (now == 0) throw notLeader();
          headers.put(ELECTION, election.getBytes(StandardCharsets.UTF_8));
          headers.put(TERM, String.valueOf(now));
        }
        delegate().start(listener, headers);
      }
    };
  }

  private TermRefusedException notLeader() {
    String details = "this process does not lead election '" + election + "'";
    return TermRefusedException.of(
        Status.Code.FAILED_PRECONDITION, details, "NOT_LEADER", Map.of());
  }

  /** The fence that a call carries. Throws TermRefusedException unless there is exactly one. */
  static Fence fenceOf(Metadata headers) {
    String election = electionOf(headers);
    if (election == null) {
      String details = "the call must name one election in the metadata " + ELECTION.name();
      throw TermRefusedException.of(
          Status.Code.INVALID_ARGUMENT, details, "INVALID_ELECTION_NAME", Map.of());
    }
    long term = termOf(headers);
    if (term == 0) {
      String details = "the call must name one term in the metadata " + TERM.name();
      throw TermRefusedException.of(
          Status.Code.INVALID_ARGUMENT, details, "INVALID_TERM", Map.of());
    }
    return new Fence(election, term);
  }

  /** Null unless there is exactly one, and it is well formed. */
  private static String electionOf(Metadata headers) {
    byte[] bytes = onlyOne(headers.getAll(ELECTION));
    if (bytes == null) return null;
    try {
      String name = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return Validation.checkName(name, "election");
    } catch (CharacterCodingException | IllegalArgumentException malformed) {
      return null;
    }
  }

  /** 0 unless there is exactly one, and it is well formed. */
  private static long termOf(Metadata headers) {
    String digits = onlyOne(headers.getAll(TERM));
    if (digits == null || !digits.matches("[0-9]{1,19}")) return 0;
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException tooLarge) {
      return 0;
    }
  }

  private static <T> T onlyOne(Iterable<T> values) {
    if (values == null) return null;
    Iterator<T> iterator = values.iterator();
    T first = iterator.next();
    return iterator.hasNext() ? null : first;
  }
}
