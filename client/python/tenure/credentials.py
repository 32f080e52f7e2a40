"""TLS, client certificates and tokens."""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from typing import Optional, Union

import grpc

PathLike = Union[str, "os.PathLike[str]"]


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
        """Differs when a PEM file has changed."""
        return tuple(pathlib.Path(path).stat().st_mtime_ns for path in self._pem_files if path)

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """With the files as they are now."""
        read = [pathlib.Path(path).read_bytes() if path else None for path in self._pem_files]
        return grpc.ssl_channel_credentials(*read)

    def call_credentials(self) -> Optional[grpc.CallCredentials]:
        """The token, for each call. Not for the channel: its watch of the replica's health, which
        needs none, would fail for want of one, and then not be tried again for minutes.
        """
        if self.token is None:
            return None
        return grpc.metadata_call_credentials(_TokenOfFile(self.token), "tenure-token")


class _TokenOfFile(grpc.AuthMetadataPlugin):
    def __init__(self, path: PathLike) -> None:
        self._path = pathlib.Path(path)

    def __call__(
        self, context: grpc.AuthMetadataContext, callback: grpc.AuthMetadataPluginCallback
    ) -> None:
        try:
            token = self._path.read_text().partition("\n")[0].rstrip()
            if not token:
                raise ValueError(f"the first line of {self._path} holds no token")
        except (OSError, ValueError) as error:
            callback((), error)
        else:
            callback((("authorization", f"Bearer {token}"),), None)
