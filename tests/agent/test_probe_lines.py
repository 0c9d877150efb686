"""Recognizing the lines of our probes in access logs."""

from __future__ import annotations

import pytest

from steelyard.agent.probe_lines import other_than_probes

PROBES = [
    'INFO:     127.0.0.1:51234 - "GET /health HTTP/1.1" 200 OK',  # uvicorn
    '127.0.0.1 - - [18/Nov/2026 10:00:00] "GET /health HTTP/1.1" 200 -',  # http.server
    '127.0.0.1 - - [18/Nov/2026:10:00:00 +0000] "GET /health HTTP/1.1" 204 0 "-" "steelyard-probe"',
    '{"path": "/health", "status": 200, "agent": "steelyard-probe"}',
    '{"agent": "steelyard-probe", "bytes": 512, "statusCode":"204"}',
    "GET /health 200 512 - 431.201 ms steelyard-probe",  # morgan, of Express
    "at=info status=301 service=512 agent=steelyard-probe",
    "10:00:00,503 a request of steelyard-probe",  # no status, but a time of day
]
OTHERS = [
    "listens on port 8000",
    "GET /health is our health check",
    'INFO:     127.0.0.1:51234 - "GET /healthy HTTP/1.1" 200 OK',
    'INFO:     127.0.0.1:51234 - "GET /health?deep=1 HTTP/1.1" 200 OK',
    'INFO:     127.0.0.1:51234 - "POST /health HTTP/1.1" 200 OK',
    'INFO:     127.0.0.1:51234 - "GET /app/health HTTP/1.1" 200 OK',
    '127.0.0.1 - - [18/Nov/2026:10:00:00 +0000] "GET /health HTTP/1.1" 204 0 "-" "curl/7.88"',
    '127.0.0.1 - - [18/Nov/2026 10:00:00] "GET /health HTTP/1.1" 503 -',  # failed probes are shown
    '127.0.0.1 - - [18/Nov/2026:10:00:00 +0000] "GET /health HTTP/1.1" 500 0 "-" "steelyard-probe"',
    '127.0.0.1 - - [18/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 404 0 "-" "steelyard-probe"',
    '{"path": "/health", "status": 503, "agent": "steelyard-probe"}',
    '{"agent": "steelyard-probe", "bytes": 200, "statusCode":"500"}',
    "GET /health 503 200 - 1.201 ms steelyard-probe",
    "at=info status=404 service=200 agent=steelyard-probe",
]


@pytest.mark.parametrize("line", PROBES)
def test_lines_of_probes_are_left_out(line: str) -> None:
    """The lines of probes are recognized in the formats of usual servers."""
    assert not other_than_probes("/health")(line)


@pytest.mark.parametrize("line", OTHERS)
def test_other_lines_are_shown(line: str) -> None:
    """Lines that only look like those of probes are shown."""
    assert other_than_probes("/health")(line)


def test_a_probe_that_only_connects_leaves_nothing_out() -> None:
    """All lines are shown if probes only connect, as no access log shows such a probe."""
    assert all(map(other_than_probes(None), PROBES))
