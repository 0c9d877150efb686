"""The client as an application uses it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from steelyard import mesh
from steelyard.errors import UsageError
from steelyard.mesh.execution.wire import WireError
from steelyard.mesh.protocol import unserved
from steelyard.mesh.protocol.desk_events import NodeAppeared, NodeGone
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Offer
from steelyard.mesh.protocol.task import Rules
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE
from tests.waiting import wait_until


def test_every_unit_is_answered_once_under_its_key(client: mesh.Client) -> None:
    """Answers come in any order; `values` are in the order in which the units were submitted."""
    answers = list(client.map(jobs.double, range(300)).as_completed(PATIENCE))
    assert sorted(answer.key for answer in answers) == list(range(300))
    assert all(answer.ok and answer.value == 2 * answer.key for answer in answers)
    assert client.map(jobs.double, range(300)).values(PATIENCE) == list(range(0, 600, 2))


def test_units_may_have_several_arguments_and_keys_of_their_own(client: mesh.Client) -> None:
    """`map` takes several iterables, as the built-in one does, and keys for the answers."""
    answers = client.map(jobs.add, [1, 2], [10, 20]).as_completed(PATIENCE)
    assert {answer.key: answer.value for answer in answers} == {(1, 10): 11, (2, 20): 22}
    answers = client.map(jobs.double, [1, 2], keys=["one", "two"]).as_completed(PATIENCE)
    assert {answer.key: answer.value for answer in answers} == {"one": 2, "two": 4}
    with pytest.raises(UsageError, match="1 keys for 2 units"):
        client.map(jobs.double, [1, 2], keys=["one"])


def test_no_units_are_done_at_once(client: mesh.Client) -> None:
    """An empty job ends."""
    job = client.map(jobs.double, [])
    assert list(job) == []
    assert job.wait(0)


def test_an_exception_is_an_answer_with_its_traceback(client: mesh.Client) -> None:
    """An exception is the application's fault, and other units go on."""
    (answer,) = client.map(jobs.fail, [7]).as_completed(PATIENCE)
    assert not answer.ok
    assert isinstance(answer.error, mesh.UnitRaisedError)
    assert "unit 7 raised: ValueError: 7 is not to my taste" in str(answer.error)
    assert answer.error.failure is not None
    assert "jobs.py" in answer.error.failure.traceback
    assert "jobs.py" in str(answer.error.__cause__)  # so that Python shows it, too
    with pytest.raises(mesh.UnitRaisedError):
        _ = answer.value


def test_a_unit_that_kills_its_child_is_quarantined_and_nobody_else(client: mesh.Client) -> None:
    """A unit that kills its child is quarantined after `retries + 1` tries, and no other
    unit is.
    """
    bad = client.map(jobs.die, [1])
    good = client.map(jobs.double, range(50))
    (answer,) = bad.as_completed(PATIENCE)
    assert answer.state is State.QUARANTINED
    assert answer.tries == 2
    assert isinstance(answer.error, mesh.UnitQuarantinedError)
    assert "SIGKILL" in str(answer.error)
    assert good.values(PATIENCE) == list(range(0, 100, 2))


def test_tries_are_all_that_were_made(client: mesh.Client, tmp_path: Path) -> None:
    """`tries` counts all tries, including the one that brought the value."""
    (answer,) = client.map(jobs.die_once, [str(tmp_path / "mark")]).as_completed(PATIENCE)
    assert answer.ok
    assert answer.tries == 2


def test_a_unit_that_hangs_is_killed_at_its_deadline(client: mesh.Client) -> None:
    """A unit that hangs is killed at its deadline, and quarantined when it has no try left."""
    (answer,) = client.map(jobs.hang, [1]).as_completed(PATIENCE)
    assert answer.state is State.QUARANTINED
    assert "Hung" in str(answer.error)


def test_what_a_unit_prints_comes_with_its_answer(client: mesh.Client) -> None:
    """The output of a unit is text in its answer."""
    (answer,) = client.map(jobs.speak, ["héllo"]).as_completed(PATIENCE)
    assert answer.output == "héllo\n"


def test_a_future_has_the_value_or_raises_the_error(client: mesh.Client) -> None:
    """A future behaves as in concurrent.futures."""
    assert client.submit(jobs.add, 1, other=2).result(PATIENCE) == 3
    with pytest.raises(mesh.UnitRaisedError, match="to my taste"):
        client.submit(jobs.fail, 1).result(PATIENCE)


