"""Results as a document: a section per bench, so that each can be rewritten by itself."""

from __future__ import annotations

from pathlib import Path

from steelyard.markdown import with_section

TITLE = """# Benchmarks

Written by `steelyard bench`, each section by its own command; how to run them is in
[bench/README.md](../bench/README.md). Figures of different runs, or machines, do not compare.

**How it is measured.** A proxy has one core to itself, with one process or thread; the client (wrk,
or our own for WebSocket messages) and the backend (nginx, or an echo) share another. For each case
all contenders are up, and are asked in turn, round after round, in a changing order: what disturbs
the machine disturbs all alike. CPU is user + system time of all processes of a proxy over a round,
from /proc, per request; requests/s depend on the other core as well. Memory per idle connection is
what a fresh process grew by, without pages of files, when that many clients had each had an answer
and stayed.

**What is compared.** All add X-Forwarded-For, X-Forwarded-Proto and Via, log nothing and keep
connections open on both sides; one that does not is left out, and who opens many connections to the
backend is remarked upon. nginx writes no temporary files; HAProxy's heap is not returned to the
kernel after every request (see `src/steelyard/bench/proxies`). `-64k` have 64 KiB buffers,
`haproxy-splice` leaves bodies in the kernel besides; `pure` and `compiled` are our balancer.

**How to read it.** Figures are medians over the rounds, ± half the distance of the quartiles;
ratios are of medians: 0.90 is a tenth cheaper. A difference below a tenth is not resolved. A round
in which other processes took more than a tenth of the two cores is disturbed.
"""


def write_section(file: Path, name: str, content: str) -> None:
    """Put a section into the file, replacing an earlier one of the same name."""
    before = file.read_text(encoding="utf-8") if file.exists() else TITLE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(with_section(before, f"bench: {name}", content), encoding="utf-8")
