"""File, environment and flags become one Settings, or one error that names every problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from steelyard.config.file import find_file
from steelyard.config.load import load_settings
from steelyard.config.settings import Settings
from steelyard.errors import UsageError

Problems = Callable[..., list[str]]


def write(folder: Path, text: str) -> Path:
    file = folder / "steelyard.toml"
    file.write_text(text)
    return file


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Problems:
    """A function that returns the loader's messages for a file, variables and flags."""
    monkeypatch.chdir(tmp_path)

    def told(text: str = "", environ: Mapping[str, str] | None = None, **flags: str) -> list[str]:
        write(tmp_path, text)
        dotted = {name.replace("__", "."): value for name, value in flags.items()}
        with pytest.raises(UsageError) as caught:
            load_settings(Path("steelyard.toml"), environ or {}, dotted)
        lines = str(caught.value).splitlines()
        return [line.strip() for line in (lines[1:] if len(lines) > 1 else lines)]

    return told


def test_nothing_given_means_the_defaults() -> None:
    """Without file, variables and flags every key has its default."""
    assert load_settings(None, {}, {}) == Settings()


def test_later_sources_win(tmp_path: Path) -> None:
    """The environment wins over the file, flags win over both, overrides over all."""
    file = write(tmp_path, "[scaling]\nmin = 2\nmax = 12\nup = 2\ndown = 2\n")
    environ = {"STEELYARD_SCALING_MAX": "13", "STEELYARD_SCALING_UP": "3"}
    flags = {"scaling.up": "4"}
    scaling = load_settings(file, environ, flags, {"scaling.down": 5}).scaling
    assert (scaling.min, scaling.max, scaling.up, scaling.down) == (2, 13, 4, 5)


def test_paths_in_the_file_are_relative_to_the_file(tmp_path: Path) -> None:
    """A relative path in the file starts at the folder of the file."""
    file = write(
        tmp_path, 'state = "s"\n[application]\ndirectory = "d"\n[store]\nurl = "sqlite:x.db"\n'
    )
    settings = load_settings(file, {}, {})
    assert settings.state == tmp_path / "s"
    assert settings.application.directory == tmp_path / "d"
    assert settings.store.url == f"sqlite:{tmp_path / 'x.db'}"


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("state", "~/s", Path("~/s")),
        ("state", "/abs", Path("/abs")),
        ("store", 'url = "sqlite:/abs.db"', "sqlite:/abs.db"),
        ("store", 'url = "sqlite:"', "sqlite:"),
        ("store", 'url = "memory:"', "memory:"),
    ],
)
def test_paths_that_stay_as_they_are(tmp_path: Path, key: str, text: str, expected: Any) -> None:
    """Absolute paths, home folders and stores without a path are not moved."""
    line = f"[store]\n{text}\n" if key == "store" else f'state = "{text}"\n'
    settings = load_settings(write(tmp_path, line), {}, {})
    assert (settings.store.url if key == "store" else settings.state) == expected


def test_paths_in_flags_are_left_to_the_working_folder(tmp_path: Path) -> None:
    """A relative path in a flag or variable starts at the working folder."""
    settings = load_settings(write(tmp_path, ""), {"STEELYARD_STATE": "s"}, {})
    assert settings.state == Path("s")


def test_a_command_in_the_file_runs_in_the_files_folder(tmp_path: Path) -> None:
    """A command in the file runs in the folder of the file, unless a folder is given."""
    file = write(tmp_path, '[application]\ncommand = ["./run"]\n')
    assert load_settings(file, {}, {}).application.directory == tmp_path
    assert load_settings(write(tmp_path, ""), {}, {}).application.directory == Path()


def test_lists_and_tables_as_text() -> None:
    """A command is shell words or JSON, a table JSON, a range has a dash."""
    settings = load_settings(
        None,
        {
            "STEELYARD_APPLICATION_COMMAND": "sh -c 'echo \"$PORT\"'",
            "STEELYARD_APPLICATION_ENVIRONMENT": '{"A": "b"}',
            "STEELYARD_RUNTIME_PORTS": "[3000, 3100]",
        },
        {},
    )
    assert settings.application.command == ("sh", "-c", 'echo "$PORT"')
    assert settings.application.environment == {"A": "b"}
    assert settings.runtime.ports == (3000, 3100)
    flags = {"application.command": '["a b", "c"]', "runtime.ports": "4000-4100"}
    settings = load_settings(None, {}, flags)
    assert settings.application.command == ("a b", "c")
    assert settings.runtime.ports == (4000, 4100)


