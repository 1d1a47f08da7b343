"""The settings that are turned first, a line each: dragged, or typed with any value in range.

A component of our own: Streamlit's slider takes no typed value, its number box cannot be dragged,
and two widgets that follow each other undo one another where a rerun is slow. It also marks what
is not as it was filled in, and keeps all settings for a page that is loaded again.
"""

import dataclasses
import functools
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble.errors import ConfigError
from ensemble.ui.frame.chart_component import read_shared_script
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.settings import SettingsForm
from ensemble.ui.shared.tab import tab

KEY = "number_fields"
_MAX_TEXT = 20_000  # characters that a browser may send
_VARIED_HELP = "Differs by member: see “Differ by member” under More."


def show_number_fields(form: SettingsForm, varied: Collection[str] = ()) -> None:
    """Draw the lines; what is changed in them is in the settings before the page is drawn again."""
    for name in settings.PRIMARY_FIELDS:
        widget_state.initialize_widget(settings.format_setting_key(name, form), form.fields[name].default)
    sent = {
        "form": form.name,
        "fields": [_describe_number_field(form, name, name in varied) for name in settings.PRIMARY_FIELDS],
        "number": tab.settings_edit_number[form.name],
        "all": settings.collect_settings(form),
        "visit": tab.settings_visit[form.name],
        "restorable": tab.settings_restorable[form.name],
    }
    _register_number_fields()(
        # As text: Streamlit imports pandas to find tables in anything else.
        data={"form": json.dumps(sent)},
        key=f"{form.name}{KEY}",
        on_edited_change=functools.partial(apply_edited_numbers, form),
        on_restored_change=functools.partial(restore_kept_settings, form),
    )


def _describe_number_field(form: SettingsForm, name: str, differs: bool) -> dict[str, Any]:
    """One line for the component: its value, its range, and the value that it began with."""
    field = form.fields[name]
    origin, values = tab.settings_origin[form.name]
    return {
        "name": name,
        "label": settings.format_setting_title(name),
        "help": _VARIED_HELP if differs else field.metadata["help"],
        "value": settings.get_run_setting(name, form),
        "low": field.metadata["low"],
        "high": field.metadata["high"],
        "whole": isinstance(field.default, int),
        "steps": settings.list_slider_steps(name, form),
        "off": differs,
        "usual": values.get(name, field.default),
        "origin": origin,
    }


def apply_edited_numbers(form: SettingsForm) -> None:
    """Callback: take what was changed in the browser, each value only where it is in range."""
    try:
        sent = _parse_sent_json(form, "edited")
        number, values = int(sent["number"]), dict(sent["values"])
    except (KeyError, TypeError, ValueError):
        return
    if number <= tab.settings_edit_number[form.name]:  # Given twice, as the answer was late.
        return
    tab.settings_edit_number[form.name] = number
    _set_sent_numbers(form, values)


def _set_sent_numbers(form: SettingsForm, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name in settings.PRIMARY_FIELDS and (read := parse_number(form.fields[name], value)) is not None:
            widget_state.set_widget_value(settings.format_setting_key(name, form), read)


def restore_kept_settings(form: SettingsForm) -> None:
    """Callback: the settings as they stood before the page was loaded again, where they fit."""
    try:
        sent = _parse_sent_json(form, "restored")
        config, edits = form.config.from_dict(sent["settings"]), dict(sent["edits"])
    except (KeyError, TypeError, ValueError, ConfigError):
        tab.settings_restorable[form.name] = False
        return
    if not tab.settings_restorable[form.name]:  # Given twice, as the answer was late.
        return
    origin = tab.settings_origin[form.name]
    settings.fill_run_settings(config)
    tab.settings_origin[form.name] = origin
    # What was changed while these were on their way is newer.
    _set_sent_numbers(form, edits)


def _parse_sent_json(form: SettingsForm, name: str) -> dict[str, Any]:
    """An object that the browser sent as text.

    Raises:
      ValueError, TypeError: it is none.
    """
    text = widget_state.get_widget_value(f"{form.name}{KEY}").get(name)
    if not isinstance(text, str) or len(text) > _MAX_TEXT:
        raise ValueError("not a text of that length")
    value = json.loads(text)
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value


def parse_number(field: "dataclasses.Field[Any]", value: object) -> float | None:
    """A value of a setting in its range, whole where it has to be; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not field.metadata["low"] <= value <= field.metadata["high"]:  # NaN is not, either
        return None
    if not isinstance(field.default, int):
        return float(value)
    return int(value) if value == int(value) else None


@functools.cache
def _register_number_fields() -> Any:
    folder = Path(__file__).parent / "js"
    return st.components.v2.component(
        "ensemble_number_fields",
        html='<div class="fields"></div>',
        css=(folder / "fields.css").read_text("utf-8"),
        js="\n".join(
            [read_shared_script("dom.js"), read_shared_script("rest.js"), (folder / "fields.js").read_text("utf-8")]
        ),
    )
