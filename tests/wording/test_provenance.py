"""The command that makes a run again is read back by the program's own parser, field by field."""

import random
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import regression, runs, sweeps
from ensemble.cli import train as train_command
from ensemble.cli.program import main
from ensemble.cli.stress_and_regression import run_lbfgs_command
from ensemble.cli.sweep import build_sweep_config
from ensemble.cli.sweep import run_sweep_command as sweep_command
from ensemble.cli.train import run_train_command
from ensemble.cli.train_numbers import prepare_chosen_table, read_table_options
from ensemble.config import EnsembleConfig, RegressionConfig
from ensemble.datasets import registry
from ensemble.errors import ConfigError
from ensemble.exchange.data_tables import read_data_table
from ensemble.regression import LbfgsConfig
from ensemble.runs.numeric.numeric_launch import create_numeric_run, prepare_numeric_table
from ensemble.settings import Settings, list_setting_choices, list_setting_fields
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.sweeps import SweepConfig
from ensemble.wording.provenance import build_rerun_command, format_bibtex, format_citation, format_figure_caption
from ensemble.wording.run_names import format_run_name

REPO = Path(__file__).resolve().parent.parent.parent
# Values of the settings that are neither numbers nor choices; one more of them has to stand here.
FORMED = {
    "vary": ["momentum=0.8,0.9", "learning_rate=0.01..1:log momentum=0.5,0.25", "momentum=0..0.5"],
    "teacher": ["digits-1127-010001", "digits-1"],
    "space": ["learning_rate=0.01..0.5:log", "momentum=0.8,0.9 epochs=2..8"],
    "objectives": ["nll", "accuracy,seconds", "seconds"],
}


def drawn(kind: type[Settings], draw: random.Random) -> dict[str, Any]:
    """Values for a few of the fields, within each one's range."""
    values: dict[str, Any] = {}
    for field in draw.sample(list_setting_fields(kind), draw.randint(0, 5)):
        low, high = field.metadata["low"], field.metadata["high"]
        if field.metadata["form"]:
            value: Any = draw.choice(FORMED[field.name])
        elif choices := list_setting_choices(field):
            value = draw.choice(choices)
        elif isinstance(field.default, bool):
            value = not field.default
        elif isinstance(field.default, int):
            value = draw.choice([low, draw.randint(low, min(high, low + 40))])
        else:
            value = draw.choice([low, draw.uniform(low, high), 1e-5, 0.1 + 0.2])
        values[field.name] = value
    return values


def configs(kind: type[Any], wanted: int, **more: Callable[[random.Random], Any]) -> list[Any]:
    """So many settings that fit together, each field set otherwise than usual in one at least."""
    draw, usual = random.Random(7), kind()
    found: list[Any] = []
    left = {one.name for one in list_setting_fields(kind)} - more.keys()
    for _ in range(5_000):
        if len(found) >= wanted and not left:
            return found
        values = drawn(kind, draw) | {name: make(draw) for name, make in more.items()}
        try:
            made = kind(**values)
        except ConfigError:
            continue
        new = {one.name for one in list_setting_fields(kind) if getattr(made, one.name) != getattr(usual, one.name)}
        if len(found) < wanted or new & left:
            found.append(made)
            left -= new
    raise AssertionError(f"no settings were drawn that change {sorted(left)}")


def said(command: str, of: click.Command) -> dict[str, Any]:
    """What the program's own parser makes of a command line."""
    program, name, *words = shlex.split(command)
    assert (program, name) == ("ensemble", of.name)
    params = of.make_context(name, list(words)).params
    flags = {
        key: f"--{'' if value else 'no-'}{key.replace('_', '-')}"
        for key, value in params.items()
        if isinstance(value, bool)
    }
    return {
        key: value
        for key, value in params.items()
        if value not in (None, ()) and flags.get(key, name) in (name, *words)
    }