def test_none_unsets_an_optional_key(tmp_path: Path) -> None:
    """A limit in the file can be lifted by a flag."""
    file = write(tmp_path, '[runtime]\nmemory = "1G"\n')
    assert load_settings(file, {}, {}).runtime.memory == 2**30
    assert load_settings(file, {}, {"runtime.memory": "none"}).runtime.memory is None


def test_variables_that_are_not_keys_are_left_alone() -> None:
    """Variables that our workers get, or that orchestrators set for a service, are ignored."""
    names = ["WORKER", "APPLICATION", "HOME", "TOKEN", "CONFIG", "SERVICE_HOST", "PORT_80_TCP"]
    environ = {f"STEELYARD_{name}": "x" for name in names} | {"STEELYARD_SCALING_MIN": ""}
    assert load_settings(None, environ, {}) == Settings()


@pytest.mark.parametrize("kind", ["docker", "swarm"])
def test_runtimes_that_are_not_built_yet_can_be_named(kind: str) -> None:
    """The loader accepts every kind of runtime."""
    assert load_settings(None, {}, {"runtime.kind": kind}).runtime.kind == kind


def test_an_unknown_key_names_the_nearest(problems: Problems) -> None:
    """A mistyped key leads to a hint with the nearest key."""
    assert problems("\n[scaling]\nmni = 4\n") == [
        "scaling.mni: unknown key (steelyard.toml:3) → did you mean scaling.min?"
    ]


def test_the_nearest_key_is_sought_in_the_own_section_first(problems: Problems) -> None:
    """The hint prefers a similar key of the same section."""
    assert problems("[states]\nhihg = 4\n[log]\nprocesess = 2\n") == [
        "states.hihg: unknown key (steelyard.toml:2) → did you mean states.high?",
        "log.procesess: unknown key (steelyard.toml:4) → did you mean gateway.processes?",
    ]


def test_a_key_in_the_wrong_section_names_the_right_one(problems: Problems) -> None:
    """The message for a key in the wrong section names the right section."""
    assert problems("min = 1\n[agent]\nlow = 3\nstate = 'x'\n") == [
        "min: unknown key (steelyard.toml:1) → `min` belongs to [scaling]",
        "agent.low: unknown key (steelyard.toml:3) → `low` belongs to [states] or to [scaling]",
        "agent.state: unknown key (steelyard.toml:4) → `state` belongs to the top of the file, "
        "before any section",
    ]


SECTIONS = (
    "the sections are application, runtime, probe, score, states, scaling, agent, gateway, "
    "store, log"
)


def test_an_unknown_section_names_the_nearest_and_all_there_are(problems: Problems) -> None:
    """There is one message for the section, with a guess and all names, and none for its keys."""
    assert problems("[scalng]\nmin = 4\nmax = 5\n[worker]\nlow = 1\n[state]\nlow = 1\n") == [
        f"[scalng]: unknown section (steelyard.toml:1) → did you mean [scaling]? ({SECTIONS})",
        f"[worker]: unknown section (steelyard.toml:4) → {SECTIONS}",
        f"[state]: unknown section (steelyard.toml:6) → did you mean [states]? ({SECTIONS})",
    ]


def test_a_key_like_no_other_lists_the_section(problems: Problems) -> None:
    """The message for a key without a similar one lists all keys of the section."""
    assert problems("[log]\nzzz = 4\n") == [
        "log.zzz: unknown key (steelyard.toml:2) → the keys of [log] are level"
    ]


def test_a_section_that_is_no_table(problems: Problems) -> None:
    """The message for a value in place of a table says that a table was expected."""
    assert problems("scaling = 4\n[[agent]]\n") == [
        "scaling: expected a table [scaling], got 4 (steelyard.toml:1)",
        "agent: expected a table [agent], got [{}] (steelyard.toml:2)",
    ]


def test_an_unknown_variable_names_the_nearest(problems: Problems) -> None:
    """The message for an unknown variable names the nearest one."""
    assert problems(environ={"STEELYARD_SCALING_MNI": "4"}) == [
        "STEELYARD_SCALING_MNI: unknown environment variable → did you mean STEELYARD_SCALING_MIN?"
    ]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("LISTEN", "GATEWAY_LISTEN"), ("MIN", "SCALING_MIN"), ("HEALTH_PATH", "PROBE_PATH")],
)
def test_a_variable_named_after_a_short_flag(problems: Problems, name: str, meant: str) -> None:
    """STEELYARD_LISTEN means the key of `--listen`, not the key that is spelt most alike."""
    [line] = problems(environ={f"STEELYARD_{name}": "8080"})
    assert line.endswith(f"→ did you mean STEELYARD_{meant}?")


