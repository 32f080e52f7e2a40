"""The caller's trace, with OpenTelemetry, if that is installed."""

from __future__ import annotations

from tenure.credentials import Metadata


def metadata() -> Metadata:
    """The headers that the propagators add for the current context, such as `traceparent`."""
    try:
        from opentelemetry import propagate
    except ImportError:
        return ()
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return tuple((key.lower(), value) for key, value in carrier.items())
