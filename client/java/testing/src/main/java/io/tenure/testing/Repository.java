package io.tenure.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** The files that the tests share with other libraries. */
public final class Repository {
  public static final Path ROOT = root();
  public static final Path BIN = bin();

  private Repository() {}

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("CONTRIBUTING.md"))) folder = folder.getParent();
    return folder;
  }

  private static Path bin() {
    String set = System.getenv("TENURE_BIN");
    return set == null ? ROOT.resolve("build/bin") : Path.of(set);
  }
}
