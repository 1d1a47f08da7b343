"""Command-line options derived from the fields of a settings dataclass."""

import dataclasses
from collections.abc import Callable
from typing import Any

import click

from ensemble.settings import (
    Settings,
    describe_allowed_values,
    get_declared_choices,
    list_setting_choices,
    list_setting_fields,
)

Command = Callable[..., Any]
# After which epoch the members are asked.
EPOCH_OPTION = click.option(
    "--epoch", type=click.IntRange(0), help="Epoch; by default the one chosen on validation images, else the last."
)

# Its words are those of `ensemble.files.numbers`, whose imports take a while.
DECIMAL_OPTION = click.option(
    "--decimal",
    type=click.Choice(("point", "comma")),
    default=None,
    help="Decimal sign of a table's numbers, if they can be read in two ways.",
)


def add_refuse_option(command: Command) -> Command:
    """Gives a click command that has pictures read `--refuse`."""
    from ensemble.recognition.classifier import DEFAULT_REFUSE

    return click.option(
        "--refuse",
        default=DEFAULT_REFUSE,
        show_default=True,
        type=click.FloatRange(0, 1, True, True),
        help="Share of real images that may be rejected.",
    )(command)


def add_settings_options(settings: type[Settings]) -> Callable[[Command], Command]:
    """Gives a click command one option for every field of `settings`.

    A value left out reaches the command as None, so that a command can tell what was said.
    """

    def add_options(command: Command) -> Command:
        for field in reversed(list_setting_fields(settings)):
            command = build_setting_option(field)(command)
        return command

    return add_options


def build_setting_option(
    field: "dataclasses.Field[Any]", values: click.ParamType | None = None
) -> Callable[[Command], Command]:
    """Return the option of one field: its name, type, range and help as the dataclass has them.

    Args:
      field: of the settings.
      values: which ones it accepts, if not those that the dataclass declares.
    """
    name = "--" + field.name.replace("_", "-")
    text = field.metadata["help"]
    if isinstance(field.default, bool):
        return click.option(f"{name}/--no-{name[2:]}", default=None, help=text)
    help_text = f"{text} {describe_allowed_values(field).capitalize()}; {field.default} by default."
    if field.metadata["form"]:
        help_text = text
    if field.metadata["several"]:
        help_text = f"{text} Can be repeated."
        return click.option(name, type=click.STRING, multiple=True, callback=_join_option_values, help=help_text)
    return click.option(name, type=values or _build_param_type(field), default=None, help=help_text)


def _join_option_values(context: click.Context, option: click.Parameter, parts: tuple[str, ...]) -> str | None:
    return " ".join(parts) if parts else None


def _build_param_type(field: "dataclasses.Field[Any]") -> click.ParamType:
    low, high = field.metadata["low"], field.metadata["high"]
    if (
        callable(get_declared_choices(field)) or field.metadata["form"]
    ):  # they come and go: the settings say which there are by then
        return click.STRING
    if choices := list_setting_choices(field):
        return click.Choice(choices)
    if isinstance(field.default, int):
        return click.IntRange(int(low), int(high))
    return click.FloatRange(low, high)
