package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.testing.Database;
import io.tenure.testing.Service;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The fence in transactions of a real MariaDB, which holds Tenure's tables too. */
@Timeout(60)
class SqlFenceTest {
  private static Database database;
  private static Service service;
  private TenureClient client;
  private Elector elector;
  private Connection connection;

  @BeforeAll
  static void startAll() {
    database = new Database();
    service = Service.startOn(database.store());
  }

  @AfterAll
  static void stopAll() {
    service.close();
    database.close();
  }

  @BeforeEach
  void start() throws SQLException {
    client = TenureClient.create(service.endpoint());
    elector = new Elector(client);
    connection = database.connect();
    execute("CREATE OR REPLACE TABLE sales (term BIGINT) ENGINE = InnoDB");
  }

  @AfterEach
  void stop() throws SQLException {
    client.close();
    connection.close();
  }

  private int execute(String statement) throws SQLException {
    try (Statement sent = connection.createStatement()) {
      return sent.executeUpdate(statement);
    }
  }

  private SqlFence.Transaction<Integer> sale(Seat seat) {
    return () -> execute("INSERT INTO sales VALUES (" + seat.term() + ")");
  }

  private List<Long> sales() throws SQLException {
    List<Long> terms = new ArrayList<>();
    try (Connection other = database.connect();
        Statement sent = other.createStatement();
        ResultSet rows = sent.executeQuery("SELECT term FROM sales")) {
      while (rows.next()) terms.add(rows.getLong(1));
    }
    return terms;
  }

  private static SqlFence fenceOf(Seat seat) {
    return new SqlFence(seat.fence());
  }

  @Test
  void aTransactionOfTheCurrentTermIsCommitted() throws Exception {
    try (Seat seat = elector.lead("shop")) {
      assertEquals(1, fenceOf(seat).guarded(connection, sale(seat)));

      assertEquals(List.of(seat.term()), sales());
      assertTrue(connection.getAutoCommit());
    }
  }

  @Test
  void aTransactionOfAnOldTermChangesNothing() throws Exception {
    Seat old = elector.lead("shop");
    old.close();

    try (Seat current = elector.lead("shop")) {
      TermOverException refusal =
          assertThrows(TermOverException.class, () -> fenceOf(old).guarded(connection, sale(old)));
      assertEquals(1644, ((SQLException) refusal.getCause()).getErrorCode());
      assertEquals(List.of(), sales());
      assertEquals(1, fenceOf(current).guarded(connection, sale(current)));
    }
  }

  @Test
  void theNextTermWaitsForAnOpenTransaction() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    Seat seat = elector.lead("slow");
    CompletableFuture<Void> transaction =
        CompletableFuture.runAsync(
            () -> {
              try {
                fenceOf(seat)
                    .guarded(
                        connection,
                        () -> {
                          begun.countDown();
                          awaitIt(mayEnd);
                          return execute("INSERT INTO sales VALUES (" + seat.term() + ")");
                        });
              } catch (SQLException failure) {
                throw new AssertionError(failure);
              }
            });
    begun.await();
    seat.close();

    Candidacy successor = elector.stand("slow");
    assertEquals(Optional.empty(), successor.awaitSeat(Duration.ofMillis(300)));
    mayEnd.countDown();
    transaction.get();

