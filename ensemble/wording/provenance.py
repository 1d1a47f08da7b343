"""Where a result comes from: the command that makes it again, a line to cite, a figure's caption.

Whoever shows a run elsewhere (a paper, a slide, one file for a colleague) takes these words.
"""

import shlex
import time
from collections.abc import Iterator
from typing import Any

from ensemble import __version__
from ensemble.config import EnsembleConfig
from ensemble.jobs.job import Job
from ensemble.regression.settings import LbfgsConfig
from ensemble.runs.contents import SOURCES_FILE
from ensemble.settings import Settings, setting_fields
from ensemble.sweeps.settings import SweepConfig
from ensemble.wording.escaping import seen
from ensemble.wording.run_names import called, settings_of

PROGRAM = "python -m ensemble"
TITLE = "ensemble: a dashboard for deep ensembles"
AUTHORS = "The maintainers of ensemble"
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
PARTED = {"space": ("--space", " "), "objectives": ("--objective", ",")}
# Where trials are written down changes none of them; the environment says it.
NOT_OPTIONS = ("storage",)
# What TeX reads as more than a letter. Braces are counted even behind a backslash.
TEX = {
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


def command_of(run: Job) -> str:
    """The command line that makes a run again, quoted for a shell; "" where none would.

    It says every setting that is not the default. Where the run was placed (Slurm), its name and
    its tags change no number and are left out. An imported run was made elsewhere, and one whose
    members were chosen from others needs those.

    Args:
      run: an ensemble's, a regression or a sweep.
    """
    config = settings_of(run)
    if isinstance(config, EnsembleConfig):
        made_of_others = (run.path / SOURCES_FILE).exists()
        words = [] if made_of_others else ["train", *_options(config, EnsembleConfig())]
    elif isinstance(config, LbfgsConfig):
        words = ["lbfgs", *_options(config, LbfgsConfig())]
    elif isinstance(config, SweepConfig):
        usual = SweepConfig()
        words = ["sweep", *_searched(config, usual), *_options(config.base, usual.base)]
    else:
        words = []
    return f"{PROGRAM} {shlex.join(words)}" if words else ""


def citation_of(run: Job) -> str:
    """A line to cite a run by: the program with its version, what the run is, its id, its date."""
    return (
        f"{TITLE[0].upper()}{TITLE[1:]}, version {__version__}. {seen(called(run))}. "
        f"Run {run.id}, {_date(run)}."
    )


def bibtex_of(run: Job) -> str:
    """The same as an entry of BibTeX, `@software`, with the command in its note."""
    command = command_of(run)
    said = [
        f"Run {run.id}: {called(run)}",
        *([f"made by: {command}"] if command else []),
        _date(run),
    ]
    return "\n".join(
        [
            f"@software{{{run.id},",
            f"  author = {{{{{AUTHORS}}}}},",
            f"  title = {{{{{TITLE}}}}},",
            f"  version = {{{__version__}}},",
            f"  year = {{{_made(run).tm_year}}},",
            f"  note = {{{tex('; '.join(said))}}}",
            "}",
        ]
    )


def figure_caption(run: Job, what: str, epoch: int | None = None) -> str:
    """What stands under a figure of a run: what it is, the run, the epoch, the program's version.

    "Risk by coverage · 4 members · rate 0.1 · digits (digits-0412) · epoch 5 of 5 · ensemble 0.9"

    Args:
      run: whose figure.
      what: what the figure shows: "Risk by coverage".
      epoch: the one that is shown, from 1; None where it is of the whole run.
    """
    of = getattr(settings_of(run), "epochs", None)
    when = "" if epoch is None else f"epoch {epoch}" + (f" of {of}" if of else "")
    return seen(" · ".join(filter(None, (what, f"{called(run)} ({run.id})", when, version()))))


def version() -> str:
    """The program and its version, as captions end: "ensemble 0.9"."""
    return f"ensemble {__version__}"


def tex(text: str) -> str:
    """Text as TeX reads it back: no letter of it is a command, and every brace is closed."""
    said = "".join(TEX.get(letter, letter) for letter in " ".join(seen(text).split()))
    return said.replace("--", "-{}-")  # else they are set as one dash, and no option


def _options(config: Settings, usual: Settings) -> Iterator[str]:
    """The options of all settings that are not as usual; see `cli.options`."""
    for field in setting_fields(type(config)):
        value, name = getattr(config, field.name), field.name.replace("_", "-")
        if value == getattr(usual, field.name):
            continue
        if isinstance(field.default, bool):
            yield f"--{name}" if value else f"--no-{name}"
        elif field.metadata["several"]:
            for part in value.split():
                yield from (f"--{name}", part)
        else:
            yield from (f"--{name}", _said(value))


def _searched(config: SweepConfig, usual: SweepConfig) -> Iterator[str]:
    """The options of a sweep itself; its space is said even where it is the usual one."""
    for field in setting_fields(SweepConfig):
        value = getattr(config, field.name)
        if field.name in NOT_OPTIONS:
            continue
        if value == getattr(usual, field.name) and field.name != "space":
            continue
        option, between = PARTED.get(field.name, (f"--{field.name.replace('_', '-')}", None))
        for part in value.split(between) if between else [_said(value)]:
            yield from (option, part)


def _said(value: Any) -> str:
    """A value as the command line reads it back: of a number every digit that it has."""
    return value if isinstance(value, str) else repr(value)


def _date(run: Job) -> str:
    made = _made(run)
    return f"{made.tm_mday} {MONTHS[made.tm_mon - 1]} {made.tm_year}"


def _made(run: Job) -> time.struct_time:
    created: float = getattr(run.status, "created", 0.0)  # the status of every kind of run has it
    return time.localtime(created)
