"""TLS, client certificates and tokens."""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from functools import partial
from typing import Callable, Optional, Union

import grpc

PathLike = Union[str, "os.PathLike[str]"]
Metadata = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tls:
    """How to connect to a service that uses TLS. All four are paths of files.

    ca: CA bundle (PEM) that the service's certificate must chain to. None: those that gRPC brings.
    certificate, key: the client certificate and its private key (PEM). None: none is presented.
    token: its first line is sent with each call as a bearer token; read again for each call.

    The PEM files are read again when a connection has failed and they have changed.
    Raises ValueError if a file cannot be read, or if a certificate is given without its key.
    """

    ca: Optional[PathLike] = None
    certificate: Optional[PathLike] = None
    key: Optional[PathLike] = None
    token: Optional[PathLike] = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ValueError(
                "a client certificate and its private key need each other: give both or neither"
            )
        for path in (*self._pem_files, self.token):
            if path is not None and not os.access(path, os.R_OK):
                raise ValueError(f"cannot read {os.fspath(path)}")

    @property
    def _pem_files(self) -> tuple[Optional[PathLike], ...]:
        return (self.ca, self.key, self.certificate)

    def stamp(self) -> tuple:
        """Differs once a PEM file has changed."""
        return tuple(pathlib.Path(path).stat().st_mtime_ns for path in self._pem_files if path)

    def channel_credentials(self) -> Callable[[], grpc.ChannelCredentials]:
        """Returns a function that makes credentials from the files as they are now."""
        read = [pathlib.Path(path).read_bytes() if path else None for path in self._pem_files]
        return partial(grpc.ssl_channel_credentials, *read)

    def call_metadata(self) -> Metadata:
        """The metadata of each call: the token, as it is now. Raises RuntimeError without one.

        gRPC's own call credentials would ask for it too. But if a channel is closed while gRPC
        releases them, every thread of the process stops forever (grpc/grpc#42247).
        """
        if self.token is None:
            return ()
        try:
            token = pathlib.Path(self.token).read_text().partition("\n")[0].rstrip()
        except (OSError, ValueError) as error:
            raise RuntimeError(f"cannot read the token: {error}") from error
        if not token:
            raise RuntimeError(f"the first line of {os.fspath(self.token)} holds no token")
        if not (token.isascii() and token.isprintable()):
            raise RuntimeError(
                f"the first line of {os.fspath(self.token)} is no token: it has characters other "
                "than printable ASCII"
            )
        return (("authorization", f"Bearer {token}"),)
