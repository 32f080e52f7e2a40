package io.tenure;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the tests find what they share with other libraries. */
final class Repository {
  static final Path ROOT = root();

  private Repository() {}

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("CONTRIBUTING.md"))) folder = folder.getParent();
    return folder;
  }
}
