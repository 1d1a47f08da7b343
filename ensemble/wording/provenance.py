"""Where a result comes from: the command that makes it again, a line to cite, a figure's caption.

Whoever shows a run elsewhere (a paper, a slide, one file for a colleague) takes these words.
"""

import shlex
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ensemble import __version__
from ensemble.acquisition.learning_job import LearningConfig
from ensemble.config import EnsembleConfig, RegressionConfig
from ensemble.errors import DataError
from ensemble.jobs.job import Job
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.runs.run_folder import SOURCES_FILE
from ensemble.runs.start_weights import WEIGHTS_FILE
from ensemble.settings import Settings, list_setting_fields
from ensemble.sweeps.settings import SweepConfig
from ensemble.tables.prepared_table import read_table_description
from ensemble.wording.escaping import remove_invisible_characters
from ensemble.wording.run_names import format_run_name, read_run_settings

_PROGRAM = "ensemble"
_PROGRAM_TITLE = "ensemble: a dashboard for deep ensembles"
_AUTHORS = "The maintainers of ensemble"
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
# Settings of a sweep that the command line takes one by one: the option, and what parts them.
_SPLIT_SETTINGS = {"space": ("--space", " "), "objectives": ("--objective", ",")}
# Where trials are written down changes none of them; the environment says it.
_NOT_OPTIONS = ("storage",)
_UNNAMED_TABLE = "table.csv"  # the file of a table that came from Python and had none
# What TeX reads as more than a letter. Braces are counted even behind a backslash.
_TEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "'": r"\textquotesingle{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\char34{}",
}


def build_rerun_command(run: Job, dataset: str = "") -> str:
    """The command line that makes a run again, quoted for a shell; "" where none would.

    It says every setting that is not the default. Where the run was placed (Slurm), its name and
    its tags change no number and are left out. An imported run was made elsewhere, and one whose
    members were chosen from others needs those. Weights that members were given to start from lie
    in the run's folder, where the command has to run; the table of a regression, in the folder
    that it was read from.

    Args:
      dataset: of an ensemble's, to train on another; "" for its own.
    """
    if (run.path / SOURCES_FILE).exists():
        return ""
    config = read_run_settings(run)
    words: list[str] = []
    if isinstance(config, EnsembleConfig):
        if dataset:
            config = replace(config, dataset=dataset)
        words = list_train_words(config)
        if (run.path / WEIGHTS_FILE).exists():
            words += ["--from", WEIGHTS_FILE]
    elif isinstance(config, RegressionConfig):
        words = _list_table_words(run, config, "train")
    elif isinstance(config, LbfgsConfig):
        words = ["lbfgs", *_iterate_changed_options(config, LbfgsConfig())]
    elif isinstance(config, SweepConfig):
        usual = SweepConfig()
        words = ["sweep", *_iterate_sweep_options(config, usual)]
        if isinstance(config.base, RegressionConfig):
            words = _list_table_words(run, config.base, *words)
        else:
            words += _iterate_changed_options(config.base, usual.base)
    elif isinstance(config, LearningConfig):
        learning = LearningConfig()
        words = [
            *("label", "learn"),
            *_iterate_changed_options(config, learning),
            *_iterate_changed_options(config.base, learning.base),
        ]
    return f"{_PROGRAM} {shlex.join(words)}" if words else ""


def list_train_words(config: EnsembleConfig) -> list[str]:
    """Return the words of the command that trains with these settings, after the program's name."""
    return ["train", *_iterate_changed_options(config, EnsembleConfig())]


def _list_table_words(run: Job, config: RegressionConfig, *command: str) -> list[str]:
    """Add the table and the settings to a command; [] if an earlier version did not record the columns left out."""
    try:
        table = read_table_description(run.path)
    except DataError:
        return []
    if table.leave_out is None:
        return []
    source = table.source if Path(table.source).suffix else _UNNAMED_TABLE
    words = [*command, "--task", config.task, "--table", source, "--target", table.target]
    for option, values in (
        ("--leave-out", table.leave_out),
        ("--category", table.as_categories),
        ("--group", [table.group]),
        ("--decimal", [table.chosen_decimal]),
    ):
        words += [word for value in values if value for word in (option, value)]
    words += ["--time-order"] if table.in_time_order else []
    return [*words, *_iterate_changed_options(config, RegressionConfig())]


