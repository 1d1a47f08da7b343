"""Train's control for a setting that differs from member to member: which, from where to where.

What it holds is the text of the setting `vary`, which presets and "Use the run's" fill as well:
the widgets are set from that text, and a change of theirs writes it anew.
"""

from typing import Any, NamedTuple

import streamlit as st

from ensemble.config import EnsembleConfig, varying
from ensemble.errors import ConfigError
from ensemble.ui.shared import settings, widget
from ensemble.wording import escaping
from ensemble.wording.runs import varied as words

ALIKE, TEXT = "", "text"
WHICH = {ALIKE: "nothing", **words.TITLES, TEXT: "several, as text"}
LOG, EVEN, LIST = "Log", "Even", "List"
HELP = (
    "Members with values of their own are trained side by side in one program: one run instead of "
    "one for each value. One whose loss runs away is set aside, the others go on."
)
HOW_HELP = "Log: each value is the same factor above the last. Even: the same step. List: your own."
# What a setting begins with when it is chosen.
FIRST = {
    "learning_rate": "learning_rate=0.01..1:log",
    "momentum": "momentum=0.5..0.95",
    "weight_decay": "weight_decay=0.0001..0.1:log",
}
EXAMPLE = {"learning_rate": "0.01", "momentum": "0.9", "weight_decay": "0.0001"}
KEY = {part: f"vary_{part}" for part in ("which", "how", "low", "high", "values", "text")}


class Said(NamedTuple):
    """What the text of `vary` is on the widgets."""

    which: str
    how: str = LOG
    low: str = ""
    high: str = ""
    values: str = ""
    text: str = ""


def names() -> tuple[str, ...]:
    """The settings that differ from member to member, as the controls stand."""
    return tuple(words.differing(settings.value("vary"), settings.value("members")))


def instead(name: str, differ: tuple[str, ...]) -> dict[str, Any]:
    """What the control of a setting that differs is given: it is of no use meanwhile."""
    if name not in differ:
        return {}
    return {"disabled": True, "help": "Differs by member: see “Differ by member”."}


def control() -> None:
    """Which setting differs and how; below it what each member gets, or what is amiss."""
    said = as_held(settings.value("vary"))
    for part, value in said._asdict().items():
        widget.follow(KEY[part], value)
    st.selectbox(
        "Differ by member",
        list(WHICH),
        key=KEY["which"],
        help=HELP,
        format_func=WHICH.__getitem__,
        on_change=choose,
    )
    if said.which == ALIKE:
        return
    if said.which == TEXT:
        st.text_input(
            "Settings and their values",
            key=KEY["text"],
            on_change=write,
            help="Such as learning_rate=0.01..1:log momentum=0.8,0.9",
        )
    else:
        values(said)
    if reason := unread(said) or amiss(settings.value("vary"), settings.value("members")):
        st.caption(f":material/warning: {escaping.markdown(reason)}")
    else:
        differ = words.differing(settings.value("vary"), settings.value("members"))
        st.caption(escaping.markdown(words.each(differ)))


def values(said: Said) -> None:
    """From where to where, or which values."""
    st.segmented_control(
        "Spread",
        [LOG, EVEN, LIST],
        key=KEY["how"],
        required=True,
        on_change=write,
        help=HOW_HELP,
        label_visibility="collapsed",
    )
    if said.how == LIST:
        st.text_input(
            "Values",
            key=KEY["values"],
            on_change=write,
            help="With commas between; each is given to as many members.",
        )
        return
    with st.container(horizontal=True, gap="small"):
        st.text_input("From", key=KEY["low"], on_change=write)
        st.text_input("To", key=KEY["high"], on_change=write)


def choose() -> None:
    """Callback: another setting differs, by values to begin with; or none does."""
    which, text = widget.value(KEY["which"]), settings.value("vary")
    if which == TEXT:
        text = text or f"{FIRST['learning_rate']} momentum=0.8,0.9"
        widget.put(KEY["text"], text)
    else:
        text = FIRST.get(which, "")
    widget.put(settings.key("vary"), text)


def write() -> None:
    """Callback: the setting's text from what the widgets hold."""
    held = Said(*(widget.value(KEY[part], "") for part in KEY))
    if held.which == TEXT:
        text = " ".join(held.text.split())
        widget.put(KEY["text"], text)
    elif held.how == LIST:
        given = ",".join(held.values.replace(",", " ").split())
        text = f"{held.which}={given or ','.join(filter(None, (held.low, held.high)))}"
    else:
        text = f"{held.which}={''.join(held.low.split())}..{''.join(held.high.split())}"
        text += ":log" if held.how == LOG else ""
    widget.put(settings.key("vary"), text)


def as_held(text: str) -> Said:
    """As `read`, but what a person writes as a text stays one while they write."""
    now = widget.value(KEY["which"], ALIKE), widget.value(KEY["text"], "")
    return Said(TEXT, text=text) if now == (TEXT, text) else read(text)


def read(text: str) -> Said:
    """The widgets' values for a text of `vary`: what fits no widget stays a text."""
    name, _, said = text.partition("=")
    if not text:
        return Said(ALIKE)
    if name not in varying.NAMES or " " in text:
        return Said(TEXT, text=text)
    span, _, how = said.partition(":")
    low, dots, high = span.partition("..")
    if dots:
        return Said(name, LOG if how == "log" else EVEN, low, high, f"{low}, {high}")
    each = said.split(",")
    return Said(name, LIST, each[0], each[-1], ", ".join(each))


def unread(said: Said) -> str:
    """Which part of the widgets is no number, in a sentence; "" where all are."""
    if said.which in (ALIKE, TEXT):
        return ""
    for one in said.values.split(", ") if said.how == LIST else (said.low, said.high):
        try:
            float(one)
        except ValueError:
            what = f"“{one:.20}” is no number" if one else "A number is missing"
            return f"{what}: write one such as {EXAMPLE[said.which]}."
    return ""


def amiss(text: str, members: int) -> str:
    """Why members cannot differ so, in a sentence; "" where they can."""
    try:
        EnsembleConfig(members=members, vary=text)
    except ConfigError as error:
        return str(error)
    return ""
