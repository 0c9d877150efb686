"""Every key of the settings as an option of a command.

`@app.command(cls=ConfiguredCommand)` adds the options, `settings_from(ctx)` reads them. All options
take text, so that the loader reports a wrong value in the same words as for the file.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.markup import escape
from typer.core import TyperCommand

from steelyard.config.env_file import Became, read_env_file
from steelyard.config.file import FILE, find_file
from steelyard.config.keys import Key, every_key, section_meanings, sections
from steelyard.config.layer import Layer
from steelyard.config.load import load_settings
from steelyard.config.settings import Settings
from steelyard.store.url import without_secrets

T = TypeVar("T")

_META = "steelyard.cli.options"
_CONFIG = "config_file"
_ENV_FILE = "env_file"


def settings_from(ctx: typer.Context, **overrides: Any) -> Settings:
    """The settings of this command line; overrides win (`application_command=…`) unless None."""
    return settings_loader(ctx, **overrides)()


def settings_loader(ctx: typer.Context, **overrides: Any) -> Callable[[], Settings]:
    """A function that loads the settings of this command line, anew at each call.

    A file that exists at the first call must exist later, too: without it the defaults would
    silently apply. The environment and the working folder are read here, and nowhere else.
    """
    given: Mapping[str, str | None] = ctx.meta[_META]
    dotted = {key.parameter: key.dotted for key in every_key()}
    texts = _without_none({dotted[name]: given[_option(name)] for name in dotted})
    values = _without_none({dotted[name]: value for name, value in overrides.items()})
    first = find_file(given[_CONFIG], os.environ, Path())
    env_file = _EnvFile(given[_ENV_FILE])

    def load() -> Settings:
        file = first or find_file(None, os.environ, Path())
        settings = load_settings(file, os.environ, texts, values, env_file.layer())
        env_file.tell()
        return settings

    return load


class _EnvFile:
    """The file of `--env-file`, if given; its conversion is printed once, not at each reload."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._untold: tuple[Became, ...] = ()
        self._told = False

    def layer(self) -> Layer | None:
        if self._name is None:
            return None
        found = read_env_file(Path(self._name))
        if found.engine:  # as with Compose, the environment wins over the file
            os.environ.setdefault("DOCKER_HOST", found.engine)
        self._untold = () if self._told else found.story
        return found.layer

    def tell(self) -> None:
        rows = [(f"{one.name}={without_secrets(one.value)}", _outcome(one)) for one in self._untold]
        width = max((len(given) for given, _ in rows), default=0)
        for given, outcome in rows:
            typer.echo(f"{given:<{width}}  → {outcome}", err=True)
        self._told, self._untold = True, ()


def _outcome(one: Became) -> str:
    if not one.keys:
        return one.note
    text = ", ".join(f"{key} = {without_secrets(value)}" for key, value in one.keys)
    return f"{text} ({one.note})" if one.note else text


def _without_none(values: Mapping[str, T | None]) -> dict[str, T]:
    return {name: value for name, value in values.items() if value is not None}


class ConfiguredCommand(TyperCommand):
    """A command that takes every key as an option and keeps these options out of its callback.

    `--help` shows the options that most people need, `--help-all` shows all.
    """

    sections: tuple[str, ...] = ("", *sections())
    common: tuple[str, ...] = (
        "application.name", "runtime.image", "runtime.port", "runtime.cpus", "runtime.memory",
        "probe.path", "scaling.min", "scaling.max", "gateway.listen", "gateway.tls_cert",
        "gateway.tls_key", "agent.listen", "state",
    )  # fmt: skip

    @cached_property
    def _settings_options(self) -> list[Any]:
        found = _options(every_key())
        keys = {_option(key.parameter): key for key in every_key()}
        for option in found:
            if key := keys.get(option.name):
                option.hidden, option.help = key.dotted not in self.common, _help(key, brief=True)
        return found

    def show_all(self) -> None:
        """Make `--help` show every key of this command's sections, in one panel per section."""
        keys = {_option(key.parameter): key for key in every_key() if key.section in self.sections}
        for option in self._settings_options:
            if key := keys.get(option.name):
                option.hidden, option.help = False, _help(key)
                option.rich_help_panel = _panel(key)

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, then one for each key.

        They are made only for the command that runs.
        """
        params = super().get_params(ctx)
        return [*params[:-1], *self._settings_options, *params[-1:]]  # --help stays the last

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        names = [option.name for option in self._settings_options]
        ctx.meta[_META] = {name: ctx.params.pop(name, None) for name in names}
        return rest


class BalancerCommand(ConfiguredCommand):
    """A command that shows only the keys that a balancer uses.

    It accepts the others, too, so that one set of flags fits `up` and `balancer`.
    """

    sections = ("", "gateway", "log")
    common = (
        "gateway.listen", "gateway.processes", "gateway.tls_cert", "gateway.tls_key",
        "gateway.policy", "gateway.sticky", "gateway.worker_concurrency", "gateway.answer_timeout",
        "gateway.access_log", "gateway.metrics", "log.level", "state",
    )  # fmt: skip


def _help_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted and isinstance(ctx.command, ConfiguredCommand):
        ctx.command.show_all()
        typer.echo(ctx.get_help())
        raise typer.Exit


def _options(keys: tuple[Key, ...]) -> list[Any]:
    """Build one option per key; Typer makes options from a signature, which is written here."""

    def form() -> None: ...

    parameters = [_config_parameter(), _env_parameter(), *(_parameter(key) for key in keys)]
    parameters.append(_help_all_parameter())
    form.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    form.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(form)
    return list(typer.main.get_command(app).params)


def _config_parameter() -> inspect.Parameter:
    text = f"The configuration file; by default {FILE} in the working folder, if it exists."
    return _text_parameter(_CONFIG, typer.Option(None, "--config", metavar="PATH", help=text))


def _env_parameter() -> inspect.Parameter:
    text = "A .env file with RustyBalancer's or our variables; prints the key of each."
    return _text_parameter(_ENV_FILE, typer.Option(None, "--env-file", metavar="PATH", help=text))


def _help_all_parameter() -> inspect.Parameter:
    text = "Show every flag, section by section, and exit."
    option = typer.Option(False, "--help-all", is_eager=True, callback=_help_all, help=text)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter("help_all", kind, default=option, annotation=bool)


def _panel(key: Key) -> str | None:
    return f"{key.section}: {section_meanings()[key.section]}" if key.section else None


def _parameter(key: Key) -> inspect.Parameter:
    option = typer.Option(None, *key.flags, help=_help(key), metavar=key.kind.word)
    return _text_parameter(_option(key.parameter), option)


def _help(key: Key, *, brief: bool = False) -> str:
    """The help of a key, or its first sentence, escaped: `steelyard[redis]` is not markup."""
    text = key.description.partition(". ")[0].removesuffix(".") + "." if brief else key.description
    return escape(f"{text} {_remarks(key)}")


def _remarks(key: Key) -> str:
    default = f"default {key.show(key.default)}"
    return f"({key.kind.noun}; {default})" if key.choices else f"({default})"


def _text_parameter(name: str, option: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=option, annotation=str | None)


def _option(parameter: str) -> str:
    """The option's parameter, with a prefix: a command may have a parameter called `state`."""
    return f"key_{parameter}"
