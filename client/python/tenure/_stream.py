"""One KeepAlive stream: requests out, messages in, on a thread of its own."""

from __future__ import annotations

import queue
from typing import Callable, Optional

import grpc

from tenure._connection import Replica
from tenure._surroundings import Surroundings
from tenure.errors import ServiceError
from tenure.v1 import election_pb2 as pb


class KeepAliveStream:
    """Calls back on its own thread: `on_closed` last, and once, however it ends. Thread-safe.

    Raises RuntimeError if a thread cannot be started, or the token cannot be read.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        replica: Replica,
        on_message: Callable[[pb.KeepAliveResponse], None],
        on_closed: Callable[[Optional[ServiceError]], None],
    ) -> None:
        self._on_message = on_message
        self._on_closed = on_closed
        self._requests: queue.SimpleQueue[Optional[pb.KeepAliveRequest]] = surroundings.new_queue()
        self._call = replica.stub.KeepAlive(
            iter(self._requests.get, None), metadata=replica.call_metadata()
        )
        try:
            surroundings.start(self._read, "tenure-keep-alive")
        except RuntimeError:
            self.close()
            raise

    def send(self, request: pb.KeepAliveRequest) -> None:
        self._requests.put(request)

    def close(self) -> None:
        """Does not wait."""
        self._call.cancel()
        self._requests.put(None)

    def _read(self) -> None:
        error = None
        try:
            for message in self._call:
                self._on_message(message)
        except grpc.RpcError as failure:
            error = ServiceError.from_rpc(failure)
        self._requests.put(None)
        self._on_closed(error)
