"""Terms in the metadata of gRPC calls, between a real client and a real server."""

import queue
import threading
from concurrent import futures

import grpc
import pytest
from conftest import PATIENCE, free_address

import tenure
from tenure.fence import fence_of


class Store:
    """Records its requests; a call that says "wait" waits until the test lets it end."""

    def __init__(self, guard, prefix="/"):
        self.written = []
        self.entered = threading.Event()
        self.may_end = threading.Event()
        handlers = {
            "Write": grpc.unary_unary_rpc_method_handler(self.write),
            "Stream": grpc.unary_stream_rpc_method_handler(self.stream),
        }
        self._server = grpc.server(
            futures.ThreadPoolExecutor(8), interceptors=[tenure.GuardCalls(guard, "orders", prefix)]
        )
        service = grpc.method_handlers_generic_handler("shop.Store", handlers)
        self._server.add_generic_rpc_handlers([service])
        self.address = free_address()
        self._server.add_insecure_port(self.address)
        self._server.start()

    def write(self, request, context):
        self.entered.set()
        if request == b"wait":
            self.may_end.wait(PATIENCE)
        self.written.append(request)
        return b""

    def stream(self, request, context):
        yield from (self.write(request, context) for _ in range(2))

    def close(self):
        self._server.stop(None).wait()


@pytest.fixture
def guard():
    return tenure.TermGuard(wait_max=PATIENCE)


@pytest.fixture
def store(guard):
    store = Store(guard)
    yield store
    store.close()


def write(store, term, request=b"x", election="orders", method="Write"):
    channel = grpc.insecure_channel(store.address)
    fenced = grpc.intercept_channel(channel, tenure.FenceCalls(election, lambda: term))
    if method == "Stream":
        return list(fenced.unary_stream("/shop.Store/Stream")(request, timeout=PATIENCE))
    return fenced.unary_unary("/shop.Store/Write")(request, timeout=PATIENCE)


def refusal(call):
    with pytest.raises(grpc.RpcError) as error:
        call()
    return tenure.ServiceError.from_rpc(error.value)


def test_terms_that_rise_are_let_in(store):
    write(store, 7)
    write(store, 7)
    write(store, 9)

    assert len(store.written) == 3


def test_a_stale_term_is_refused_and_has_no_effect(store):
    write(store, 9)

    error = refusal(lambda: write(store, 7, b"late"))

    assert error.code is grpc.StatusCode.FAILED_PRECONDITION
    assert (error.reason, error.metadata) == ("STALE_TERM", {"current_term": "9"})
    assert store.written == [b"x"]


def test_the_calls_of_streams_are_guarded_too(store):
    assert write(store, 9, method="Stream") == [b"", b""]

    assert refusal(lambda: write(store, 7, method="Stream")).reason == "STALE_TERM"


def test_a_higher_term_waits_for_those_inside(store):
    done = queue.Queue()
    threading.Thread(target=lambda: done.put(write(store, 7, b"wait"))).start()
    assert store.entered.wait(PATIENCE)
    threading.Thread(target=lambda: done.put(write(store, 8, b"next"))).start()

    while refusal(lambda: write(store, 6)).metadata != {"current_term": "8"}:
        pass  # until the higher one has been seen
    store.may_end.set()
    done.get(timeout=PATIENCE)
    done.get(timeout=PATIENCE)

    assert store.written == [b"wait", b"next"]


def test_a_call_without_a_fence_or_with_another_ones_is_refused(store):
    channel = grpc.insecure_channel(store.address)
    bare = refusal(lambda: channel.unary_unary("/shop.Store/Write")(b"x", timeout=PATIENCE))

    assert bare.reason == "INVALID_ELECTION_NAME"
    assert refusal(lambda: write(store, 7, election="mail")).reason == "INVALID_ELECTION_NAME"
    assert store.written == []


def test_methods_outside_the_prefix_pass(guard):
    store = Store(guard, prefix="/other.Store/")
    write(store, 9)
    write(store, 7)
    store.close()

    assert len(store.written) == 2


def test_a_process_that_does_not_lead_sends_nothing(store):
    with pytest.raises(tenure.NotLeader):
        write(store, 0)

    assert store.written == []


def test_the_guard_keeps_the_term_with_the_data():
    kept = []

    def keep(fence):
        kept.append(fence.term)
        return 8

    guard = tenure.TermGuard(keep=keep)

    with pytest.raises(tenure.FenceError, match="term 8 has been seen"):
        guard.enter(tenure.Fence("orders", 7)).__enter__()
    with guard.enter(tenure.Fence("orders", 8)):
        pass
    assert kept == [7]
    assert guard.highest("orders") == 8


def test_a_lower_term_than_the_calls_is_not_stored():
    kept = [0]

    def keep(fence):
        kept.append(fence.term)
        return kept[-2]

    guard = tenure.TermGuard(keep=keep)

    with pytest.raises(tenure.FenceError, match="term 7 .* is not stored: keep returned 0"):
        guard.enter(tenure.Fence("orders", 7)).__enter__()
    assert guard.highest("orders") == 0
    with guard.enter(tenure.Fence("orders", 7)):
        pass


def test_a_term_that_was_seen_elsewhere_shuts_out_lower_ones(guard):
    guard.see(tenure.Fence("orders", 9))

    with pytest.raises(tenure.FenceError):
        guard.enter(tenure.Fence("orders", 8)).__enter__()


def test_waiting_and_elections_are_bounded():
    guard = tenure.TermGuard(wait_max=0.05, elections_max=1)
    with guard.enter(tenure.Fence("orders", 7)), pytest.raises(tenure.FenceError) as waited:
        guard.enter(tenure.Fence("orders", 8)).__enter__()
    with pytest.raises(tenure.FenceError) as full:
        guard.enter(tenure.Fence("mail", 1)).__enter__()

    assert waited.value.code is grpc.StatusCode.UNAVAILABLE
    assert full.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("term", ["", "0", "-1", "x", "²", str(1 << 64)])
def test_a_term_is_a_number_from_1(term):
    metadata = [("tenure-election-bin", b"orders"), ("tenure-term", term)]

    with pytest.raises(tenure.FenceError) as error:
        fence_of(metadata)

    assert error.value.reason == "INVALID_TERM"
