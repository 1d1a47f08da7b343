"""The commands of the race: python -m ensemble race, and the two that its processes are."""

import json
import sys
from dataclasses import asdict, replace
from typing import Any

import click

from ensemble.cli.options import settings_options
from ensemble.cli.progress_line import ProgressLine
from ensemble.race import Race, commands, queue_race, read_races, usual_race
from ensemble.race.settings import CONTENDERS, RaceConfig


@click.command()
@settings_options(RaceConfig)
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def race(as_json: bool, **chosen: Any) -> None:
    """Measure this machine: this engine, the HOWTO's loop, one member after another."""
    chosen = {name: value for name, value in chosen.items() if value is not None}
    queue_race(replace(usual_race(), **chosen))
    with ProgressLine("race") as line:
        job = commands.work_race((lambda status: None) if as_json else line.race)
    if job.message:
        click.echo(job.message, err=True)
    if job.state != "finished":
        click.echo(json.dumps({"state": job.state}))
        sys.exit(130 if job.state == "stopped" else 1)
    found = read_races()[-1]
    if not as_json:
        click.echo("\n".join(table(found)), err=True)
    click.echo(json.dumps({"state": job.state, **asdict(found)}))


def table(found: Race) -> list[str]:
    """A race in lines: a row for each contender, img·member/s for each number of members."""
    every = sorted({members for rates in found.rates.values() for members in rates})
    lines = [f"{'img·member/s':<12}" + "".join(f"{f'M = {members}':>10}" for members in every)]
    for name, rates in found.rates.items():
        cells = (f"{rates[members]:,.0f}" if members in rates else "–" for members in every)
        lines.append(f"{name:<12}" + "".join(f"{cell:>10}" for cell in cells))
    return lines + [f"{name}: {why}" for name, why in found.absent.items()]


@click.command(hidden=True)
@click.argument("name", type=click.Choice(CONTENDERS))
@click.argument("settings")
def race_contender(name: str, settings: str) -> None:
    """Be a contender: a request a line on stdin, an answer a line on stdout (started by a race)."""
    from ensemble.race.competitor import contend

    contend(name, RaceConfig.from_dict(json.loads(settings)))
