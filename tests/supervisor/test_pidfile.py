"""The pid file: which entries are trusted, and which process may hold it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from steelyard.config.settings import Agent, Gateway, Settings
from steelyard.config.values import Address
from steelyard.errors import UsageError
from steelyard.supervisor.pidfile import PidFile, ServedError, open_pid_file, places, read_pids
from tests.runtime.test_strangers import NOBODY


def test_a_child_is_found_until_it_is_struck_out(tmp_path):
    """A later supervisor finds a child in the file until the child is removed from it."""
    file = PidFile.open(tmp_path / "gateways" / "up")
    with subprocess.Popen(["sleep", "60"]) as child:
        file.enter("balancer", "balancer-0", child.pid)
        file.serve(Address("127.0.0.1", 8080), given=False)
        file.leave()
        after = PidFile.open(tmp_path / "gateways" / "up")
        assert [one.pid for one in after.before.living("balancer")] == [child.pid]
        assert after.before.listen == Address("127.0.0.1", 8080)
        child.kill()
        child.wait()
        assert after.before.living("balancer") == []
        after.strike(child.pid)
    assert read_pids(after.folder).children == ()
    after.close()
    assert not (tmp_path / "gateways").exists()


def test_a_later_process_with_the_same_pid_is_no_child(tmp_path):
    """A process with the pid of a child but another time of start is not the child."""
    file = PidFile.open(tmp_path / "gateways" / "up")
    file.enter("agent", "agent", os.getpid())
    assert len(read_pids(file.folder).living("agent")) == 1
    text = json.loads((file.folder / "pids.json").read_text())
    text["children"][0]["started"] -= 1
    (file.folder / "pids.json").write_text(json.dumps(text))
    assert read_pids(file.folder).living("agent") == []
    file.close()


@pytest.mark.needs("root")
def test_what_another_user_wrote_is_not_believed(tmp_path):
    """A file of another user is ignored, and a folder of another user is refused."""
    file = PidFile.open(tmp_path / "gateways" / "up")
    file.enter("agent", "agent", os.getpid())
    file.leave()
    os.chown(file.folder / "pids.json", NOBODY, NOBODY)
    assert read_pids(file.folder).children == ()
    os.chown(file.folder, NOBODY, NOBODY)
    with pytest.raises(UsageError, match="belongs to another user"):
        PidFile.open(file.folder)


@pytest.mark.parametrize("text", ["", "[]", '{"children": 1}', "\0"])
def test_a_file_that_makes_no_sense_names_nobody(tmp_path, text):
    """A broken file, for instance after a full disk, lists no processes."""
    (tmp_path / "pids.json").write_text(text)
    assert read_pids(tmp_path).children == ()


def test_one_supervisor_holds_it(tmp_path):
    """The error for a second supervisor names the first; its death releases the lock."""
    code = (
        "import sys, time; from pathlib import Path; "
        "from steelyard.supervisor.pidfile import PidFile; "
        "file = PidFile.open(Path(sys.argv[1])); print(flush=True); time.sleep(600)"
    )
    folder = tmp_path / "gateways" / "up"
    with subprocess.Popen([sys.executable, "-c", code, folder], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(ServedError, match=f"by process {holder.pid}"):
            PidFile.open(folder)
        holder.kill()
    PidFile.open(folder).close()


def test_which_gateways_have_one(tmp_path):
    """A gateway without an agent has the pid file of its address, unless another one holds it."""

    def settings(port: int, lease: float = 0.0) -> Settings:
        gateway = Gateway(listen=Address("127.0.0.1", port))
        agent = Agent(lease=lease, on_stop="leave")
        return Settings(state=tmp_path, gateway=gateway, agent=agent)

    assert open_pid_file(settings(0), agent=False) is None
    alone = open_pid_file(settings(80), agent=False)
    assert alone is not None
    assert alone.folder == places(settings(80)).alone
    assert open_pid_file(settings(80), agent=False) is None
    turns = open_pid_file(settings(80, lease=5), agent=True)
    assert turns is not None
    assert turns.folder == places(settings(80)).turns
    up = open_pid_file(settings(0), agent=True)
    assert up is not None
    assert up.folder == places(settings(0)).up
    with pytest.raises(ServedError):
        open_pid_file(settings(80), agent=True)
    for file in (alone, turns, up):
        file.close()
