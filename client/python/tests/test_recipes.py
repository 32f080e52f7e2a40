"""The README's programs, unchanged, against a real service."""

import os
import pathlib
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from conftest import PATIENCE, free_address

README = pathlib.Path(__file__).parents[1] / "README.md"


def blocks(endpoint):
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    return [block.replace("127.0.0.1:7070", endpoint) for block in blocks]


class Program:
    """A child process in its own folder. Its lines go to a queue, with its index."""

    def __init__(self, command, folder, lines, index):
        self._process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._lines = lines
        self._index = index
        self._threads = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self._process.stdout, self._process.stderr)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream):
        for line in stream:
            self._lines.put((self._index, line.rstrip(), time.monotonic()))

    @property
    def pid(self):
        return self._process.pid

    def wait(self):
        self._process.wait(PATIENCE)

    def end(self, number=signal.SIGKILL):
        self._process.send_signal(number)
        self._process.wait(PATIENCE)


class Programs:
    """Several programs, which end with the test."""

    def __init__(self):
        self.lines = queue.Queue()
        self.all = []

    def start(self, command, folder):
        self.all.append(Program(command, folder, self.lines, len(self.all)))

    def wait_for(self, pattern, *, by=None, not_by=None):
        """Returns the index of the program that printed it, the match, and the time."""
        said = []
        while True:
            try:
                index, line, at = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"nobody said {pattern!r}, but {said}") from None
            said.append((index, line))
            match = re.search(pattern, line)
            if match and by in (None, index) and (not_by is None or index != not_by):
                return index, match, at


@pytest.fixture
def programs():
    programs = Programs()
    yield programs
    for program in programs.all:
        program.end()


def test_the_readme_resigns_at_sigterm_also_as_the_first_process(service, programs, tmp_path):
    (tmp_path / "ship.py").write_text(blocks(service.endpoint)[0])
    namespace = ["--user", "--map-root-user"] if os.geteuid() else []
    unshare = ["unshare", *namespace, "--pid", "--fork", "--kill-child"]
    for _ in range(2):
        programs.start([*unshare, sys.executable, "ship.py", service.endpoint], tmp_path)

    leader, _, _ = programs.wait_for("leading in term")
    outer = programs.all[leader].pid
    [child] = pathlib.Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
    os.kill(int(child), signal.SIGTERM)

    programs.wait_for("leading in term", not_by=leader)
    programs.all[leader].wait()


def test_a_job_of_apscheduler_runs_on_one_of_three(service, programs, tmp_path):
    (tmp_path / "jobs.py").write_text(blocks(service.endpoint)[1])
    for _ in range(3):
        programs.start([sys.executable, "jobs.py"], tmp_path)

    leader, first, _ = programs.wait_for(r"running in term (\d+)")
    programs.wait_for("running in term", by=leader)
    programs.all[leader].end(signal.SIGINT)
    _, second, _ = programs.wait_for(r"running in term (\d+)", not_by=leader)

    assert int(second[1]) == int(first[1]) + 1


def test_only_the_leading_beat_of_celery_sends(service, programs, tmp_path):
    (tmp_path / "leader_beat.py").write_text(blocks(service.endpoint)[2])
    (tmp_path / "queue").mkdir()
    (tmp_path / "tasks.py").write_text(
        """
import celery

app = celery.Celery(broker="filesystem://")
app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue"}
app.conf.beat_schedule = {"tick": {"task": "tasks.tick", "schedule": 0.2}}
"""
    )
    command = [sys.executable, "-m", "celery", "--app", "tasks", "beat", "--loglevel", "info"]
    command += ["--scheduler", "leader_beat.LeaderScheduler"]
    for number in range(3):
        programs.start([*command, "--schedule", f"schedule{number}", "--pidfile="], tmp_path)

    leader, _, _ = programs.wait_for("Sending due task tick")
    programs.wait_for("Sending due task tick", by=leader)
    programs.all[leader].end(signal.SIGTERM)

    programs.wait_for("Sending due task tick", not_by=leader)
    assert list((tmp_path / "queue").iterdir())


APPS = {
    "flask": """
import flask

app = flask.Flask(__name__)
app.route("/")(lambda: "hello")
""",
    "django": """
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="any")
urlpatterns = [path("", lambda _request: HttpResponse("hello"))]
app = get_wsgi_application()
""",
}


@pytest.mark.parametrize("app", APPS.values(), ids=APPS.keys())
def test_one_of_several_workers_does_the_work(app, service, programs, tmp_path):
    (tmp_path / "gunicorn.conf.py").write_text(
        blocks(service.endpoint)[3].replace("in term", 'in", __import__("os").getpid(), "term')
    )
    (tmp_path / "app.py").write_text(app)
    address = free_address()
    command = [sys.executable, "-m", "gunicorn", "--workers", "3", "--preload"]
    programs.start([*command, "--bind", address, "app:app"], tmp_path)

    _, first, _ = programs.wait_for(r"refreshing in (\d+) term (\d+)")
    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b"200 OK" in connection.recv(1_000)
    os.kill(int(first[1]), signal.SIGTERM)
    term = int(first[2]) + 1
    _, second, _ = programs.wait_for(rf"refreshing in (\d+) term {term}\b")

    assert second[1] != first[1]


def test_shipping_is_tested_without_a_service(tmp_path):
    (tmp_path / "test_shipping.py").write_text(blocks("")[4])
    (tmp_path / "shipping.py").write_text(
        """
def ship_orders(elector, ship):
    def work(seat):
        while not seat.wait(0.01):
            ship(seat.term)

    return elector.stand("orders", work)
"""
    )

    command = [sys.executable, "-m", "pytest", "--quiet", "test_shipping.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert result.returncode == 0, result.stdout
    assert "1 passed" in result.stdout
