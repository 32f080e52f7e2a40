"""Calls carry the trace of the candidate or observer that made them."""

import queue
import sys
import types

import grpc
from conftest import PATIENCE

import tenure

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_calls_carry_the_trace_of_their_caller(new_proxy, monkeypatch):
    propagate = types.ModuleType("opentelemetry.propagate")
    propagate.inject = lambda carrier: carrier.update(traceparent=PARENT)
    package = types.ModuleType("opentelemetry")
    package.propagate = propagate
    monkeypatch.setitem(sys.modules, "opentelemetry", package)
    monkeypatch.setitem(sys.modules, "opentelemetry.propagate", propagate)
    heard = queue.Queue()

    def answer(_request, context):
        heard.put(dict(context.invocation_metadata()).get("traceparent"))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "enough")

    proxy = new_proxy(answer)
    with tenure.Client(proxy) as client:
        tenure.Elector(client).stand("orders")
        assert heard.get(timeout=PATIENCE) == PARENT
    with tenure.Observer(proxy, "orders"):
        assert heard.get(timeout=PATIENCE) == PARENT