def format_citation(run: Job) -> str:
    """A line to cite a run by: the program with its version, what the run is, its id, its date."""
    return (
        f"{_PROGRAM_TITLE[0].upper()}{_PROGRAM_TITLE[1:]}, version {__version__}. "
        f"{remove_invisible_characters(format_run_name(run))}. "
        f"Run {run.id}, {_format_run_date(run)}."
    )


def format_bibtex(run: Job) -> str:
    """The same as an entry of BibTeX, `@software`, with the command in its note."""
    command = build_rerun_command(run)
    parts = [
        f"Run {run.id}: {format_run_name(run)}",
        *([f"made by: {command}"] if command else []),
        _format_run_date(run),
    ]
    return "\n".join(
        [
            f"@software{{{run.id},",
            f"  author = {{{{{_AUTHORS}}}}},",
            f"  title = {{{{{_PROGRAM_TITLE}}}}},",
            f"  version = {{{__version__}}},",
            f"  year = {{{_get_creation_time(run).tm_year}}},",
            f"  note = {{{_escape_tex('; '.join(parts))}}}",
            "}",
        ]
    )


def format_figure_caption(run: Job, what: str, epoch: int | None = None) -> str:
    """What stands under a figure of a run: what it is, the run, the epoch, the program's version.

    "Risk by coverage · 4 members · rate 0.1 · digits (digits-0412) · epoch 5 of 5 · ensemble 0.9"

    Args:
      what: what the figure shows: "Risk by coverage".
      epoch: the one that is shown, from 1; None where it is of the whole run.
    """
    total = getattr(read_run_settings(run), "epochs", None)
    when = "" if epoch is None else f"epoch {epoch}" + (f" of {total}" if total else "")
    return remove_invisible_characters(
        " · ".join(filter(None, (what, f"{format_run_name(run)} ({run.id})", when, format_program_version())))
    )


def format_program_version() -> str:
    """The program and its version, as captions end: "ensemble 0.9"."""
    return f"ensemble {__version__}"


def _escape_tex(text: str) -> str:
    """Text as TeX reads it back: no letter of it is a command, and every brace is closed."""
    escaped = "".join(
        _TEX_ESCAPES.get(letter, letter) for letter in " ".join(remove_invisible_characters(text).split())
    )
    return escaped.replace("--", "-{}-")  # else they are set as one dash, and no option


def _iterate_changed_options(config: Settings, usual: Settings) -> Iterator[str]:
    """The options of all settings that are not as usual; see `cli.options`."""
    for field in list_setting_fields(type(config)):
        value, name = getattr(config, field.name), field.name.replace("_", "-")
        if value == getattr(usual, field.name):
            continue
        if isinstance(field.default, bool):
            yield f"--{name}" if value else f"--no-{name}"
        elif field.metadata["several"]:
            for part in value.split():
                yield from (f"--{name}", part)
        else:
            yield from (f"--{name}", _format_option_value(value))


def _iterate_sweep_options(config: SweepConfig, usual: SweepConfig) -> Iterator[str]:
    """The options of a sweep itself; its space is said even where it is the usual one."""
    for field in list_setting_fields(SweepConfig):
        value = getattr(config, field.name)
        if field.name in _NOT_OPTIONS:
            continue
        if value == getattr(usual, field.name) and field.name != "space":
            continue
        option, between = _SPLIT_SETTINGS.get(field.name, (f"--{field.name.replace('_', '-')}", None))
        for part in value.split(between) if between else [_format_option_value(value)]:
            yield from (option, part)


def _format_option_value(value: Any) -> str:
    """A value as the command line reads it back: of a number every digit that it has."""
    return value if isinstance(value, str) else repr(value)


def _format_run_date(run: Job) -> str:
    creation_time = _get_creation_time(run)
    return f"{creation_time.tm_mday} {MONTHS[creation_time.tm_mon - 1]} {creation_time.tm_year}"


def _get_creation_time(run: Job) -> time.struct_time:
    created: float = getattr(run.status, "created", 0.0)  # the status of every kind of run has it
    return time.localtime(created)
