"""CPU time and memory of process trees."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from steelyard.bench import noise
from steelyard.bench.noise import busy_seconds
from steelyard.bench.usage import Cpu, anonymous_of, cpu_of, memory_of, tree

# A parent that waits, and a child that is busy until it has used a known CPU time.
BUSY = """
import subprocess, sys, time
if sys.argv[1] == "parent":
    subprocess.Popen([sys.executable, "-c", sys.argv[2], "child"], stdin=sys.stdin).wait()
else:
    while time.process_time() < 0.5: pass
    print("done", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def busy():
    words = [sys.executable, "-c", BUSY, "parent", BUSY]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"done\n"
    yield process
    process.communicate()


def test_the_time_of_a_descendant_counts(busy):
    """The CPU time includes half a second in the child of a child, and two starts of an
    interpreter.
    """
    assert 0.45 < cpu_of(busy.pid).total < 1.5
    assert len(tree(busy.pid)) == 2


def test_the_time_of_an_ended_descendant_still_counts():
    """The time of a descendant counts after it was waited for, in our own tree as well."""
    before = cpu_of(os.getpid())
    code = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert cpu_of(os.getpid()).since(before).total >= 0.25


def test_nobody_uses_nothing():
    """A process that is gone uses nothing."""
    process = subprocess.Popen(["true"])
    process.wait()
    assert cpu_of(process.pid) == Cpu(0.0, 0.0)
    assert memory_of(process.pid) == 0


def test_memory_is_that_of_the_tree(busy):
    """Two interpreters have some megabytes of their own, and share the pages of their files."""
    assert 2_000_000 < anonymous_of(busy.pid) <= memory_of(busy.pid) < 200_000_000


def test_the_foreign_share_leaves_us_out(monkeypatch):
    """The cores were busy for two seconds, one of which was ours."""
    monkeypatch.setattr(noise, "busy_seconds", lambda text, cores, told=[10.0, 12.0]: told.pop(0))
    monkeypatch.setattr(noise, "cpu_of", lambda pid, told=[3.0, 4.0]: Cpu(told.pop(0), 0.0))
    monkeypatch.setattr(noise.time, "monotonic", lambda told=[0.0, 5.0]: told.pop(0))
    assert noise.Quiet({0, 1}).foreign() == pytest.approx(0.1)


@pytest.mark.parametrize(("irq", "seconds"), [(0, 1.45), (5, 1.35)])
def test_busy_time_of_the_cores_asked_for(irq, seconds):
    """Softirq counts only if the kernel accounts interrupts apart."""
    text = f"cpu  9 9 9 9 9 9 9 9\ncpu0 100 0 30 500 7 {irq} 10 5 0 0\ncpu1 9 9 9 9 9 0 9 9 0 0\n"
    ticks = os.sysconf("SC_CLK_TCK")
    assert busy_seconds(text, {0}) == pytest.approx(seconds * 100 / ticks)