def test_the_command_of_a_run_says_all_its_settings() -> None:
    run = runs.create_run(EnsembleConfig())
    for config in configs(EnsembleConfig, 60):
        command = build_rerun_command(replace(run, config=config))
        assert config == EnsembleConfig(**said(command, run_train_command)), command


def test_the_command_of_a_regression_says_all_its_settings() -> None:
    solve = regression.create_regression(LbfgsConfig())
    for config in configs(LbfgsConfig, 25):
        command = build_rerun_command(replace(solve, config=config))
        assert config == LbfgsConfig(**said(command, run_lbfgs_command)), command


def test_the_command_of_a_regression_on_a_table_says_its_settings_and_columns(tmp_path: Path) -> None:
    rows = [f"{n % 17}.5,{n % 3},{n},{n // 4},{3 * (n % 17) + n % 5}" for n in range(80)]
    (tmp_path / "my houses.csv").write_text("\n".join(["size,kind,row-no,owner,price", *rows]))
    table = read_data_table(tmp_path / "my houses.csv")
    columns: dict[str, Any] = {"leave_out": ("row-no",), "as_categories": ("kind",), "group": "owner"}
    for asked in (columns, {"leave_out": ("owner",), "in_time_order": True}, {}):
        prepared = prepare_numeric_table(RegressionConfig(), table, "price", **asked)
        run = create_numeric_run(RegressionConfig(), prepared)
        for config in configs(RegressionConfig, 25, network=lambda _: "mlp"):
            command = build_rerun_command(replace(run, config=config))
            chosen = said(command, run_train_command)
            assert chosen.pop("task") == "regression"
            chosen["table"] = tmp_path / chosen["table"]
            found, read = read_table_options(chosen)
            assert found == config, command
            again = prepare_chosen_table(RegressionConfig(), read, chosen)
            names = ("source", "leave_out", "as_categories", "group", "in_time_order")
            assert [getattr(again, name) for name in names] == [getattr(prepared, name) for name in names], command
            assert again.encoding == prepared.encoding


def test_a_regression_of_an_earlier_version_has_no_command(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(f"{n},{n * n % 7}" for n in range(60)))
    config = RegressionConfig()
    run = create_numeric_run(config, prepare_numeric_table(config, read_data_table(tmp_path / "t.csv"), "b"))
    assert build_rerun_command(run).startswith("ensemble train --task regression --table t.csv --target b")
    description = read_json(run.path / "table.json")
    for name in ("leave_out", "as_categories", "group"):
        del description[name]
    write_json(run.path / "table.json", description)
    assert build_rerun_command(run) == ""


def test_the_command_of_a_sweep_says_what_is_searched_and_what_trials_share() -> None:
    base = (EnsembleConfig(validation=0.1), EnsembleConfig(validation=0.25, seed=7, flip=True))
    made = configs(SweepConfig, 25, base=lambda draw: draw.choice(base), storage=lambda _: "sqlite")
    sweep = sweeps.create_sweep(SweepConfig())
    for config in made:
        command = build_rerun_command(replace(sweep, config=config))
        assert config == build_sweep_config(said(command, sweep_command)), command


def test_the_command_of_a_sweep_on_a_table_names_the_table(tmp_path: Path) -> None:
    rows = [f"{n % 17}.5,{n},{3 * (n % 17) + n % 5}" for n in range(80)]
    (tmp_path / "houses.csv").write_text("\n".join(["size,row-no,price", *rows]))
    table = read_data_table(tmp_path / "houses.csv")
    prepared = prepare_numeric_table(RegressionConfig(validation=0.2), table, "price", leave_out=("row-no",))
    config = SweepConfig(base=RegressionConfig(validation=0.2, width=20), trials=3, objectives="rmse")
    sweep = sweeps.create_sweep(config, None, prepared)
    command = build_rerun_command(sweep)
    assert "--task regression --table houses.csv --target price --leave-out row-no" in command
    chosen = said(command, sweep_command)
    own = {name: chosen.pop(name) for name in ("trials", "objectives", "space")}
    assert (own["trials"], own["objectives"], own["space"]) == (3, ("rmse",), tuple(config.space.split()))
    assert read_table_options({**chosen, "table": tmp_path / chosen["table"]})[0] == config.base