@pytest.mark.parametrize(
    ("flag", "value", "line"),
    [
        (
            "scaling__min",
            "four",
            'scaling.min: expected a whole number ≥ 1, got "four" (flag --min)',
        ),
        ("scaling__min", "0", 'scaling.min: expected a whole number ≥ 1, got "0" (flag --min)'),
        (
            "scaling__policy",
            "stp",
            "scaling.policy: expected one of step, target, predictive, fixed, "
            'got "stp" (flag --scaling-policy)'
            " → did you mean step?",
        ),
        (
            "runtime__memory",
            "0",
            "runtime.memory: expected a size in bytes ≥ 1MiB, for instance 512M, 64MiB or 1GB, "
            'or none, got "0" (flag --memory)',
        ),
        (
            "runtime__memory",
            "512",
            "runtime.memory: expected a size in bytes ≥ 1MiB, for instance 512M, 64MiB or 1GB, "
            'or none, got "512" (flag --memory) → did you mean 512M?',
        ),
        (
            "probe__interval",
            "0s",
            "probe.interval: expected a time in seconds > 0, for instance 5, 500ms or 2m, "
            'got "0s" (flag --probe-interval)',
        ),
        (
            "runtime__cpus",
            "inf",
            'runtime.cpus: expected a number > 0, or none, got "inf" (flag --cpus)',
        ),
        (
            "application__environment",
            "A=b",
            'application.environment: expected a table of texts, for instance {"DEBUG": "1"}, '
            'as JSON, got "A=b" (flag --application-environment)',
        ),
        (
            "application__command",
            "sh -c 'x",
            'application.command: expected a list of words, for instance ["python", "app.py"], '
            'as shell words or JSON, got "sh -c \'x" (flag --application-command)',
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_place(
    problems: Problems, flag: str, value: str, line: str
) -> None:
    """The message has the key, what was expected, the value, and its place."""
    assert problems(**{flag: value}) == [line]


def test_true_is_no_number(problems: Problems) -> None:
    """A truth value is not accepted as the number 1."""
    assert problems("[scaling]\nmin = true\n") == [
        "scaling.min: expected a whole number ≥ 1, got true (steelyard.toml:2)"
    ]


def test_an_item_of_a_list_is_told_of_the_list(problems: Problems) -> None:
    """The message for wrong items of a list shows the whole list once."""
    assert problems('[application]\ncommand = ["a", 1, 2]\n') == [
        'application.command: expected a list of words, for instance ["python", "app.py"], '
        'got ["a", 1, 2] (steelyard.toml:2)'
    ]


@pytest.mark.parametrize(
    ("written", "meant"), [("3", ' → write "3"'), ("true", ' → write "true"'), ("[1]", "")]
)
def test_an_entry_of_a_table_that_is_no_text(problems: Problems, written: str, meant: str) -> None:
    """The message names the entry, and shows a number or a truth value as text."""
    text = f'[application]\nenvironment = {{ DEBUG = "1", WORKERS = {written} }}\n'
    assert problems(text) == [
        f"application.environment: expected a text for WORKERS, got {written} "
        f"(steelyard.toml:2){meant}"
    ]


def test_a_command_in_the_file_may_be_one_text(tmp_path: Path, problems: Problems) -> None:
    """A command as text is split as a shell would split it; an open quote is an error."""
    line = "[application]\ncommand = \"sh -c 'exec serve {port}'\"\n"
    application = load_settings(write(tmp_path, line), {}, {}).application
    assert application.command == ("sh", "-c", "exec serve {port}")
    assert application.directory == tmp_path
    [said] = problems('[application]\ncommand = "sh -c \'x"\n')
    assert "application.command: expected a list of words" in said


def test_a_long_value_is_cut(problems: Problems) -> None:
    """A long value is truncated in the message."""
    [line] = problems(scaling__min="x" * 5000)
    assert len(line) < 200


def test_keys_that_clash_are_both_named(problems: Problems) -> None:
    """The message names each key with its value and its place, which may be the default."""
    environ = {"STEELYARD_SCALING_MAX": "5"}
    assert problems("[scaling]\nmin = 6\nlow = 90\n", environ) == [
        "scaling.min = 6 (steelyard.toml:2), "
        "scaling.max = 5 (environment variable STEELYARD_SCALING_MAX): expected min ≤ max",
        "scaling.low = 90 (steelyard.toml:3), scaling.high = 60 (default): expected low < high",
    ]


def test_sections_that_clash_are_both_named(problems: Problems) -> None:
    """Two listeners on one port, or fewer ports than workers, lead to a message with all keys."""
    assert problems("[agent]\nlisten = 80\n", gateway__listen="*:80", runtime__ports="10-16") == [
        "agent.listen = 80 (steelyard.toml:2), gateway.listen = *:80 (flag --listen): "
        "expected two different addresses",
        "runtime.ports = 10-16 (flag --runtime-ports), scaling.max = 8 (default): "
        "expected a port for each worker",
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[states]\nlow = 60", "expected low < high"),
        ("[states]\nlow = 5", "expected hysteresis < low"),
        ("[scaling]\ncritical = 50", "expected high ≤ critical"),
        ("[scaling]\nbackoff = 61", "expected backoff ≤ backoff_max"),
        ("[runtime]\nports = [5000, 4000]", "expected first port ≤ last port"),
        ("[score]\ncpu=0\nmemory=0\nnetwork=0\navailability=0", "expected at least one weight"),
    ],
)
def test_each_rule_is_checked(problems: Problems, text: str, rule: str) -> None:
    """The message for a broken rule has the text of the rule."""
    [line] = problems(text)
    assert rule in line


def test_all_problems_are_told_at_once(problems: Problems) -> None:
    """One error lists the problems of all sources."""
    lines = problems(
        "[scaling]\nmni = 1\nmax = 'x'\n[nope]\n",
        {"STEELYARD_LOG_LEVEL": "loud", "STEELYARD_X": "1"},
        agent__listen="a:b",
    )
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = 1\nb = = 2\n", "steelyard.toml:2: not TOML: "),
        ("[a]\n\n[a]\n", "steelyard.toml:3: not TOML: "),
        ("a = [1,\n", "steelyard.toml:2: not TOML: "),
    ],
)
def test_what_is_not_toml_is_told_with_its_line(
    problems: Problems, text: str, problem: str
) -> None:
    """The message for a syntax error has the line and Python's own words."""
    [line] = problems(text)
    assert line.startswith(problem)


