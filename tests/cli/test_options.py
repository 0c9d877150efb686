"""Every key of the settings as an option of a command."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner, Result

from steelyard.cli.options import (
    BalancerCommand,
    ConfiguredCommand,
    settings_from,
    settings_loader,
)
from steelyard.config.keys import every_key, section_meanings
from steelyard.errors import UsageError


def make_app() -> typer.Typer:
    app = typer.Typer()

    @app.command(cls=ConfiguredCommand)
    def up(
        ctx: typer.Context,
        command: Annotated[list[str] | None, typer.Argument()] = None,
        state: Annotated[bool, typer.Option("--own-state")] = False,
    ) -> None:
        """Start a fleet."""
        settings = settings_from(ctx, application_command=command)
        own = {"own_state": state, "params": sorted(ctx.params)}
        typer.echo(json.dumps({**own, **settings.model_dump(mode="json")}))

    @app.command(cls=BalancerCommand)
    def balancer() -> None:
        """Serve fixed workers."""

    @app.command()
    def plain() -> None:
        """A command without settings."""

    return app


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*args: str, **env: str) -> Result:
    return CliRunner().invoke(make_app(), list(args), env={"COLUMNS": "200", **env})


def settings(*args: str, **env: str) -> dict[str, Any]:
    result = run(*args, **env)
    assert result.exit_code == 0, result.output
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


def test_a_flag_and_a_command_after_the_dashes() -> None:
    """The words after `--` are the worker's command, with its own dashes."""
    loaded = settings("up", "--min", "2", "--", "python", "-m", "http.server", "{port}")
    assert loaded["scaling"]["min"] == 2
    assert loaded["application"]["command"] == ["python", "-m", "http.server", "{port}"]


def test_short_and_long_flags_are_the_same_option() -> None:
    """Both names of a key can be typed."""
    assert settings("up", "--min", "3")["scaling"]["min"] == 3
    assert settings("up", "--scaling-min=3")["scaling"]["min"] == 3


def test_the_callback_sees_only_its_own_parameters() -> None:
    """Keys do not reach the command's function, even one named like its own parameter."""
    loaded = settings("up", "--own-state", "--state", "folder")
    assert loaded["own_state"] is True
    assert loaded["params"] == ["command", "state"]
    assert loaded["state"] == "folder"


def test_flags_win_over_variables_and_these_over_the_file() -> None:
    """The file in the working folder is read without being named."""
    Path("steelyard.toml").write_text("[scaling]\nmin = 2\nmax = 10\nup = 2\n")
    loaded = settings(
        "up", "--scaling-up", "4", STEELYARD_SCALING_UP="3", STEELYARD_SCALING_MAX="9"
    )
    assert [loaded["scaling"][name] for name in ("min", "max", "up")] == [2, 9, 4]


def test_a_file_can_be_named() -> None:
    """`--config` takes the place of the file in the working folder."""
    Path("steelyard.toml").write_text("[scaling]\nmin = 2\n")
    Path("other.toml").write_text("[scaling]\nmin = 3\n")
    assert settings("up", "--config", "other.toml")["scaling"]["min"] == 3
    assert settings("up", STEELYARD_CONFIG="other.toml")["scaling"]["min"] == 3


def test_no_command_leaves_the_one_in_the_file() -> None:
    """An argument that is not given overrides nothing."""
    Path("steelyard.toml").write_text('[application]\ncommand = ["serve"]\n')
    assert settings("up")["application"]["command"] == ["serve"]


def test_a_wrong_value_is_told_by_the_loader() -> None:
    """Options take any text; the loader's error reaches the command as a UsageError."""
    result = run("up", "--min", "four")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == (
        'scaling.min: expected a whole number ≥ 1, got "four" (flag --min)'
    )


def test_an_unknown_flag_is_told_with_the_nearest() -> None:
    """A mistyped flag is a usage error with a suggestion."""
    result = run("up", "--mni", "4")
    assert result.exit_code == 2
    assert "--min" in result.output


def test_an_override_that_is_no_key_is_a_bug() -> None:
    """A wrong name in our own code is not ignored."""
    app = typer.Typer()

    @app.command(cls=ConfiguredCommand)
    def up(ctx: typer.Context) -> None:
        settings_from(ctx, aplication_name="x")

    assert isinstance(CliRunner().invoke(app, []).exception, KeyError)