def test_cancelling_stops_units_that_run(client: mesh.Client, tmp_path: Path) -> None:
    """Cancelling a job frees the children for other units."""
    path = str(tmp_path / "never")
    job = client.map(jobs.wait_for, [path] * 4)
    wait_until(lambda: len(list(tmp_path.glob("*.began"))) == 4, PATIENCE)
    future = client.submit(jobs.wait_for, path)
    job.cancel()
    assert future.cancel()
    assert {answer.state for answer in job.as_completed(PATIENCE)} == {State.CANCELLED}
    with pytest.raises(CancelledError):
        future.result(PATIENCE)
    assert client.map(jobs.double, range(8)).values(PATIENCE) == list(range(0, 16, 2))


def test_units_that_are_too_late_expire(client: mesh.Client, tmp_path: Path) -> None:
    """Units expire whether they run or wait."""
    job = client.map(jobs.wait_for, [str(tmp_path / "never")] * 6, within=0.3)
    assert {answer.state for answer in job.as_completed(PATIENCE)} == {State.EXPIRED}


def test_what_cannot_be_sent_is_told_before_anything_is(client: mesh.Client) -> None:
    """Arguments that cannot be sent raise an error in the caller, before any unit is sent."""
    with pytest.raises(WireError, match="object"):
        client.map(jobs.double, [1, object()])
    with pytest.raises(UsageError, match="no name by which a node could import it"):
        client.map(lambda x: x, [1])