    assertEquals(seat.term() + 1, successor.awaitSeat().term());
    assertEquals(List.of(seat.term()), sales());
  }

  private static void awaitIt(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interruption) {
      throw new AssertionError(interruption);
    }
  }

  @Test
  void anExceptionFromTheWorkRollsItBack() throws Exception {
    try (Seat seat = elector.lead("shop")) {
      assertThrows(
          ArithmeticException.class,
          () ->
              fenceOf(seat)
                  .guarded(
                      connection,
                      () -> {
                        sale(seat).run();
                        throw new ArithmeticException("on purpose");
                      }));

      assertEquals(List.of(), sales());
      assertTrue(connection.getAutoCommit());
    }
  }

  @Test
  void anUndeclaredExceptionFromTheWorkRollsItBack() throws Exception {
    try (Seat seat = elector.lead("shop")) {
      assertThrows(
          IOException.class,
          () ->
              fenceOf(seat)
                  .guarded(
                      connection,
                      () -> {
                        sale(seat).run();
                        throw undeclared(new IOException("on purpose"));
                      }));

      assertEquals(List.of(), sales());
      assertTrue(connection.getAutoCommit());
    }
  }

  /** As other languages do: to the compiler the exception looks unchecked. */
  @SuppressWarnings("unchecked")
  static <Any extends Throwable> Any undeclared(Throwable checked) throws Any {
    throw (Any) checked;
  }

  @Test
  void aDeadlockIsTriedAgainWithTheFence() throws Exception {
    List<Integer> tries = new ArrayList<>();

    try (Seat seat = elector.lead("shop")) {
      fenceOf(seat)
          .guarded(
              connection,
              () -> {
                tries.add(1);
                int rows = sale(seat).run();
                if (tries.size() == 1) throw new SQLException("Deadlock found", "40001", 1213);
                return rows;
              });

      assertEquals(List.of(seat.term()), sales());
    }
    assertEquals(2, tries.size());
  }

  @Test
  void afterTheLastTryTheErrorIsThrown() throws Exception {
    List<Integer> tries = new ArrayList<>();
    SQLException deadlock = new SQLException("Deadlock found", "40001", 1213);

    try (Seat seat = elector.lead("shop")) {
      SQLException last =
          assertThrows(
              SQLException.class,
              () ->
                  fenceOf(seat)
                      .guarded(
                          connection,
                          () -> {
                            tries.add(1);
                            throw deadlock;
                          }));
      assertSame(deadlock, last);
    }
    assertEquals(5, tries.size());
  }

  @Test
  void anyNameCanBeWritten() {
    SqlFence fence = new SqlFence(new Fence("a'b\\é", 7), "my `own`");

    assertEquals("CALL `my ``own```.tenure_fence(_utf8mb4 x'6127625cc3a9', 7)", fence.statement());
  }

  @Test
  void theTermIsWrittenInDigitsThatSqlKnows() {
    Locale before = Locale.getDefault(Locale.Category.FORMAT);
    Locale.setDefault(Locale.Category.FORMAT, Locale.forLanguageTag("ar-EG-u-nu-arab"));
    try {
      String statement = new SqlFence(new Fence("shop", 7)).statement();

      assertEquals("CALL `tenure`.tenure_fence(_utf8mb4 x'73686f70', 7)", statement);
    } finally {
      Locale.setDefault(Locale.Category.FORMAT, before);
    }
  }

  @Test
  void onlyTheProceduresOwnErrorIsTheEndOfATerm() {
    String refusal = "(conn=7) tenure_fence: term 7 of election 'shop' does not stand";
    assertEquals(
        SqlFence.Meaning.TERM_OVER, SqlFence.meaningOf(new SQLException(refusal, "45000", 1644)));
    assertEquals(
        SqlFence.Meaning.OTHER, SqlFence.meaningOf(new SQLException("mine", "45000", 1644)));
    assertEquals(
        SqlFence.Meaning.TRY_AGAIN, SqlFence.meaningOf(new SQLException("", "HY000", 1205)));
    assertEquals(
        SqlFence.Meaning.TRY_AGAIN, SqlFence.meaningOf(new SQLException("", "HY000", 3101)));
    assertEquals(
        SqlFence.Meaning.TRY_AGAIN,
        SqlFence.meaningOf(new SQLException("Got error 149 - during COMMIT", "HY000", 1180)));
    assertEquals(
        SqlFence.Meaning.OTHER,
        SqlFence.meaningOf(new SQLException("Got error 28", "HY000", 1180)));
    assertEquals(SqlFence.Meaning.OTHER, SqlFence.meaningOf(new SQLException("", "42000", 1064)));
  }
}
