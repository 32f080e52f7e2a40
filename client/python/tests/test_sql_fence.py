"""The fence in transactions of a real MariaDB, which holds Tenure's tables too."""

import contextlib
import subprocess
import threading

import pymysql
import pytest
from conftest import PATIENCE, Service, free_address

import tenure


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a MariaDB with the databases `tenure` and `shop`."""
    folder = tmp_path_factory.mktemp("mariadb")
    (folder / "users.sql").write_text(
        "FLUSH PRIVILEGES;\nCREATE USER root@'%';\n"
        "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n"
        "CREATE DATABASE tenure;\nCREATE DATABASE shop;\n"
    )
    common = ["--no-defaults", f"--datadir={folder}/data"]
    install = ["mariadb-install-db", "--skip-test-db", "--auth-root-authentication-method=normal"]
    install[1:1] = common
    subprocess.run([*install, f"--extra-file={folder}/users.sql"], check=True, capture_output=True)
    address = free_address()
    host, port = address.split(":")
    command = ["mariadbd", *common, f"--socket={folder}/socket", f"--bind-address={host}"]
    command += [f"--port={port}", "--skip-log-bin", "--user=root"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert any("ready for connections" in line for line in server.stderr)
    threading.Thread(target=server.stderr.read, daemon=True).start()
    yield address
    server.terminate()
    server.wait(PATIENCE)


@pytest.fixture(scope="module")
def sql_service(address):
    service = Service(f"mysql://root@{address}/tenure").start()
    yield service
    service.stop()


@pytest.fixture
def connect(address):
    """Makes connections, which close with the test."""
    host, port = address.split(":")
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(
            pymysql.connect(host=host, port=int(port), user="root", database="shop")
        )


@pytest.fixture
def sales(connect):
    """A table, and a function that reads it."""
    with connect().cursor() as cursor:
        cursor.execute("CREATE OR REPLACE TABLE sales (term BIGINT) ENGINE = InnoDB")

    def read():
        with connect().cursor() as cursor:
            cursor.execute("SELECT term FROM sales")
            return [term for (term,) in cursor.fetchall()]

    return read


@pytest.fixture
def elector(sql_service):
    with tenure.Client(sql_service.endpoint, lease_ttl=10) as client:
        yield tenure.Elector(client)


def sell(term):
    return lambda cursor: cursor.execute(f"INSERT INTO sales VALUES ({term})")


def test_a_transaction_of_the_current_term_is_committed(elector, connect, sales):
    with elector.lead("shop", wait=PATIENCE) as seat:
        rows = tenure.guarded(connect(), seat.fence, sell(seat.term))

    assert rows == 1
    assert sales() == [seat.term]


def test_a_transaction_of_an_old_term_changes_nothing(elector, connect, sales):
    with elector.lead("shop", wait=PATIENCE) as old:
        pass
    with elector.lead("shop", wait=PATIENCE), pytest.raises(tenure.TermOver):
        tenure.guarded(connect(), tenure.SqlFence("shop", old.term), sell(old.term))

    assert sales() == []


def test_the_next_term_waits_for_an_open_transaction(elector, connect, sales):
    begun, may_end = threading.Event(), threading.Event()
    errors = []

    def slow(cursor):
        sell(seat.term)(cursor)
        begun.set()
        may_end.wait(PATIENCE)

    def guard():
        try:
            tenure.guarded(connect(), tenure.SqlFence("slow", seat.term), slow)
        except Exception as error:
            errors.append(error)

    with elector.lead("slow", wait=PATIENCE) as seat:
        thread = threading.Thread(target=guard)
        thread.start()
        assert begun.wait(PATIENCE)
    successor = elector.stand("slow")
    with pytest.raises(tenure.NotElected):
        successor.wait(0.3)
    may_end.set()
    thread.join(PATIENCE)

    assert successor.wait(PATIENCE).term == seat.term + 1
    assert not errors
    assert sales() == [seat.term]


def test_an_exception_of_the_work_rolls_the_transaction_back(elector, connect, sales):
    def fail(cursor):
        sell(seat.term)(cursor)
        raise ZeroDivisionError

    with elector.lead("shop", wait=PATIENCE) as seat, pytest.raises(ZeroDivisionError):
        tenure.guarded(connect(), tenure.SqlFence("shop", seat.term), fail)

    assert sales() == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (1213, "Deadlock found"),
        (3101, "Plugin instructed"),
        (1180, "Got error 149 - during COMMIT"),
    ],
)
def test_a_deadlock_is_tried_again_with_the_fence(elector, connect, sales, code, message):
    tries = []

    def deadlock_once(cursor):
        tries.append(1)
        sell(seat.term)(cursor)
        if len(tries) == 1:
            raise pymysql.err.OperationalError(code, message)

    with elector.lead("shop", wait=PATIENCE) as seat:
        tenure.guarded(connect(), tenure.SqlFence("shop", seat.term), deadlock_once)

    assert sales() == [seat.term]


def test_after_the_last_attempt_the_error_is_raised(elector, connect, sales):
    def deadlock(cursor):
        tries.append(1)
        raise pymysql.err.OperationalError(1213, "Deadlock found")

    tries = []
    with (
        elector.lead("shop", wait=PATIENCE) as seat,
        pytest.raises(pymysql.err.OperationalError),
    ):
        tenure.guarded(connect(), tenure.SqlFence("shop", seat.term), deadlock, tries_max=3)

    assert len(tries) == 3


def test_any_name_can_be_written():
    fence = tenure.SqlFence("a'b\\é", 7, "my `own`")

    assert fence.statement() == "CALL `my ``own```.tenure_fence(_utf8mb4 x'6127625cc3a9', 7)"
