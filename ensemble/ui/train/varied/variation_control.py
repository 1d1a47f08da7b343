"""Train's control for a setting that differs from member to member: which, from where to where.

The control holds the text of the setting `vary`, which presets and copied settings fill as well:
the widgets are set from that text, and their changes rewrite it.
"""

from typing import Any, NamedTuple

import streamlit as st

from ensemble.config import EnsembleConfig, member_values
from ensemble.errors import ConfigError
from ensemble.ui.shared import settings, widget_state
from ensemble.wording import escaping
from ensemble.wording.runs import member_settings as words

NO_VARIATION, AS_TEXT = "", "text"
_VARIATION_LABELS = {NO_VARIATION: "nothing", **words.SETTING_TITLES, AS_TEXT: "several, as text"}
LOG, EVEN, LIST = "Log", "Even", "List"
_VARIATION_HELP = (
    "Members with values of their own are trained side by side in one program: one run instead of "
    "one for each value. A member whose loss diverges is stopped; the others go on."
)
_SPREAD_HELP = "Log: each value is the same factor above the last. Even: the same step. List: your own."
# What a setting begins with when it is chosen.
_INITIAL_TEXTS = {
    "learning_rate": "learning_rate=0.01..1:log",
    "momentum": "momentum=0.5..0.95",
    "weight_decay": "weight_decay=0.0001..0.1:log",
}
_EXAMPLE_VALUES = {"learning_rate": "0.01", "momentum": "0.9", "weight_decay": "0.0001"}
WIDGET_KEYS = {part: f"vary_{part}" for part in ("which", "how", "low", "high", "values", "text")}


class _VariationForm(NamedTuple):
    """What the text of `vary` is on the widgets."""

    which: str
    how: str = LOG
    low: str = ""
    high: str = ""
    values: str = ""
    text: str = ""


def list_chosen_variations() -> tuple[str, ...]:
    return tuple(words.parse_varied_settings(settings.get_run_setting("vary"), settings.get_run_setting("members")))


def build_varied_control_arguments(name: str, differ: tuple[str, ...]) -> dict[str, Any]:
    """What the control of a setting that differs is given: it is of no use meanwhile."""
    if name not in differ:
        return {}
    return {"disabled": True, "help": "Differs by member: see “Differ by member”."}


def show_variation_control() -> None:
    """Which setting differs and how; below it what each member gets, or what is amiss."""
    variation_form = _get_variation_form(settings.get_run_setting("vary"))
    for part, value in variation_form._asdict().items():
        widget_state.sync_widget_value(WIDGET_KEYS[part], value)
    widget_state.draw_widget(
        st.selectbox,
        "Differ by member",
        list(_VARIATION_LABELS),
        key=WIDGET_KEYS["which"],
        help=_VARIATION_HELP,
        format_func=_VARIATION_LABELS.__getitem__,
        on_change=_update_varied_setting,
    )
    if variation_form.which == NO_VARIATION:
        return
    if variation_form.which == AS_TEXT:
        widget_state.draw_widget(
            st.text_input,
            "Settings and their values",
            key=WIDGET_KEYS["text"],
            on_change=_save_variation_text,
            help="Such as learning_rate=0.01..1:log momentum=0.8,0.9",
        )
    else:
        _show_variation_values(variation_form)
    if reason := _describe_invalid_number(variation_form) or _describe_invalid_variation(
        settings.get_run_setting("vary"), settings.get_run_setting("members")
    ):
        st.caption(f":material/warning: {escaping.escape_markdown(reason)}")
    else:
        differ = words.parse_varied_settings(settings.get_run_setting("vary"), settings.get_run_setting("members"))
        st.caption(escaping.escape_markdown(words.describe_member_values(differ)))