def test_a_broken_file_does_not_hide_wrong_flags_nor_invent_clashes(problems: Problems) -> None:
    """Wrong flags are reported besides a broken file, but no clash with keys that it may have."""
    lines = problems("[scaling\nmax = 20\n", scaling__min="9", log__level="loud")
    assert len(lines) == 2
    assert not any("min ≤ max" in line for line in lines)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """The message says why a missing file, a folder or a binary file cannot be read."""
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name, reason in [
        ("missing", "No such file"),
        (".", "Is a directory"),
        ("bytes", "expected text in UTF-8"),
    ]:
        with pytest.raises(UsageError, match=reason):
            load_settings(tmp_path / name, {}, {})


def test_where_the_file_is_found(tmp_path: Path) -> None:
    """The file is the named one, or the variable's, or the one in the folder, or none."""
    environ = {"STEELYARD_CONFIG": "from-variable.toml"}
    assert find_file("named.toml", environ, tmp_path) == Path("named.toml")
    assert find_file(None, environ, tmp_path) == Path("from-variable.toml")
    assert find_file(None, {}, tmp_path) is None
    file = write(tmp_path, "")
    assert find_file(None, {}, tmp_path) == file


def test_one_path_or_several(tmp_path: Path) -> None:
    """One path needs no list; paths are relative to the file, or as typed in a flag."""
    file = write(tmp_path, '[gateway]\ntls_cert = ["a.pem", "/b.pem"]\ntls_key = ["~/a", "b"]\n')
    gateway = load_settings(file, {}, {}).gateway
    assert gateway.tls_cert == (tmp_path / "a.pem", Path("/b.pem"))
    assert gateway.tls_key == (Path("~/a"), tmp_path / "b")
    assert gateway.pairs[0] == (tmp_path / "a.pem", Path.home() / "a")
    single = load_settings(write(tmp_path, '[gateway]\ntls_cert = "a.pem"\n'), {}, {}).gateway
    assert single.pairs == ((tmp_path / "a.pem", tmp_path / "a.pem"),)
    flags = {"gateway.tls_cert": "my certificate.pem", "gateway.tls_key": '["k.pem"]'}
    typed = load_settings(None, {}, flags).gateway
    assert typed.pairs == ((Path("my certificate.pem"), Path("k.pem")),)


def test_keys_without_certificates(problems: Problems) -> None:
    """There must be a key for each certificate, or none at all."""
    (line,) = problems('[gateway]\ntls_cert = ["a", "b"]\ntls_key = "c"\n')
    assert "gateway.tls_cert" in line
    assert "steelyard.toml:3" in line
    assert "a key for each certificate" in line
    (line,) = problems(gateway__tls_key="c")
    assert "gateway.tls_cert = [] (default)" in line
