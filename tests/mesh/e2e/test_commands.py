"""The commands of the mesh, as a user types them."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from steelyard import mesh
from tests.e2e.gateway import free_port
from tests.mesh import jobs
from tests.mesh.conftest import MODULE, PATIENCE
from tests.mesh.e2e.workers import STEELYARD, Worker, environment
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def node() -> Iterator[Worker]:
    with Worker(procs=2) as worker:
        yield worker


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*STEELYARD, "mesh", *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def status(node: Worker) -> dict[str, Any]:
    told = json.loads(run("status", "--join", node.endpoint, "--json").stdout)
    (one,) = told["nodes"]
    return dict(one)


def lines(path: Path, values: list[object]) -> str:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    return str(path)


def kept_in(journal: Path) -> int:
    """The number of units in a journal that another process writes."""
    if not journal.exists():
        return 0
    with closing(sqlite3.connect(journal)) as file:
        try:
            return int(file.execute("SELECT count(*) FROM units").fetchone()[0])
        except sqlite3.OperationalError:  # the file has no table yet
            return 0


def test_a_file_of_units_becomes_a_file_of_results(node: Worker, tmp_path: Path) -> None:
    """Each unit and each failure is one line of the file, and a failure makes the exit status 1."""
    units = lines(tmp_path / "units", [[1, 2], [3, 4], [5, None]])
    out = tmp_path / "out"
    done = run(
        "run", f"{MODULE}:add", units, "--spread", "--join", node.endpoint, "--out", str(out)
    )
    assert done.returncode == 1
    assert "3 of 3 units, 1 failed, 2 workers" in done.stderr
    rows = {row["unit"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert (rows[1]["value"], rows[2]["value"]) == (3, 7)
    assert rows[3]["state"] == "RAISED"
    assert "TypeError" in rows[3]["error"]


def test_a_job_that_was_killed_goes_on_with_its_journal(node: Worker, tmp_path: Path) -> None:
    """Units that were done before are not run again, and are in the results."""
    runs, out, journal = tmp_path / "runs", tmp_path / "out", tmp_path / "journal"
    runs.mkdir()
    units = lines(tmp_path / "units", [[str(runs), number, 0.02] for number in range(100)])
    words = ["run", f"{MODULE}:mark", units, "--spread", "--join", node.endpoint]
    words += ["--journal", str(journal), "--out", str(out)]
    first = subprocess.Popen([*STEELYARD, "mesh", *words], env=environment())
    wait_until(lambda: kept_in(journal) >= 20, PATIENCE)
    first.send_signal(signal.SIGKILL)
    first.wait()
    wait_until(lambda: not status(node)["running"], PATIENCE)
    before, kept = len(list(runs.iterdir())), kept_in(journal)
    assert run(*words).returncode == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(row["value"] for row in rows) == list(range(100))
    again = len(list(runs.iterdir())) - 100
    assert again <= before - kept


def test_results_are_in_the_file_at_once(node: Worker, tmp_path: Path) -> None:
    """A result is written before the last unit ends: that one waits for a file that never comes."""
    units = lines(tmp_path / "units", ["/", str(tmp_path / "never")])
    out = tmp_path / "out"
    words = ["run", f"{MODULE}:wait_for", units, "--join", node.endpoint, "--deadline", "600"]
    running = subprocess.Popen([*STEELYARD, "mesh", *words, "--out", str(out)], env=environment())
    try:
        wait_until(lambda: out.exists() and out.read_text().endswith("\n"), PATIENCE)
        assert running.poll() is None
    finally:
        running.kill()
        running.wait()
    assert json.loads(out.read_text())["value"] == "/"


def test_status_shows_who_is_there(node: Worker) -> None:
    """`mesh status` shows nodes and clients, as text and as JSON."""
    shown = run("status", "--join", node.endpoint)
    assert shown.returncode == 0
    assert f"{MODULE}:double" in shown.stdout
    one = status(node)
    assert (one["procs"], one["running"], one["leaving"]) == (2, 0, False)


def test_nobody_there_is_told(tmp_path: Path) -> None:
    """If no node is there, `mesh status` says what to look at."""
    done = run("status", "--join", "tcp/127.0.0.1:1", "--patience", "1")
    assert done.returncode == 1
    assert "no node or client answers" in done.stdout


def test_an_error_is_a_sentence() -> None:
    """A wrong argument gives an error with a hint and exit status 2, not a traceback."""
    done = run("worker", "math:nothing")
    assert done.returncode == 2
    assert done.stderr.startswith("error: math has no nothing, for math:nothing\n  → ")


def test_units_of_a_command_go_by_the_rules_of_their_function(node: Worker, tmp_path: Path) -> None:
    """The function `hang` has a deadline of 0.2 s and one try by its decorator; no option
    says so.
    """
    units = lines(tmp_path / "units", [1])
    done = run("run", f"{MODULE}:hang", units, "--join", node.endpoint)
    assert json.loads(done.stdout)["state"] == "QUARANTINED"
    assert "note:" not in done.stderr


def test_a_node_needs_no_standard_output() -> None:
    """A node starts although its parent closed its standard output."""
    endpoint = f"tcp/127.0.0.1:{free_port()}"
    words = [*STEELYARD, "mesh", "worker", MODULE, "--listen", endpoint]
    node = subprocess.Popen(["sh", "-c", 'exec "$@" >&-', "sh", *words], env=environment())
    try:
        with mesh.Client([endpoint]) as client:
            assert client.wait_for_workers(1, PATIENCE)
        node.terminate()
        assert node.wait(PATIENCE) == 0
    finally:
        node.kill()
        node.wait()


def test_a_node_whose_module_takes_for_ever_can_be_ended(tmp_path: Path) -> None:
    """A node can be stopped while its module is looked up or imported, and leaves no process
    behind.
    """
    (tmp_path / "endless.py").write_text(
        "import os, pathlib, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "if (here / 'first').exists():\n"
        "    (here / 'second').write_text(str(os.getpid()))\n"
        "    time.sleep(1000)\n"
        "(here / 'first').touch()\n"
        "def f(): ...\n"
    )
    words = [*STEELYARD, "mesh", "worker", "endless:f"]
    node = subprocess.Popen(words, cwd=tmp_path, env=environment())
    try:
        second = tmp_path / "second"
        pid = wait_until(lambda: second.exists() and second.read_text(), PATIENCE)
        node.terminate()
        assert node.wait(PATIENCE) == -signal.SIGTERM
        wait_until(lambda: not psutil.pid_exists(int(pid)), PATIENCE)
    finally:
        node.kill()
        node.wait()


@pytest.mark.parametrize("where", [[], ["--out", "/dev/full"]])
def test_a_full_disk_is_told(node: Worker, tmp_path: Path, where: list[str]) -> None:
    """An error on a full disk is one sentence, not a traceback."""
    words = [lines(tmp_path / "units", [1, 2]), "--join", node.endpoint, *where]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*STEELYARD, "mesh", "run", f"{MODULE}:double", *words],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("drain", [0.0, 3600.0])
def test_a_node_that_is_told_to_end_need_not_wait_for_its_units(
    tmp_path: Path, drain: float
) -> None:
    """A node that is stopped leaves its units after the given time, or when it is stopped again."""
    with Worker(drain=drain) as node, mesh.Client([node.endpoint]) as client:
        client.map(jobs.wait_for, [str(tmp_path / "never")])
        wait_until(lambda: list(tmp_path.glob("*.began")), PATIENCE)
        if drain:
            with pytest.raises(subprocess.TimeoutExpired):
                node.terminate(0.1)
            wait_until(lambda: node.said("stopping"), PATIENCE)
        assert node.terminate(PATIENCE / 3) == 0
        wait_until(lambda: node.said("left to other nodes"), PATIENCE)


def test_a_machine_without_room_for_the_children_is_told() -> None:
    """If there are not enough descriptors for the children, the error is one sentence."""
    words = [*STEELYARD, "mesh", "worker", MODULE, "--procs", "100"]
    told = subprocess.run(
        ["sh", "-c", 'ulimit -n 128; exec "$@"', "sh", *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert told.returncode != 0
    assert "100 child processes cannot be started: Too many open files" in told.stderr
    assert "Traceback" not in told.stderr
