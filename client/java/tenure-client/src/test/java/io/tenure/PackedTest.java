package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tenure.testing.Programs;
import io.tenure.testing.Repository;
import io.tenure.testing.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** The packed libraries in empty Maven projects, with the README's programs unchanged. */
@EnabledIfEnvironmentVariable(named = "TENURE_DIST", matches = ".+")
@Timeout(300)
class PackedTest {
  private static final Path README = Repository.ROOT.resolve("client/java/README.md");
  private static final String PLACE = "file:///path/to/tenure/dist/maven";

  private Service service;
  private Path folder;
  private final Programs programs = new Programs();

  @BeforeEach
  void start() {
    service = Service.start();
    folder = Service.temporaryFolder();
  }

  @AfterEach
  void stop() {
    programs.close();
    service.close();
    Service.delete(folder);
  }

  /** The blocks of the README in this language that contain this text. */
  private static List<String> blocks(String language, String text) throws IOException {
    return Pattern.compile("^```" + language + "\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(Files.readString(README))
        .results()
        .map((MatchResult match) -> match.group(1))
        .filter(block -> block.contains(text))
        .toList();
  }

  private static String block(String language, String text) throws IOException {
    List<String> found = blocks(language, text);
    assertEquals(1, found.size(), text);
    return found.get(0).replace(PLACE, "file://" + System.getenv("TENURE_DIST") + "/maven");
  }

  /** Compiles programs of the README in an empty project; returns the class path. */
  private String compile(String artifact, String... programs) throws IOException {
    String pom =
        """
        <project xmlns="http://maven.apache.org/POM/4.0.0">
          <modelVersion>4.0.0</modelVersion>
          <groupId>of.the.user</groupId>
          <artifactId>empty</artifactId>
          <version>1</version>
        """;
    String dependencies =
        block("xml", "<artifactId>tenure-client").replace("tenure-client", artifact);
    Files.writeString(folder.resolve("pom.xml"), pom + dependencies + "</project>");
    Path classPath = folder.resolve("class-path");
    Service.output(
        List.of(
            "mvn",
            "--quiet",
            "--batch-mode",
            "--file",
            folder.resolve("pom.xml").toString(),
            "-Dmaven.repo.local=" + localRepository(),
            "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath",
            "-Dmdep.outputFile=" + classPath));
    String jars = Files.readString(classPath);
    List<String> javac = new ArrayList<>(List.of(tool("javac"), "-cp", jars, "-d"));
    javac.add(folder.toString());
    for (String program : programs) {
      Path source = folder.resolve(program + ".java");
      Files.writeString(source, block("java", "class " + program + " "));
      javac.add(source.toString());
    }
    Service.output(javac);
    return folder + ":" + jars;
  }

  /** The machine's own repository, but without anything of Tenure. */
  private Path localRepository() throws IOException {
    Path home = Path.of(System.getProperty("user.home"), ".m2/repository");
    Path machines = Path.of(System.getProperty("localRepository", home.toString()));
    Path own = Files.createDirectories(folder.resolve("repository/io")).getParent();
    linkAll(machines, own, "io");
    linkAll(machines.resolve("io"), own.resolve("io"), "tenure");
    return own;
  }

  private static void linkAll(Path from, Path to, String except) throws IOException {
    try (Stream<Path> entries = Files.list(from)) {
      for (Path entry : entries.toList()) {
        Path name = entry.getFileName();
        if (!name.toString().equals(except)) {
          Files.createSymbolicLink(to.resolve(name), entry);
        }
      }
    }
  }

  private void run(String classPath, String program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(tool("java"), "-cp", classPath, program));
    command.addAll(List.of(arguments));
    programs.start(command, folder);
  }

  private static String tool(String name) {
    return Path.of(System.getProperty("java.home"), "bin", name).toString();
  }

  private static double milliseconds(long from, long to) {
    return (to - from) / 1e6;
  }

  @Test
  void theFakeOfTheReadmeMovesItsClock() throws Exception {
    run(compile("tenure-client", "Rehearse"), "Rehearse");

    programs.awaitLine("after an hour: true");
    programs.awaitLine("after an outage: false");
  }

  @Test
  void theReadmeElectsOneOfThreeProcesses() throws Exception {
    String classPath = compile("tenure-client", "Ship", "Latch");
    for (int i = 0; i < 3; i++) run(classPath, "Ship", service.endpoint());
    String leading = "^leading in term (\\d+)";

    Programs.Said first = programs.awaitLine(leading);
    long killed = programs.end(first.by(), "KILL");
    Programs.Said second = programs.awaitLine(leading, first.by());
    long interrupted = programs.end(second.by(), "INT");
    Programs.Said third = programs.awaitLine(leading, second.by());

    System.out.printf(
        "next leader after kill -9: %.0f ms (lease: 2 s), after SIGINT: %.0f ms%n",
        milliseconds(killed, second.at()), milliseconds(interrupted, third.at()));
    assertTheTermsRise(first, second, third);

    for (int i = 0; i < 2; i++) run(classPath, "Latch", service.endpoint());
    String making = "^making a report in term (\\d+)";
    Programs.Said latched = programs.awaitLine(making);
    programs.end(latched.by(), "TERM");
    assertTheTermsRise(latched, programs.awaitLine(making, latched.by()));
  }

  @Test
  void aTaskOfShedLockRunsOnce() throws Exception {
    String classPath = compile("tenure-shedlock", "BackUp");

    for (int i = 0; i < 3; i++) run(classPath, "BackUp", service.endpoint());

    assertEquals(1, programs.awaitEnds("^backing up$"));
  }

  @Test
  void aJobOfSpringRunsInOneOfTwoApplications() throws Exception {
    String classPath = compile("tenure-spring-boot-starter", "Nightly");
    String endpoints = "--tenure.endpoints=" + service.endpoint();
    for (int i = 0; i < 2; i++) run(classPath, "Nightly", endpoints);
    String running = "^running in term (\\d+)";

    Programs.Said first = programs.awaitLine(running);
    programs.end(first.by(), "TERM");

    assertTheTermsRise(first, programs.awaitLine(running, first.by()));
  }

  /** By at least one: on a busy machine, a seat may change hands before the program prints. */
  private static void assertTheTermsRise(Programs.Said... leaders) {
    long before = 0;
    for (Programs.Said leader : leaders) {
      long term = Long.parseLong(leader.match().group(1));
      assertTrue(term > before, term + " does not follow " + before);
      before = term;
    }
  }

  @Test
  void eachJarBringsItsLicenceSourcesAndPages() throws IOException {
    Path packed = Path.of(System.getenv("TENURE_DIST"), "maven", "io", "tenure");
    List<Path> jars;
    try (Stream<Path> all = Files.walk(packed)) {
      jars = all.filter(path -> path.toString().endsWith(".jar")).toList();
    }

    assertTrue(jars.size() >= 3 && jars.size() % 3 == 0, jars::toString);
    for (Path jar : jars) {
      String name = jar.getFileName().toString();
      if (name.endsWith("-javadoc.jar") || name.endsWith("-sources.jar")) continue;
      assertTrue(
          Service.output(List.of("unzip", "-l", jar.toString())).contains("META-INF/LICENSE"),
          name);
      for (String kind : List.of("-javadoc.jar", "-sources.jar", ".pom")) {
        Path beside = jar.resolveSibling(name.replace(".jar", kind));
        assertTrue(Files.exists(beside), beside::toString);
      }
    }
  }
}