def test_the_command_launches_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EnsembleConfig(members=3, learning_rate=1e-05, vary="momentum=0.8,0.9", flip=True)
    run = runs.create_run(config)
    monkeypatch.setattr(train_command.runs, "execute_run", lambda run_id, _: runs.find_run(run_id))
    CliRunner().invoke(main, shlex.split(build_rerun_command(run))[1:], catch_exceptions=False)
    assert [one.config for one in runs.list_runs()[:2]] == [config, config]


def test_a_shell_reads_the_command_as_it_is_meant() -> None:
    run = runs.create_run(EnsembleConfig(vary="learning_rate=0.01..1:log"))
    words = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {build_rerun_command(run)}"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert words[1:] == ["train", "--vary", "learning_rate=0.01..1:log"]


def test_what_no_command_makes_again_has_none() -> None:
    digits = registry.find_dataset_entry("digits")
    made = np.full((2, digits.test_size, 10), 0.1, np.float32)
    elsewhere = runs.create_imported_run([made], np.zeros(digits.test_size, np.int32), digits)
    assert build_rerun_command(elsewhere) == ""
    assert format_citation(elsewhere).endswith(".")
    chosen = runs.create_run(EnsembleConfig())
    write_json(chosen.path / "members.json", {"members": []})
    assert build_rerun_command(chosen) == ""


def test_a_line_to_cite_names_the_program_its_version_the_run_and_the_day() -> None:
    run = runs.create_run(EnsembleConfig())
    line = format_citation(run)
    for part in (f"version {ensemble.__version__}", "4 members · rate 0.1 · digits", run.id):
        assert part in line
    assert re.search(r", \d{1,2} [A-Z][a-z]+ 20\d\d\.$", line)


def test_bibtex_keeps_its_braces_whatever_a_run_is_called() -> None:
    run = runs.rename_run(runs.create_run(EnsembleConfig(seed=3)).id, r"50 % of {a} \b_c~ & $x^2 #1 }")
    entry = format_bibtex(run)
    depth = 0
    for letter in entry:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    assert r"50 \% of \textbraceleft{}a\textbraceright{} \textbackslash{}b\_c" in entry
    assert "train -{}-seed 3" in entry, "two dashes, which TeX would make one"
    assert entry.startswith(f"@software{{{run.id},\n")


def test_nothing_in_bibtex_is_a_sign_that_tex_sets_as_another_or_cannot_read() -> None:
    entry = format_bibtex(runs.rename_run(runs.create_run(EnsembleConfig()).id, 'a<b|c>"d`e\x1b\u202ef'))
    note = re.search(r"note = \{(.*)\}", entry)[1]  # type: ignore[index]
    assert r"a\textless{}b\textbar{}c\textgreater{}\char34{}d\textasciigrave{}ef" in note


def test_a_caption_says_what_of_which_run_at_which_epoch_by_which_version() -> None:
    run = runs.create_run(EnsembleConfig(epochs=5))
    whole = f"{format_run_name(run)} ({run.id})"
    end = f"ensemble {ensemble.__version__}"
    assert format_figure_caption(run, "Risk by coverage", 3) == (f"Risk by coverage · {whole} · epoch 3 of 5 · {end}")
    assert format_figure_caption(run, "Loss") == f"Loss · {whole} · {end}"
    named = runs.rename_run(run.id, "\x1b\u202egnp.exe")
    assert format_figure_caption(named, "Loss") == f"Loss · gnp.exe ({run.id}) · {end}"
    assert "\u202e" not in format_citation(named)


def test_the_citation_file_is_of_this_version() -> None:
    said = (REPO / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (\S+)$", said, re.M)[1] == ensemble.__version__  # type: ignore[index]
    assert "license: Apache-2.0" in said