def _show_variation_values(form: _VariationForm) -> None:
    widget_state.draw_widget(
        st.segmented_control,
        "Spread",
        [LOG, EVEN, LIST],
        key=WIDGET_KEYS["how"],
        required=True,
        on_change=_save_variation_text,
        help=_SPREAD_HELP,
        label_visibility="collapsed",
    )
    if form.how == LIST:
        widget_state.draw_widget(
            st.text_input,
            "Values",
            key=WIDGET_KEYS["values"],
            on_change=_save_variation_text,
            help="With commas between; each is given to as many members.",
        )
        return
    with st.container(horizontal=True, gap="small"):
        widget_state.draw_widget(st.text_input, "From", key=WIDGET_KEYS["low"], on_change=_save_variation_text)
        widget_state.draw_widget(st.text_input, "To", key=WIDGET_KEYS["high"], on_change=_save_variation_text)


def _update_varied_setting() -> None:
    """Callback: another setting differs, by values to begin with; or none does."""
    which, text = (widget_state.get_widget_value(WIDGET_KEYS["which"]), settings.get_run_setting("vary"))
    if which == AS_TEXT:
        text = text or f"{_INITIAL_TEXTS['learning_rate']} momentum=0.8,0.9"
        widget_state.set_widget_value(WIDGET_KEYS["text"], text)
    else:
        text = _INITIAL_TEXTS.get(which, "")
    widget_state.set_widget_value(settings.format_setting_key("vary"), text)


def _save_variation_text() -> None:
    """Callback: the setting's text from what the widgets hold."""
    held = _VariationForm(*(widget_state.get_widget_value(WIDGET_KEYS[part], "") for part in WIDGET_KEYS))
    if held.which == AS_TEXT:
        text = " ".join(held.text.split())
        widget_state.set_widget_value(WIDGET_KEYS["text"], text)
    elif held.how == LIST:
        value_list = ",".join(held.values.replace(",", " ").split())
        text = f"{held.which}={value_list or ','.join(filter(None, (held.low, held.high)))}"
    else:
        text = f"{held.which}={''.join(held.low.split())}..{''.join(held.high.split())}"
        text += ":log" if held.how == LOG else ""
    widget_state.set_widget_value(settings.format_setting_key("vary"), text)


def _get_variation_form(text: str) -> _VariationForm:
    """As `_parse_variation_text`, but what a person writes as a text stays one while they write."""
    now = (
        widget_state.get_widget_value(WIDGET_KEYS["which"], NO_VARIATION),
        widget_state.get_widget_value(WIDGET_KEYS["text"], ""),
    )
    return _VariationForm(AS_TEXT, text=text) if now == (AS_TEXT, text) else _parse_variation_text(text)


def _parse_variation_text(text: str) -> _VariationForm:
    """The widgets' values for a text of `vary`: what fits no widget stays a text."""
    name, _, values_text = text.partition("=")
    if not text:
        return _VariationForm(NO_VARIATION)
    if name not in member_values.VARIABLE_SETTINGS or " " in text:
        return _VariationForm(AS_TEXT, text=text)
    span, _, how = values_text.partition(":")
    low, dots, high = span.partition("..")
    if dots:
        return _VariationForm(name, LOG if how == "log" else EVEN, low, high, f"{low}, {high}")
    each = values_text.split(",")
    return _VariationForm(name, LIST, each[0], each[-1], ", ".join(each))


def _describe_invalid_number(form: _VariationForm) -> str:
    """Which part of the widgets is no number, in a sentence; "" where all are."""
    if form.which in (NO_VARIATION, AS_TEXT):
        return ""
    for number_text in form.values.split(", ") if form.how == LIST else (form.low, form.high):
        try:
            float(number_text)
        except ValueError:
            what = f"“{number_text:.20}” is no number" if number_text else "A number is missing"
            return f"{what}: write one such as {_EXAMPLE_VALUES[form.which]}."
    return ""


def _describe_invalid_variation(text: str, members: int) -> str:
    """Why members cannot differ so, in a sentence; "" where they can."""
    try:
        EnsembleConfig(members=members, vary=text)
    except ConfigError as error:
        return str(error)
    return ""