def test_a_function_that_no_node_serves_is_refused(
    client: mesh.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal lists the functions that are served."""
    monkeypatch.setattr(unserved, "PATIENCE", 0.2)
    (answer,) = client.map("nowhere:nothing", [1]).as_completed(PATIENCE)
    assert isinstance(answer.error, mesh.UnitRefusedError)
    assert "no node serves nowhere:nothing; the nodes that are there serve" in str(answer.error)


def test_large_arguments_and_values_pass(client: mesh.Client) -> None:
    """Arguments and values of some megabytes pass."""
    text = "x" * 3_000_000
    (answer,) = client.map(jobs.speak, [text], keys=[0]).as_completed(PATIENCE)
    assert answer.value == len(text)


def test_closing_a_client_ends_its_jobs(new_client: Callable[..., mesh.Client]) -> None:
    """Closing a client ends the waits for its jobs, and it takes no more units."""
    client = new_client()
    job = client.map(jobs.snooze, [3600.0])
    future = client.submit(jobs.snooze, 3600.0)
    ended: list[State] = []
    waiting = threading.Thread(target=lambda: ended.extend(one.state for one in job))
    waiting.start()
    client.close()
    waiting.join(PATIENCE)
    assert ended == [State.CANCELLED]
    assert future.cancelled()
    with pytest.raises(UsageError, match="closed"):
        client.submit(jobs.double, 1)


def test_workers_are_those_that_serve_the_function(client: mesh.Client) -> None:
    """`workers` counts only the nodes that serve the function."""
    assert client.workers() == client.workers(jobs.double) == 4
    assert client.workers("math:sqrt") == 0
    assert not client.wait_for_workers(1, 0.01, "math:sqrt")
    assert str(client.map("math:sqrt", [4.0]).progress) == "0 of 1 units, 0 workers"


def test_who_waits_for_workers_is_told_of_others(new_client: Callable[..., mesh.Client]) -> None:
    """`wait_for_workers` notices other workers, even if as many left."""
    client = new_client()
    offers = [Offer(1, frozenset({name})) for name in ("m:f", "m:g")]
    client._loop.put(NodeAppeared("first", offers[0]))
    assert client.wait_for_workers(1, PATIENCE, "m:f")
    told: list[bool] = []
    waiting = threading.Thread(
        target=lambda: told.append(client.wait_for_workers(1, 10 * PATIENCE, "m:g"))
    )
    waiting.start()
    wait_until(lambda: client._workers._waiters, PATIENCE)  # type: ignore[attr-defined]
    client._loop.put(NodeGone("first"), NodeAppeared("second", offers[1]))
    waiting.join(PATIENCE)
    assert told == [True]


def test_who_waits_for_workers_is_told_of_the_end(new_client: Callable[..., mesh.Client]) -> None:
    """`wait_for_workers` returns when the client is closed."""
    client = new_client()
    found: list[bool] = []
    waiting = threading.Thread(target=lambda: found.append(client.wait_for_workers(99)))
    waiting.start()
    client.close()
    waiting.join(PATIENCE)
    assert found == [False]


def test_what_a_receiver_raises_hurts_nobody_else(client: mesh.Client) -> None:
    """An exception in a receiver does not keep other answers from their receivers."""
    future = client.submit(jobs.snooze, 0.1)
    future.add_done_callback(lambda _: sys.exit("enough"))
    job = client.map(jobs.double, range(100))
    assert future.result(PATIENCE) == 0.1
    assert job.values(PATIENCE) == list(range(0, 200, 2))
    assert client.submit(jobs.double, 2).result(PATIENCE) == 4


def test_a_key_that_cannot_be_shown_is_no_obstacle(client: mesh.Client) -> None:
    """The error of a unit is readable although its key has no repr."""

    class Shy:
        def __repr__(self) -> str:
            raise RuntimeError

    (answer,) = client.map(jobs.fail, [7], keys=[Shy()]).as_completed(PATIENCE)
    assert "Shy> raised: ValueError: 7 is not to my taste" in str(answer.error)


def test_a_map_needs_items(client: mesh.Client) -> None:
    """`map` without an iterable is an error."""
    with pytest.raises(UsageError, match="needs the items"):
        client.map(jobs.double)


def test_wrong_wishes_are_told(new_client: Callable[..., mesh.Client], tmp_path: Path) -> None:
    """Wrong options raise an error before the client joins."""
    for weight in (0, float("inf"), "large"):
        with pytest.raises(UsageError, match="is not a weight"):
            mesh.Client(weight=weight)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="list of endpoints"):
        mesh.Client([7447])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="list of endpoints"):
        mesh.Client("tcp/127.0.0.1:1")
    with pytest.raises(UsageError, match="list of endpoints"):
        mesh.Client(None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="unit 2 is not a sequence of arguments: 7"):
        new_client().starmap(jobs.double, [(1,), 7])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="within = 'soon'"):
        new_client().map(jobs.double, [1], within="soon")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"memory = 0\.5"):
        new_client().starmap(jobs.double, [(1,)], rules=Rules(memory=0.5))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot be sent as text"):
        mesh.Client(["tcp/127.0.0.1:1"], name="\udcff")
    with pytest.raises(UsageError, match="never meets a node"):
        mesh.Client()
    with pytest.raises(mesh.journal.JournalError, match="cannot be used"):
        mesh.Client(["tcp/127.0.0.1:1"], journal=tmp_path / "no" / "such" / "folder")
    before = threading.active_count()
    with pytest.raises(UsageError, match="needs certificates"):
        mesh.Client(["tls/127.0.0.1:1"], journal=tmp_path / "journal")
    assert threading.active_count() == before


@pytest.mark.parametrize(
    "way", [{"join": ["tcp/127.0.0.1:1"]}, {"listen": ["tcp/127.0.0.1:0"]}, {"multicast": True}]
)
def test_any_way_to_meet_is_enough(way: dict[str, Any]) -> None:
    """A client may join, listen or use multicast to meet nodes."""
    assert mesh.Place(**way).can_meet


FORGOTTEN = """
import atexit
atexit.register(lambda: print(client._closed))
from steelyard import mesh
client = mesh.Client(["tcp/127.0.0.1:1"])
job = client.map("m:f", iter(int, 1))
"""

FORKED = """
import os
from steelyard import mesh
from steelyard.errors import UsageError
with mesh.Client(["tcp/127.0.0.1:1"]) as client:
    child = os.fork()
    if not child:
        try:
            client.submit("m:f")
        except UsageError as error:
            print(error.message, flush=True)
if child:
    os.waitpid(child, 0)
    print(client._closed)
"""


@pytest.mark.parametrize(
    ("program", "said"),
    [(FORGOTTEN, "True\n"), (FORKED, "this client was made before a fork\nTrue\n")],
    ids=["that is never closed", "in a fork"],
)
def test_a_client(program: str, said: str) -> None:
    """A program ends cleanly without `close`, and in a fork there is nothing to close."""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, said), done.stderr
