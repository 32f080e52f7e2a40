package io.tenure.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;

/** A MariaDB of the test's own, with the databases {@code tenure} and {@code shop}. */
public final class Database implements AutoCloseable {
  private final Path folder = Service.temporaryFolder();
  private final String address = Service.freeAddress();
  private final Process process;

  public Database() {
    try {
      Path users = folder.resolve("users.sql");
      Files.writeString(
          users,
          """
          FLUSH PRIVILEGES;
          CREATE USER root@'%';
          GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
          CREATE DATABASE tenure;
          CREATE DATABASE shop;
          """);
      String data = "--datadir=" + folder.resolve("data");
      Service.output(
          List.of(
              "mariadb-install-db",
              "--no-defaults",
              data,
              "--skip-test-db",
              "--auth-root-authentication-method=normal",
              "--extra-file=" + users));
      String[] hostAndPort = address.split(":");
      process =
          new ProcessBuilder(
                  "mariadbd",
                  "--no-defaults",
                  data,
                  "--socket=" + folder.resolve("socket"),
                  "--bind-address=" + hostAndPort[0],
                  "--port=" + hostAndPort[1],
                  "--skip-log-bin",
                  "--user=root")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      Service.awaitLine(process.getErrorStream(), "ready for connections");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The store of the service. */
  public String store() {
    return "mysql://root@" + address + "/tenure";
  }

  /** The URL of the application's tables. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection("jdbc:mariadb://" + address + "/shop", "root", "");
  }

  @Override
  public void close() {
    Service.end(process);
    Service.delete(folder);
  }
}
