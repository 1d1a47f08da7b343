"""What a tab's address says, and controls that are bound to it: a link shows the same.

The address is the truth: a control is set from it before it is made, and its callback writes
to it. Every word that it may hold stands here once, with how it is read, its bounds and its
default; one that makes no sense counts as not being there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from ensemble.analysis.predictions import EXAMPLE_FILTERS, EXAMPLE_ORDERS
from ensemble.analysis.quality.conformal import METHODS
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping

T = TypeVar("T")
_MAX_NUMBER = 99_999_999


def parse_whole_number(text: str | None) -> int | None:
    """A number from 0 to 99,999,999 as people write it in an address; None for all else."""
    ok = text is not None and text.isascii() and text.isdigit() and len(text) <= 8
    return int(text) if ok and text is not None else None


@dataclass(frozen=True)
class QueryParameter(Generic[T]):
    """One word of the address: each kind says how it is parsed.

    Attributes:
      name: what it is called there.
    """

    name: str

    def parse(self, text: str | None) -> T:
        """What `format` says; the default where it is None or makes no sense."""
        raise NotImplementedError

    def read(self) -> T:
        return self.parse(st.query_params.get(self.name))

    def read_option(self, options: Iterable[str], default: str) -> str:
        """The one of `options` that the address names; else `default`."""
        value = self.read()
        return str(value) if value is not None and str(value) in list(options) else default

    def set_value(self, value: T | str | None, default: T | str | None = None) -> None:
        """Write it into the address; None, the default or its own default leaves it."""
        if value in (None, default, self.parse(None)):
            st.query_params.pop(self.name, None)
        elif st.query_params.get(self.name) != (text := self.format(value)):
            st.query_params[self.name] = text

    def format(self, value: Any) -> str:
        return str(value)

    def build_query(self, value: T) -> dict[str, str]:
        """An address that says only this: for a link to a screen."""
        return {self.name: self.format(value)}


class TextParameter(QueryParameter[str | None]):
    """It stands for itself, such as a run's id: whoever reads it checks it. None for none."""

    def parse(self, text: str | None) -> str | None:
        """The text, None where it is empty."""
        return text or None


class _OptionalIntParameter(QueryParameter[int | None]):
    """A whole number that has no default: None where there is none."""

    def parse(self, text: str | None) -> int | None:
        return parse_whole_number(text)

    def read_within(self, default: int, low: int, high: int) -> int:
        """What the address says, brought within bounds that the data set; else `default`."""
        value = self.read()
        return default if value is None else min(max(value, low), high)


@dataclass(frozen=True)
class _BoundedIntParameter(QueryParameter[int]):
    """A whole number with a default and bounds, which it is brought within."""

    default: int
    low: int
    high: int

    def parse(self, text: str | None) -> int:
        whole_number = parse_whole_number(text)
        return self.default if whole_number is None else min(max(whole_number, self.low), self.high)


@dataclass(frozen=True)
class _ChoiceParameter(QueryParameter[str]):
    """One of a few words; the first of them is the default."""

    options: tuple[str, ...]

    def parse(self, text: str | None) -> str:
        return text if text in self.options and text is not None else self.options[0]


class ListParameter(QueryParameter[tuple[str, ...]]):
    """A few texts, such as "a,b"; each once, in the order given."""

    def parse(self, text: str | None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, map(str.strip, (text or "").split(",")))))

    def format(self, value: Any) -> str:
        return ",".join(value)


# Whatever the screen: the run or regression it is about, and the epoch, the last if None.
RUN, SOLVE, EPOCH = TextParameter("run"), TextParameter("solve"), _OptionalIntParameter("epoch")

# Which test images are shown: of which kind and class, in which order, from which place on;
# and the one that is open.
SHOW, CLASS, ORDER = (
    _ChoiceParameter("show", EXAMPLE_FILTERS),
    _OptionalIntParameter("class"),
    _ChoiceParameter("order", EXAMPLE_ORDERS),
)
FIRST, DIGIT = _BoundedIntParameter("first", 0, 0, _MAX_NUMBER), _OptionalIntParameter("digit")

# Inspect: its view, and which of two it is. What is chosen in a view has its words there, in
# `ensemble.views`; those that other screens have as well are here too.
VIEW, MEASURE, PICTURE, FIGURE = (
    TextParameter("view"),
    TextParameter("measure"),
    TextParameter("picture"),
    TextParameter("figure"),
)
KEEP = TextParameter("keep")
# To pass on what is unsure or to answer with a set; the share of conformal sets that may miss the
# label, in per cent, and the kind of sets: these two also on Predictions and Classify.
MODE, MISS, SETS = TextParameter("mode"), TextParameter("miss"), _ChoiceParameter("sets", METHODS)
# The kind of corruption and how much of it, and the image that is corrupted.
KIND, AMOUNT, NUMBER = (TextParameter("kind"), TextParameter("amount"), _OptionalIntParameter("number"))
# Another run to compare with, its epoch, and which of the differences.
WITH, WITH_EPOCH, SIDE = (TextParameter("with"), _OptionalIntParameter("with_epoch"), TextParameter("side"))

