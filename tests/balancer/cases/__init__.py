"""HTTP/1.1 messages that are read or refused: one file per topic, written by hand."""

from __future__ import annotations

from tests.balancer.cases import (
    bodiless,
    chunked,
    content_length,
    field_lines,
    hop_by_hop,
    host,
    max_forwards,
    pipelining,
    request_line,
    status_lines,
    targets,
    trailers,
    transfer_encoding,
    versions,
)
from tests.balancer.cases.case import Case, Chunks, Reply, Request

TOPICS = {
    module.__name__.rpartition(".")[2]: module.CASES
    for module in (
        request_line,
        versions,
        targets,
        host,
        field_lines,
        content_length,
        transfer_encoding,
        chunked,
        trailers,
        hop_by_hop,
        max_forwards,
        pipelining,
        status_lines,
        bodiless,
    )
}

# The keys are the ids in pytest: topic and name.
CASES: dict[str, Case] = {
    f"{topic}: {case.name}": case for topic, cases in TOPICS.items() for case in cases
}
REQUESTS = {name: case for name, case in CASES.items() if isinstance(case, Request)}
CHUNKS = {name: case for name, case in CASES.items() if isinstance(case, Chunks)}
REPLIES = {name: case for name, case in CASES.items() if isinstance(case, Reply)}
