package io.tenure;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;

/**
 * Fencing inside your own SQL transactions, with JDBC.
 *
 * <pre>{@code
 * SqlFence fence = new SqlFence(seat.fence());
 * fence.guarded(connection, () -> {
 *   try (Statement statement = connection.createStatement()) {
 *     return statement.executeUpdate("UPDATE stock SET pieces = pieces - 1");
 *   }
 * });
 * }</pre>
 *
 * <p>If your tables are on the same MySQL or MariaDB server as Tenure's, a transaction that starts
 * with a fence commits only while its term lasts, and the next term is not granted before the
 * transaction has ended. {@code docs/fencing.md} has the rules. Immutable, and safe for any thread;
 * a JDBC connection is not.
 */
public final class SqlFence {
  /** What an exception of a fenced transaction means. */
  public enum Meaning {
    /** Roll back, and stop acting as the leader. */
    TERM_OVER,
    /** It says nothing about the term: roll back, and start again with the fence. */
    TRY_AGAIN,
    /** Roll back; what to do next is up to you. */
    OTHER
  }

  /**
   * The reads and writes of a transaction.
   *
   * @param <Result> its result
   */
  @FunctionalInterface
  public interface Transaction<Result> {
    /**
     * May run several times, and must have no effects that a ROLLBACK does not undo.
     *
     * @return anything
     * @throws SQLException as the driver does
     */
    Result run() throws SQLException;
  }

  // The numbers are those of MySQL's and MariaDB's manuals; the text is that of the procedure:
  // other programs raise 1644, too.
  private static final int SIGNALLED = 1644;
  private static final String REFUSAL = "tenure_fence: term ";
  private static final Set<Integer> TRY_AGAIN =
      Set.of(
          1020, // record has changed since last read
          1205, // lock wait timeout
          1213, // deadlock
          3101); // not certified by Group Replication
  private static final int ERROR_DURING_COMMIT = 1180;
  private static final String DEADLOCK_IN_COMMIT = "error 149 ";
  private static final int TRIES_MAX = 5;

  private final Fence fence;
  private final String database;

  /**
   * For Tenure's tables in the database {@code tenure}.
   *
   * @param fence that of a seat
   */
  public SqlFence(Fence fence) {
    this(fence, "tenure");
  }

  /**
   * For Tenure's tables in another database.
   *
   * @param fence that of a seat
   * @param database its name
   */
  public SqlFence(Fence fence, String database) {
    this.fence = Objects.requireNonNull(fence, "fence");
    this.database = Objects.requireNonNull(database, "database");
  }

  /**
   * The first statement of a transaction: after it has begun, and before anything you read. For
   * frameworks that have transactions of their own. Safe for any election name, character set and
   * SQL mode of the connection.
   *
   * @return a CALL
   */
  public String statement() {
    String hex = HexFormat.of().formatHex(fence.election().getBytes(StandardCharsets.UTF_8));
    String schema = "`" + database.replace("`", "``") + "`";
    return "CALL " + schema + ".tenure_fence(_utf8mb4 x'" + hex + "', " + fence.term() + ")";
  }

  /**
   * What an exception of a fenced transaction means.
   *
   * @param failure the driver's
   * @return what to do next
   */
  public static Meaning meaningOf(SQLException failure) {
    int code = failure.getErrorCode();
    String message = String.valueOf(failure.getMessage());
    if (code == SIGNALLED && message.contains(REFUSAL)) return Meaning.TERM_OVER;
    boolean deadlock = code == ERROR_DURING_COMMIT && message.contains(DEADLOCK_IN_COMMIT);
    return deadlock || TRY_AGAIN.contains(code) ? Meaning.TRY_AGAIN : Meaning.OTHER;
  }

  /**
   * Runs a transaction behind the fence, and commits it. Starts again after errors that can be
   * retried, up to five times in all. On any other error, or the last one, it rolls back. If the
   * connection breaks during COMMIT, it is unknown whether the transaction was committed: check
   * your data.
   *
   * @param <Result> its result
   * @param connection no transaction is open; afterwards its autocommit is as it was
   * @param transaction uses the same connection
   * @return the transaction's result
   * @throws TermOverException if the term has ended: stop acting as the leader
   * @throws SQLException as the driver does
   */
  public <Result> Result guarded(Connection connection, Transaction<Result> transaction)
      throws SQLException {
    boolean autoCommit = connection.getAutoCommit();
    connection.setAutoCommit(false);
    try {
      for (int tries = 1; ; tries++) {
        try {
          return attempt(connection, transaction);
        } catch (SQLException failure) {
          rollBack(connection, failure);
          Meaning meaning = meaningOf(failure);
          if (meaning == Meaning.TERM_OVER) throw new TermOverException(fence, failure);
          if (meaning == Meaning.OTHER || tries >= TRIES_MAX) throw failure;
        } catch (Throwable failure) { // Kotlin, for one, throws any exception undeclared
          rollBack(connection, failure);
          throw failure;
        }
      }
    } finally {
      if (!connection.isClosed()) connection.setAutoCommit(autoCommit);
    }
  }

  private <Result> Result attempt(Connection connection, Transaction<Result> transaction)
      throws SQLException {
    try (Statement call = connection.createStatement()) {
      call.execute(statement());
    }
    Result result = transaction.run();
    connection.commit();
    return result;
  }

  /** If this fails, the connection must not be used again: its transaction is still open. */
  private static void rollBack(Connection connection, Throwable failure) {
    try {
      connection.rollback();
    } catch (SQLException broken) {
      failure.addSuppressed(broken);
      abort(connection, failure);
    }
  }

  private static void abort(Connection connection, Throwable failure) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException broken) {
      failure.addSuppressed(broken);
    }
  }
}
