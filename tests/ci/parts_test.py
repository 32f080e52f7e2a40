#!/usr/bin/python3
"""Tests of scripts/ci-parts.py: which parts of .ci/run a change needs."""
import importlib.util
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/ci-parts.py"
spec = importlib.util.spec_from_file_location("ci_parts", SCRIPT)
ci_parts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ci_parts)

EVERYTHING = ci_parts.parts(None)


def targets(*paths):
    """The parts that a change of these paths makes, without those that are always made."""
    made = ci_parts.parts(paths)
    assert made[: len(ci_parts.ALWAYS)] == ci_parts.ALWAYS, made
    return made[len(ci_parts.ALWAYS) :]


class PartsTest(unittest.TestCase):
    def test_a_change_of_one_library_makes_its_tests_its_bad_days_and_the_pages(self):
        self.assertEqual(
            targets("client/go/elector.go"), ["test-clients LANGUAGES='go'", "bad-days ROUNDS=1 LANGUAGES='go'", "test-docs"]
        )

    def test_a_change_of_the_server_makes_no_library(self):
        for path in ("core/law/law.cc", "storage/mysql/pool.cc", "server/engine/engine.cc"):
            made = targets(path)
            self.assertIn("test-engines", made)
            self.assertIn("test-clusters FAILOVERS=0", made)
            self.assertIn("chaos SECONDS=60", made)
            self.assertIn("test WITHOUT='unit|sim'", made)
            self.assertFalse([part for part in made if part.startswith("test-clients")])

    def test_a_change_of_the_law_lives_through_bad_days_with_the_programs_that_are_built_on_it(self):
        for path in ("core/lease.h", "core/law/law.cc"):
            self.assertIn("bad-days ROUNDS=1 LANGUAGES='cpp run'", targets(path))

    def test_a_change_of_the_contract_the_machines_or_the_vectors_makes_every_library(self):
        for path in ("proto/tenure/v1/election.proto", "client/cpp/machine/seat.cc", "tests/polyglot/vectors/seat.txt"):
            self.assertIn("test-clients LANGUAGES='go java python typescript'", targets(path))
            self.assertIn("bad-days ROUNDS=1 LANGUAGES='cpp go java python run typescript'", targets(path))

    def test_a_change_of_the_chart_or_of_a_metric_makes_both_and_their_tests(self):
        for path in ("helm/tenure/values.yaml", "metrics/metrics.h", "tests/alerts/TenureDown.yaml"):
            made = targets(path)
            self.assertIn("test-helm", made)
            self.assertIn("test-monitoring", made)
            self.assertNotIn("test-engines", made)

    def test_a_change_of_a_page_runs_its_commands(self):
        self.assertEqual(targets("docs/cli.md"), ["test-docs", "test WITHOUT='unit|sim'"])

    def test_a_path_that_no_rule_knows_makes_everything(self):
        for path in ("Makefile", "scripts/build.sh", ".ci/run", "a-new-room/file.cc"):
            self.assertEqual(ci_parts.parts([path]), EVERYTHING, path)

    def test_every_path_of_a_change_counts(self):
        made = targets("client/go/elector.go", "client/python/tenure/elector.py", "helm/tenure/values.yaml")
        self.assertIn("test-clients LANGUAGES='go python'", made)
        self.assertIn("test-helm", made)


class ChangedTest(unittest.TestCase):
    """In a repository of its own, with a commit that passed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name) / "repository"
        (self.top / "scripts").mkdir(parents=True)
        (self.top / "scripts/ci-parts.py").write_text(SCRIPT.read_text())
        self.environment = {"TENURE_CI_PASSED": str(pathlib.Path(folder.name) / "passed"), "PATH": "/usr/bin:/bin", "HOME": folder.name}
        self.git("init", "--quiet")
        self.commit("first")

    def git(self, *arguments):
        identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", "-C", self.top, *identity, *arguments], check=True, capture_output=True)

    def commit(self, message):
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)

    def write(self, path):
        (self.top / path).parent.mkdir(parents=True, exist_ok=True)
        (self.top / path).write_text(path)

    def run_script(self, *arguments):
        command = ["/usr/bin/env", "python3", self.top / "scripts/ci-parts.py", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=self.environment).stdout.splitlines()

    def test_everything_is_made_while_no_commit_has_passed(self):
        self.assertEqual(self.run_script(), EVERYTHING)

    def test_only_what_changed_since_the_commit_that_passed_counts(self):
        self.write("core/law/law.cc")
        self.commit("before")
        self.run_script("passed")
        self.write("client/go/elector.go")
        self.commit("a change")
        self.write("client/go/not_committed.go")

        self.assertEqual(self.run_script(), ci_parts.parts(["client/go/elector.go"]))

    def test_all_makes_everything_whatever_passed(self):
        self.run_script("passed")

        self.assertEqual(self.run_script("all"), EVERYTHING)

    def test_a_commit_that_is_not_in_the_history_is_not_compared_with(self):
        self.write("core/law/law.cc")
        self.commit("left out")
        self.run_script("passed")
        self.git("reset", "--quiet", "--hard", "HEAD~")

        self.assertEqual(self.run_script(), EVERYTHING)

    def test_an_uncommitted_change_is_not_recorded_as_passed(self):
        self.write("core/law/law.cc")
        self.run_script("passed")

        self.assertEqual(self.run_script(), EVERYTHING)


if __name__ == "__main__":
    unittest.main()
