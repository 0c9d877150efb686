"""The settings as a whole."""

from __future__ import annotations

from steelyard.config.settings import Application, Settings


def test_settings_survive_json():
    """They travel from the supervisor to its children so."""
    settings = Settings(application=Application(command=("serve", "{port}")))
    assert Settings.model_validate_json(settings.model_dump_json()) == settings
