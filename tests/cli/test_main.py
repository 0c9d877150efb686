"""The command line as a whole, run as users run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import steelyard
from steelyard import purity

COMMANDS = ["up", "demo", "check", "status", "scale", "drain", "logs", "down", "agent", "balancer",
            "bench", "lab"]  # fmt: skip


def run(*words: str, **kwargs) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        capture_output=True, text=True, timeout=150, **kwargs,
    )  # fmt: skip


def test_help_names_every_command():
    """The help lists every command."""
    text = run("--help").stdout
    for command in COMMANDS:
        assert f" {command} " in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    """Every command has a help text."""
    done = run(command, "--help")
    assert done.returncode == 0
    assert "--help" in done.stdout


def test_version_names_the_build():
    """The version is the package's own, and plain Python is called pure."""
    pure = {**os.environ, purity.VARIABLE: "1"}
    assert run("--version", env=pure).stdout == f"steelyard {steelyard.__version__} (pure)\n"


@pytest.mark.needs("compiled")
def test_version_of_a_compiled_build():
    """If the hot path is compiled, the version says so."""
    compiled = {**os.environ, purity.VARIABLE: ""}
    told = run("--version", env=compiled).stdout
    assert told == f"steelyard {steelyard.__version__} (compiled)\n"


def test_check_tells_of_a_pure_build(tmp_path):
    """A pure build is a note, with its reason."""
    done = run("check", "--state", str(tmp_path), "--listen", "127.0.0.1:0", "--agent-listen",
               "127.0.0.1:0", "--", "sleep", "{port}",
               env={**os.environ, purity.VARIABLE: "1"})  # fmt: skip
    assert done.returncode == 0
    [line] = [line for line in done.stdout.splitlines() if " build " in line]
    assert line.split()[:5] == ["note", "build", "pure:", "plain", "Python,"]


USED = """
import sys
from steelyard.__main__ import main
sys.argv = ["steelyard", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
names = {name.partition(".")[0] for name in sys.modules} | set(sys.modules)
print("imported:", *sorted(names))
"""


@pytest.mark.parametrize(
    ("words", "spared"),
    [
        (
            ["--version"],
            {"pydantic", "rich", "fastapi", "websockets", "asyncio", "steelyard.config"},
        ),
        (["status", "--agent", "127.0.0.1:1"], {"fastapi", "uvicorn", "steelyard.supervisor"}),
    ],
)
def test_a_command_imports_what_it_uses(tmp_path, words, spared):
    """Modules of other commands would only cost time."""
    done = subprocess.run([sys.executable, "-c", USED, *words], capture_output=True, text=True)
    imported = set(done.stdout.partition("imported:")[2].split())
    assert "typer" in imported
    assert imported & spared == set()


def test_help_names_the_extra_to_install():
    """The bracket of an extra is not taken for markup."""
    assert "'steelyard[lab]'" in run("--help").stdout


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("restart", "`steelyard drain WORKER` replaces a worker"),
        ("stop", "Ctrl-C"),
        ("statsu", "did you mean `steelyard status`?"),
        ("xyzzy", "`steelyard --help` lists them all"),
    ],
)
def test_a_command_that_does_not_exist(word, said):
    """The hint names the command that was probably meant, not just a similar name."""
    done = run(word)
    assert done.returncode == 2
    assert f"there is no command `{word}`" in done.stderr
    assert said in done.stderr
    assert word != "restart" or "status" not in done.stderr


def test_errors_are_sentences():
    """An error is a sentence and a hint on standard error, without a traceback."""
    done = run("up", "--scaling-polcy", "step")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "--scaling-policy" in done.stderr


def test_options_behind_the_command_are_its_own(tmp_path):
    """Options after the command belong to the command, with or without `--`."""
    done = run("check", "--state", str(tmp_path), "--listen", "127.0.0.1:0", "--agent-listen",
               "127.0.0.1:0", "sleep", "--port", "{port}", "--min", "no number")  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_check_finds_what_is_wrong_and_says_so_in_json(tmp_path):
    """Each check has a verdict; the exit status sums them up."""
    done = run("check", "--json", "--state", str(tmp_path), "--listen", "127.0.0.1:0",
               "--agent-listen", "127.0.0.1:0", "--", "no-such-program", "{port}")  # fmt: skip
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"]) == (1, False)
    verdicts = {one["what"]: one["verdict"] for one in told["findings"]}
    assert verdicts == {
        "configuration": "ok",
        "build": "ok" if purity.is_compiled() else "note",
        "runtime": "ok",
        "command": "wrong",
        "gateway.listen": "ok",
        "agent.listen": "ok",
        "state": "ok",
        "store": "ok",
    }


def test_check_looks_for_the_command_where_it_will_run(tmp_path):
    """The command is searched in the application's folder, not in the working folder."""
    (tmp_path / "serve").write_text("#!/bin/sh\n")
    (tmp_path / "serve").chmod(0o755)
    words = ["--listen", "127.0.0.1:0", "--agent-listen", "127.0.0.1:0", "--", "./serve", "{port}"]
    words = ["check", "--state", str(tmp_path), *words]
    assert run(*words).returncode == 1
    assert (
        run(*words, env={**os.environ, "STEELYARD_APPLICATION_DIRECTORY": str(tmp_path)}).returncode
        == 0
    )


def test_check_of_a_good_setup_succeeds(tmp_path):
    """A good setup passes; a command that must read $PORT itself gets a note."""
    done = run("check", "--state", str(tmp_path), "--listen", "127.0.0.1:0",
               "--agent-listen", "127.0.0.1:0", "--", "sleep", "1")  # fmt: skip
    assert done.returncode == 0
    assert "it must listen on $PORT" in done.stdout


@pytest.mark.parametrize("command", ["up", "check"])
def test_a_runtime_that_lacks_its_engine_is_told_at_once(tmp_path, command):
    """`up` and `check` fail at once if no engine answers; `agent` would wait for it."""
    words = ("--state", str(tmp_path), "--runtime", "swarm", "--image", "shop:2", "--port", "80")
    env = {**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    done = run(command, *words, env=env)
    assert done.returncode == 1
    assert "no Docker engine at unix:///nowhere/docker.sock" in done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scale"], "give a number of workers, or --min and/or --max, or --reset"),
        (["scale", "3", "--min", "2"], "give a number of workers, or --min and/or --max"),
        (["scale", "3", "--reset"], "give a number of workers, or --min and/or --max"),
    ],
)
def test_scale_wants_one_or_the_other(words, said):
    """Missing or contradictory arguments are refused before any agent is asked."""
    done = run(*words)
    assert done.returncode == 2
    assert said in done.stderr
