from typing import Any

import click
from click.testing import CliRunner

from ensemble.cli.options import add_settings_options
from ensemble.config import EnsembleConfig


@click.command()
@add_settings_options(EnsembleConfig)
def said(**chosen: Any) -> None:
    given = {name: value for name, value in chosen.items() if value is not None}
    click.echo(EnsembleConfig(**given).vary)


def test_settings_that_differ_may_be_given_one_by_one() -> None:
    one_by_one = ("--vary", "learning_rate=0.01..1:log", "--vary", "momentum=0.8,0.9")
    result = CliRunner().invoke(said, one_by_one)
    assert result.output == "learning_rate=0.01..1:log momentum=0.8,0.9\n"


def test_no_setting_differs_where_none_is_given() -> None:
    assert CliRunner().invoke(said, []).output == "\n"