# Compare: the runs, or what they have in common; the settings that part them into groups, and the
# run or group that all others are compared with. What is brushed is called KEEP there.
RUNS, TAG, SWEEP = ListParameter("runs"), TextParameter("tag"), TextParameter("sweep")
BY, BASELINE = ListParameter("by"), TextParameter("baseline")
# How many per cent of the runs, the best; of the curves whose and of which images, over what, with
# which band, on which log axes; of the table which rows; the axes of the pictures.
TOP, WHO, SPLITS = (_BoundedIntParameter("top", 100, 1, 100), TextParameter("who"), ListParameter("splits"))
OVER, BAND, LOG, LOGS = (TextParameter("over"), TextParameter("band"), ListParameter("log"), ListParameter("logs"))
ROWS, COLUMNS, AXES = TextParameter("rows"), TextParameter("columns"), ListParameter("axes")
X, Y, COLOR = TextParameter("x"), TextParameter("y"), TextParameter("color")

# Runs: the columns of its table, and whether the trials of sweeps stand in it.
FIELDS, TRIALS = ListParameter("fields"), _ChoiceParameter("trials", ("folded", "shown"))

# Data: the dataset that is chosen, and the upload that is looked at.
DATASET, UPLOAD = TextParameter("data"), TextParameter("upload")

# Why: the image, and which of its steps. On every screen: whether terms of the trade are hidden.
IMAGE, STEP, TERMS = (
    _OptionalIntParameter("image"),
    _BoundedIntParameter("step", 1, 1, 5),
    _ChoiceParameter("terms", ("shown", "hidden")),
)

# Labels: whose labels are gone through, or "pool" for images that have none yet.
SPLIT = _ChoiceParameter("split", ("test", "training", "pool"))
# Of images without labels: which pool, and which experiment.
POOL, LEARNING = TextParameter("pool"), TextParameter("learning")

# Classify: the way in, the detail, and how many of 100 real digits may be rejected.
INPUT, DETAIL, REFUSE = (TextParameter("input"), TextParameter("detail"), _BoundedIntParameter("refuse", 3, 1, 50))


def get_query_parameters() -> dict[str, str]:
    return st.query_params.to_dict()


def drop_other_parameters(*words: QueryParameter[Any]) -> None:
    for name in set(st.query_params) - {word.name for word in words}:
        del st.query_params[name]


def show_address_widget(key: str, value: Any, make: Callable[[str], Any]) -> None:
    """Makes a widget that shows `value`, whatever it showed before: the address is the truth.

    The browser sends a choice back by its words. Where the words depend on the data, so must
    the key: else a choice among the former options comes back as one that there is not.
    """
    if tab.current_page:
        widget_state.sync_widget_value(key, value)
    else:
        # A drawing that was cut short may have set it and never reached the browser.
        widget_state.set_widget_value(key, value)
    make(key)


def select_address_option(
    word: QueryParameter[Any], label: str, options: Mapping[str, str], default: str, **more: Any
) -> str:
    """A segmented control whose choice stands in the address; returns the choice.

    Args:
      default: the choice where the address names none; it is not written there.
      more: for `st.segmented_control`.
    """
    value = word.read_option(options, default)
    more.setdefault("on_change", update_address)
    show_address_widget(
        f"address_{word.name}_{len(options)}",
        value,
        lambda key: widget_state.draw_widget(
            st.segmented_control,
            label,
            list(options),
            key=key,
            required=True,
            format_func=lambda option: escaping.escape_markdown(options[option]),
            args=(word, key, default),
            **more,
        ),
    )
    return value


def show_unknown_option(word: QueryParameter[Any], options: Iterable[str], instead: str) -> None:
    """Say so where the address names none of the options, and what is shown instead."""
    asked = word.read()
    if asked is not None and str(asked) not in list(options):
        name = escaping.escape_markdown(f"{asked!s:.40}")
        st.caption(f"The address names “{name}”, which there is not: this is {instead}.")


def update_address(word: QueryParameter[Any], key: str, default: object) -> None:
    """Callback: the address follows the control."""
    word.set_value(widget_state.get_widget_value(key), default)
