#!/usr/bin/python3
"""Tests of run.py: how it parses a page, what it refuses, and that a block that fails fails its page."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import run


def block(language, *lines):
    return "".join(f"{line}\n" for line in (f"```{language}", *lines, "```"))


def setUpModule():
    run.require_namespaces()


class ParseTest(unittest.TestCase):
    def refuses(self, page, why):
        with self.assertRaisesRegex(run.WrongPage, why):
            run.parse(page)

    def test_blocks_and_comments_are_steps_in_order(self):
        page = ("# Title\n<!-- doc-test: run make-ready -->\n" + block("sh", "a", "b") + block("sql", "SELECT 1") +
                "<!-- doc-test: run\nc\nd\n-->\n" + block("cpp", "int i;"))

        self.assertEqual(run.parse(page), [
            run.Step(2, "make-ready\n", hidden=True), run.Step(4, "a\nb\n"),
            run.Step(8, "SELECT 1\n", reader="mariadb"), run.Step(11, "c\nd\n", hidden=True),
            run.Step(15, "int i;\n", reader="compile")])

    def test_a_comment_changes_the_block_below_it_and_no_other(self):
        page = "<!-- doc-test: piped to sqlite3 -->\n" + block("sql", "SELECT 1") + block("sql", "SELECT 2")

        self.assertEqual([step.reader for step in run.parse(page)], ["sqlite3", "mariadb"])

    def test_a_block_that_cannot_run_has_its_reason(self):
        step, = run.parse("<!-- doc-test: not run: it needs a cluster -->\n" + block("sh", "kubectl"))

        self.assertEqual(step.why_not, "it needs a cluster")

    def test_another_suite_may_run_a_block_if_it_runs_in_ci(self):
        step, = run.parse("<!-- doc-test: run by make test -->\n" + block("sh", "make test"))

        self.assertEqual(step.why_not, "run by make test")
        self.refuses("<!-- doc-test: run by make clean -->\n" + block("sh", "make clean"), "3: .*`make clean`")

    def test_the_indentation_of_a_list_is_not_of_the_block(self):
        step, = run.parse("1. First:\n\n   ```sh\n   if a; then\n     b\n   fi\n   ```\n")

        self.assertEqual((step.line, step.text), (4, "if a; then\n  b\nfi\n"))

    def test_the_commands_of_a_transcript_are_steps(self):
        page = block("", "$ list", "NAME  TERM", "a        1", "$ quiet", "$ show", "it") + block("", "no command")

        self.assertEqual(run.parse(page), [run.Step(2, "list\n", expected="NAME  TERM\na        1\n"),
                                           run.Step(5, "quiet\n"), run.Step(6, "show\n", expected="it\n")])

    def test_a_block_that_is_not_of_its_language_is_refused(self):
        self.refuses(block("json", '{"a":1}', '{"a":1'), "2: not json")
        self.refuses(block("yaml", "a: [1"), "2: not yaml")
        self.refuses(block("ini", "a=b"), "2: not ini")
        self.refuses(block("python", "if True"), "2: not python")
        self.refuses(block("xml", "<a>", "<b/>"), "2: not xml")
        self.assertEqual(run.parse(block("json", '{"a":1}', '{"a":2}') + block("yaml", "a: 1") +
                                   block("ini", "[a]", "b=%c") + block("xml", "<a/>", "<b/>")), [])

    def test_an_unknown_or_endless_part_is_refused(self):
        self.refuses("\n" + block("shell", "a"), "3: unknown language 'shell'")
        self.refuses("\n<!-- doc-test: skip -->\n" + block("sh", "a"), "2: unknown comment 'skip'")
        self.refuses("\n<!-- doctest: not run: no -->\n" + block("sh", "a"), "2: .* misspelt")
        self.refuses("\n<!-- doc-test: run a\n" + block("sh", "a"), "2: .* no end")
        self.refuses("\n```sh\na\n", "2: .* no end")

    def test_a_comment_without_a_block_is_refused(self):
        comment = "\n<!-- doc-test: not run: it needs a cluster -->\n"
        self.refuses(comment, "2: .* no block")
        self.refuses(comment + "Text.\n" + block("sh", "a"), "2: .* no block")
        self.refuses(comment + "<!-- doc-test: run a -->\n" + block("sh", "a"), "2: .* no block")


class CheckTest(unittest.TestCase):
    def check(self, page):
        """Whether the page passed, and what was printed."""
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as installed, contextlib.redirect_stdout(said):
            (pathlib.Path(installed) / "usr/local").mkdir(parents=True)
            went_well = run.check("page.md", page, installed)
        return went_well, said.getvalue()

    def test_the_blocks_of_a_page_run_in_one_shell(self):
        page = block("sh", "cd tests; name=tenure") + block("sh", "[ $name/$(basename $PWD) = tenure/tests ]")

        self.assertEqual(self.check(page), (True, 'page.md: 2 run\n'))

    def test_a_page_fails_with_its_first_block_that_fails(self):
        page = block("sh", "true") + block("sh", "true", "echo before; false", "true") + block("sh", "echo after")

        went_well, said = self.check(page)

        self.assertFalse(went_well)
        self.assertRegex(said, r"^page.md:5: this did not succeed:\n(.*\n)*before\nline 6: exit status 1: false\n")
        self.assertNotIn("after", said)

    def test_a_page_fails_if_a_pipe_a_variable_or_the_shell_itself_does(self):
        for command in ("false | true", "echo $unknown", "exit 0"):
            self.assertFalse(self.check(block("sh", command))[0], command)

    def test_a_transcript_is_compared_without_numbers_and_spaces(self):
        self.assertTrue(self.check(block("", "$ echo 'term 17  of orders'", "term 3 of  orders"))[0])
        self.assertTrue(self.check(block("", "$ echo no; false", "no"))[0])
        went_well, said = self.check(block("", "$ echo 'term 17 of orders'", "term 3 of payments"))
        self.assertFalse(went_well)
        self.assertIn("page.md:2: this did not print 'term # of payments'", said)

    def test_a_page_leaves_nothing_behind(self):
        left = pathlib.Path(run.CHECKOUT / "left-behind")
        self.assertTrue(self.check(block("sh", "sleep 1000 &", "echo >left-behind; cp left-behind /etc/"))[0])
        self.assertFalse(left.exists())
        self.assertFalse(self.check(block("sh", "echo >/usr/left-behind"))[0])

    def test_a_block_that_does_not_end_is_ended(self):
        seconds, run.SECONDS_MAX = run.SECONDS_MAX, 0.5
        self.addCleanup(setattr, run, "SECONDS_MAX", seconds)
        self.assertRegex(self.check(block("sh", "sleep 1000"))[1], "did not succeed within 0.5 s")


if __name__ == "__main__":
    unittest.main()