def test_help_shows_what_most_people_need() -> None:
    """The help has fewer than 80 lines, and names --help-all."""
    text = run("up", "--help", COLUMNS="80").stdout
    assert len(text.splitlines()) < 80
    shown = [key.dotted for key in every_key() if f"{key.flags[0]} " in text.replace(",", " ")]
    assert shown == sorted(ConfiguredCommand.common, key=[k.dotted for k in every_key()].index)
    assert "--help-all" in text


def test_short_help_has_the_first_sentence_of_a_key() -> None:
    """The long help has the others, too."""
    keys = [key for key in every_key() if key.dotted in ConfiguredCommand.common]
    others = [rest for key in keys if (rest := key.description.partition(". ")[2])]
    brief, full = (run("up", word, COLUMNS="1000").stdout for word in ("--help", "--help-all"))
    assert others
    assert [rest for rest in others if rest in brief] == []
    assert [rest for rest in others if rest not in full] == []


def test_a_balancer_shows_what_a_balancer_uses() -> None:
    """Keys of workers, scaling and the agent are in neither help of a balancer."""
    keys, sections = every_key(), {"", "gateway", "log"}
    others = [key.flags[-1] for key in keys if key.section not in sections]
    brief, full = (run("balancer", word).stdout for word in ("--help", "--help-all"))
    assert [flag for flag in others if flag in brief or flag in full] == []
    own = [key.flags[-1] for key in keys if key.section in sections]
    assert [flag for flag in own if flag not in full] == []
    assert "--listen" in brief


def test_a_bracket_in_a_help_text_is_no_markup() -> None:
    """The name of an extra is shown in full."""
    assert "steelyard[redis]" in run("up", "--help-all").stdout


def test_help_all_lists_every_flag_by_section() -> None:
    """Each section has its panel, each key its short and its long flag."""
    text = run("up", "--help-all").stdout
    assert [name for name in section_meanings() if f"─ {name}: " not in text] == []
    missing = [flag for key in every_key() for flag in key.flags if flag not in text]
    assert missing == []


def test_other_commands_are_left_alone() -> None:
    """A command that needs no settings shows none."""
    assert "--scaling-min" not in run("plain", "--help").stdout


def test_an_env_file_is_read_and_told_once(tmp_path: Path) -> None:
    """The meaning of each variable goes to standard error, without passwords; flags win."""
    file = tmp_path / ".env"
    file.write_text(
        "MAX_CONTAINERS=15\nHIGH_LOAD_THRESHOLD=55\nSCALE_CHECK_PERIOD=10\n"
        "STEELYARD_STORE_URL=redis://:hush@db\n"
    )
    result = run("up", "--env-file", str(file), "--max", "9")
    loaded = json.loads(result.stdout)
    assert (loaded["scaling"]["max"], loaded["scaling"]["high"]) == (9, 45)
    lines = result.stderr.splitlines()
    assert lines[0].split() == ["MAX_CONTAINERS=15", "→", "scaling.max", "=", "15"]
    assert "not used: every agent.tick is a check" in lines[2]
    assert "hush" not in result.stderr
    assert len(lines) == 4


def test_an_env_file_is_not_told_again_by_a_reload(tmp_path: Path) -> None:
    """What it says is read anew."""
    file, found = tmp_path / ".env", []
    app = typer.Typer()

    @app.command(cls=ConfiguredCommand)
    def up(ctx: typer.Context) -> None:
        load = settings_loader(ctx)
        for most in (15, 16):
            file.write_text(f"MAX_CONTAINERS={most}\n")
            found.append(load().scaling.max)

    file.touch()
    result = CliRunner().invoke(app, ["--env-file", str(file)])
    assert found == [15, 16]
    assert result.stderr.splitlines() == ["MAX_CONTAINERS=15  → scaling.max = 15"]


def test_an_env_file_names_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's DOCKER_HOST applies unless the environment has one."""
    (tmp_path / ".env").write_text("DOCKER_HOST=unix:///of/the/file\n")
    monkeypatch.setenv("DOCKER_HOST", "unix:///of/the/environment")
    run("up", "--env-file", ".env")
    assert os.environ["DOCKER_HOST"] == "unix:///of/the/environment"
    monkeypatch.delenv("DOCKER_HOST")
    run("up", "--env-file", ".env")
    assert os.environ["DOCKER_HOST"] == "unix:///of/the/file"
