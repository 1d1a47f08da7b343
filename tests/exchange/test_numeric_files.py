"""Files of predicted numbers: by their names, in every form, and refused with a sentence."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import norm

import ensemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.cli.program import main
from ensemble.errors import PredictionsError
from ensemble.exchange import file_task, numeric_files
from ensemble.exchange.numeric_files import read_numeric_file

RNG = np.random.default_rng(0)
TARGETS = RNG.normal(size=60)
MEAN = TARGETS + RNG.normal(0, 0.3, (3, 60))
STD = RNG.uniform(0.2, 0.5, (3, 60))
LEVELS = np.array([0.1, 0.5, 0.9])
QUANTILES = MEAN[:, None] + norm.ppf(LEVELS)[None, :, None] * STD[:, None]


def write_long_table(path: Path, **changes: Any) -> None:
    frames = [
        pd.DataFrame(
            {
                "member": f"m{number}",
                "example": [f"e{place}" for place in range(60)],
                "mean": MEAN[number],
                "std": STD[number],
                "target": TARGETS,
                **changes,
            }
        )
        for number in range(3)
    ]
    table = pd.concat(frames).sample(frac=1, random_state=1) if not changes else pd.concat(frames)
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)


def test_arrays_are_read_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npz"
    for spread in ({"std": STD}, {"variance": STD**2}, {"sigma": STD}):
        np.savez(path, mu=MEAN, y_true=TARGETS, **spread)
        numbers = read_numeric_file(path)
        np.testing.assert_allclose(numbers.mixture.variance, STD**2)
        assert np.array_equal(numbers.mixture.mean, MEAN)
        assert numbers.member_names == ("member 1", "member 2", "member 3")
        assert numbers.notes == ()


def test_arrays_that_are_turned_round_are_told(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npz"
    np.savez(path, mean=MEAN.T, std=STD.T, targets=TARGETS[:, None], member_names=["a", "b", "c"])
    numbers = read_numeric_file(path)
    assert np.array_equal(numbers.mixture.mean, MEAN)
    assert numbers.member_names == ("a", "b", "c")
    assert numbers.notes == (numeric_files.TURNED_NOTE,)


def test_samples_are_taken_as_normal_and_it_is_said(tmp_path: Path) -> None:
    path, samples = tmp_path / "numbers.npz", RNG.normal(size=(3, 20, 60))
    np.savez(path, samples=samples, targets=TARGETS)
    numbers = read_numeric_file(path)
    np.testing.assert_allclose(numbers.mixture.mean, samples.mean(axis=1))
    np.testing.assert_allclose(numbers.mixture.variance, samples.var(axis=1, ddof=1))
    assert numbers.notes == (numeric_files.SAMPLES_NOTE,)


@pytest.mark.parametrize("suffix", ["npz", "csv", "parquet"])
def test_quantiles_are_read_by_their_levels(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"numbers.{suffix}"
    if suffix == "npz":
        crossed = QUANTILES[:, ::-1].copy()
        np.savez(path, quantiles=QUANTILES[:, ::-1], levels=LEVELS[::-1], targets=TARGETS)
        assert read_numeric_file(path).notes == ()
        np.savez(path, quantiles=crossed, levels=LEVELS, targets=TARGETS)
        assert read_numeric_file(path).notes == (numeric_files.CROSSING_NOTE,)
    else:
        frames = [
            {"member": f"m{number}", "example": f"e{place}", "target": TARGETS[place]}
            | {f"q{level}": QUANTILES[number, at, place] for at, level in enumerate(LEVELS)}
            for number in range(3)
            for place in range(60)
        ]
        table = pd.DataFrame(frames)
        table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
    numbers = read_numeric_file(path)
    assert isinstance(numbers.mixture, QuantileEnsemble)
    assert np.array_equal(numbers.mixture.levels, LEVELS)
    np.testing.assert_allclose(numbers.mixture.quantiles, QUANTILES)
    assert numbers.example_names == (() if suffix == "npz" else tuple(f"e{place}" for place in range(60)))


def test_numbers_without_a_spread_are_taken_and_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npz"
    np.savez(path, mean=MEAN, targets=TARGETS)
    numbers = read_numeric_file(path)
    assert numbers.notes == (numeric_files.POINTS_NOTE,)
    evaluation = ensemble.judge_numbers(MEAN, TARGETS).evaluation
    assert (evaluation.ensemble.nll, evaluation.ensemble.crps) == (None, None)
    assert evaluation.coverage == ()
    assert [gain.metric for gain in evaluation.gains] == ["squared_error", "absolute_error"]
    table = tmp_path / "numbers.csv"
    pd.DataFrame({"target": TARGETS, "mean_a": MEAN[0], "mean_b": MEAN[1]}).to_csv(table)
    assert read_numeric_file(table).member_names == ("a", "b")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_of_examples_and_members_are_put_in_order(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"numbers.{suffix}"
    write_long_table(path)
    numbers = read_numeric_file(path)
    order = np.argsort([list(TARGETS).index(target) for target in numbers.targets])
    members = np.argsort(numbers.member_names)
    assert numbers.targets[order] == pytest.approx(TARGETS)
    np.testing.assert_allclose(numbers.mixture.mean[members][:, order], MEAN)
    np.testing.assert_allclose(numbers.mixture.variance[members][:, order], STD**2)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_for_each_member_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"numbers.{suffix}"
    columns = {f"mean_{name}": MEAN[place] for place, name in enumerate("ab")}
    columns |= {f"std_{name}": STD[place] for place, name in enumerate("ab")}
    others = {"id": range(60), "location": TARGETS, "variation": TARGETS}
    table = pd.DataFrame({**others, "target": TARGETS, **columns})
    table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
    numbers = read_numeric_file(path)
    np.testing.assert_allclose(numbers.mixture.mean, MEAN[:2])
    assert numbers.member_names == ("a", "b")


def test_one_member_without_a_name_is_a_table_of_three_columns(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("y;mu;sigma\n1,5;1,25;0,5\n2;2,5;0,25\n")
    numbers = read_numeric_file(path)
    assert numbers.mixture.mean.tolist() == [[1.25, 2.5]]
    assert numbers.mixture.variance.tolist() == [[0.25, 0.0625]]


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"mean": MEAN, "std": STD}, "save mean, std"),
        ({"quantiles": QUANTILES, "targets": TARGETS}, "no levels"),
        ({"quantiles": QUANTILES[:, :2], "levels": LEVELS, "targets": TARGETS}, "members, levels, examples"),
        ({"quantiles": QUANTILES, "levels": [0.6, 0.7, 0.8], "targets": TARGETS}, "on both sides"),
        ({"mean": MEAN[:, :9], "std": STD[:, :9], "targets": TARGETS}, "60 targets, and means are"),
        ({"mean": MEAN, "std": STD[:2], "targets": TARGETS}, "differ"),
        ({"mean": MEAN, "std": STD * 0, "targets": TARGETS}, "deviation or variance is not above 0"),
        ({"mean": MEAN * np.nan, "std": STD, "targets": TARGETS}, "not a finite number"),
        ({"mean": np.full((3, 60), "x"), "std": STD, "targets": TARGETS}, "have to be numbers"),
        ({"samples": MEAN, "targets": TARGETS}, "give \\(members, samples, examples\\)"),
        ({"mean": MEAN, "std": STD, "targets": TARGETS, "member_names": ["a"]}, "1 member names"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, arrays: dict[str, Any], why: str) -> None:
    path = tmp_path / "numbers.npz"
    np.savez(path, **arrays)
    with pytest.raises(PredictionsError, match=why) as refused:
        read_numeric_file(path)
    assert str(refused.value).startswith("numbers.npz: ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("a,b\n1,2\n", "no column of targets"),
        ("target,mean_1,std_2\n1,2,3\n", "no mean and spread"),
        ("target,mean,std\n1,x,1\n", "column “mean” has “x” in line 2"),
        ("target,mean,std\n1,,1\n2,1,1\n", "mean has empty cells"),
        ("target,mean,std\n", "no rows"),
        ("member,target,mean,std\na,1,1,1\na,1,1,1\nb,1,1,1\n", "as many rows each"),
        ("member,example,target,mean,std\na,1,1,1,1\nb,2,1,1,1\n", "the same examples"),
        ("member,example,target,mean,std\na,1,1,1,1\nb,1,2,1,1\n", "target is not the same"),
        # One of two others does not fit.
        ("member,example,target,mean,std\na,1,1,1,1\nb,1,1,1,1\nc,2,1,1,1\n", "the same examples"),
        ("member,example,target,mean,std\na,1,1,1,1\nb,1,2,1,1\nc,1,1,1,1\n", "target is not the same"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text(text)
    with pytest.raises(PredictionsError, match=why):
        read_numeric_file(path)


def test_a_parquet_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "numbers.parquet"
    pd.DataFrame({name: np.empty(0) for name in ("target", "mean", "std")}).to_parquet(path)
    with pytest.raises(PredictionsError, match=r"it has no rows: give one for each example\."):
        read_numeric_file(path)


def test_the_command_and_python_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npz"
    np.savez(path, mean=MEAN, std=STD, targets=TARGETS)
    judged = ensemble.judge_numbers(MEAN, TARGETS, std=STD)
    called = CliRunner().invoke(main, ["numbers", str(path), "--json"])
    assert called.exit_code == 0, called.output
    told = json.loads(called.stdout)
    assert told["sentences"] == list(judged.sentences)
    assert told["ensemble"]["crps"] == judged.evaluation.ensemble.crps
    assert [each["members"] for each in told["committees"]] == [1, 2, 3]
    plain = CliRunner().invoke(main, ["numbers", str(path)])
    assert plain.stdout.strip() == str(judged)


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    called = CliRunner().invoke(main, ["numbers", str(tmp_path / "none.csv")])
    assert called.exit_code == 1
    assert "none.csv: it cannot be read" in called.stderr
    with pytest.raises(PredictionsError, match="std or variance"):
        ensemble.judge_numbers(MEAN, TARGETS, std=STD, variance=STD)
    with pytest.raises(PredictionsError, match="quantiles with levels"):
        ensemble.judge_numbers(None, TARGETS, quantiles=QUANTILES)


def test_what_is_judged_in_a_notebook_has_the_views_and_can_be_kept() -> None:
    judged = ensemble.judge_numbers(MEAN, TARGETS, std=STD)
    assert judged.view("calibration").answer
    with pytest.raises(ensemble.EnsembleError, match="is for classes"):
        judged.view("agreement")
    run_id = judged.save("kept", target="height", unit="m")
    for word in (run_id, "kept"):
        again = ensemble.open_numbers(word)
        assert again.sentences == judged.sentences
    worst = again.view("worst", worst="surprise")
    assert worst.choices == {"worst": "surprise"}
    assert "<table>" in worst._repr_html_()
    assert next(iter(worst.figures.values())).data
    judged.save("kept")
    with pytest.raises(ensemble.EnsembleError, match="2 runs are called “kept”"):
        ensemble.open_numbers("kept")
    with pytest.raises(ensemble.EnsembleError, match="There is no run “none”"):
        ensemble.open_numbers("none")


def test_a_file_is_told_from_one_of_classes_by_its_names(tmp_path: Path) -> None:
    path = tmp_path / "file.npz"
    probabilities = np.full((2, 60, 3), 1 / 3)
    labels = np.arange(60) % 3
    for arrays, numeric in (
        ({"mean": MEAN, "std": STD, "targets": TARGETS}, True),
        ({"mu": MEAN, "y_true": TARGETS}, True),
        ({"quantiles": QUANTILES, "levels": LEVELS, "targets": TARGETS}, True),
        ({"probabilities": probabilities, "labels": labels}, False),
        ({"predictions": probabilities, "labels": labels}, False),
        ({"mean": MEAN}, False),
        ({"quantiles": QUANTILES, "targets": TARGETS}, False),
    ):
        np.savez(path, **arrays)
        assert file_task.is_numeric_file(path) is numeric, list(arrays)
    for suffix, text, numeric in (
        ("csv", "member,example,mean,std,target", True),
        ("csv", "member,example,q0.1,q0.5,q0.9,target", True),
        ("csv", "target,mean_a,mean_b", True),
        ("csv", "target,prediction_a,variance_a", True),
        ("csv", "member,label,0,1,2", False),
        ("csv", "example,prediction,label", False),
    ):
        table = tmp_path / f"table.{suffix}"
        table.write_text(f"{text}\n{','.join('1' for _ in text.split(','))}\n")
        assert file_task.is_numeric_file(table) is numeric, text
    assert not file_task.is_numeric_file(tmp_path / "none.npz")


CLASS_NUMBERS = np.arange(20) % 4
CLASS_COLUMNS = {f"p_{place}": np.eye(4)[CLASS_NUMBERS][:, place] for place in range(4)}
NAMED_COLUMNS = dict(zip(("cat", "dog", "owl", "yak"), CLASS_COLUMNS.values(), strict=True))
CLASS_LABELS = np.array([*NAMED_COLUMNS])[CLASS_NUMBERS]
ROW_STATISTICS = {"mean": np.arange(20) + 0.5, "std": np.ones(20)}


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write columns as CSV or Parquet, by the file's ending."""
    frame = pd.DataFrame(columns)
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)


@pytest.mark.parametrize(
    "columns",
    [
        {"label": CLASS_NUMBERS, **CLASS_COLUMNS},
        {"label": CLASS_NUMBERS + 1, **CLASS_COLUMNS},
        {"label": CLASS_LABELS, **CLASS_COLUMNS},
        {"label": CLASS_LABELS, **NAMED_COLUMNS},
        {"target": CLASS_NUMBERS % 2, "prob": np.linspace(0, 1, 20)},
    ],
    ids=["numbers", "numbers from 1", "text", "columns called as the classes", "one of two"],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_classes_are_told_from_numbers_whatever_stands_next_to_them(
    suffix: str, columns: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / f"a.{suffix}"
    write_table(path, {**columns, **ROW_STATISTICS})
    assert not file_task.is_numeric_file(path)
    with pytest.raises(PredictionsError, match=rf"a\.{suffix}: it holds probabilities or logits"):
        read_numeric_file(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    "columns",
    [{"label": CLASS_NUMBERS, **CLASS_COLUMNS}, {"label": CLASS_LABELS, **NAMED_COLUMNS}],
    ids=["numbers", "names"],
)
def test_the_mean_and_spread_of_each_row_are_reported_to_be_no_classes(
    suffix: str, columns: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / f"a.{suffix}"
    write_table(path, {**columns, **ROW_STATISTICS})
    done = CliRunner().invoke(main, ["import", str(path)])
    assert json.loads(done.stdout)["members"] == 1, done.output
    with pytest.warns(UserWarning, match="“mean”, “std”"):
        found = ensemble.Predictions.from_files(path)
    assert (found.members, len(found.class_names), found.accuracy) == (1, 4, 1.0)
    for note in found.notes:
        assert note in done.stderr


def test_a_statistic_that_differs_between_members_is_ignored_and_not_called_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = {name: np.tile(values, 2) for name, values in CLASS_COLUMNS.items()}
    keys = {"member": np.repeat([1, 2], 20), "example": np.tile(np.arange(20), 2)}
    labels = {"label": np.tile(CLASS_NUMBERS, 2), "mean": np.arange(40)}
    write_table(path, {**keys, **labels, **rows})
    with pytest.warns(UserWarning, match="Columns that were not used: “mean”"):
        found = ensemble.Predictions.from_files(path)
    assert not any("kept next to" in note for note in found.notes)


@pytest.mark.parametrize(
    "columns",
    [
        {"target": np.arange(20) % 3, **ROW_STATISTICS, "x1": np.arange(20), "x2": np.ones(20)},
        {"y": np.arange(20) + 0.5, **ROW_STATISTICS, "p_10": np.ones(20), "p_90": np.ones(20)},
        {"target": 10 * np.arange(20), **ROW_STATISTICS, "10": np.arange(20), "15": np.ones(20)},
    ],
    ids=["features", "percentiles", "a column called as one of the targets"],
)
def test_a_table_of_numbers_may_have_further_columns(columns: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    assert file_task.is_numeric_file(path)
    assert read_numeric_file(path).mixture.examples == 20


@pytest.mark.parametrize("name", ["preds", "y_pred", "probs", "outputs"])
@pytest.mark.parametrize("members", [(), (3,)])
def test_arrays_of_classes_may_come_with_the_mean_and_spread_of_the_pictures(
    name: str, members: tuple[int, ...], tmp_path: Path
) -> None:
    shares = np.broadcast_to(np.eye(4)[np.arange(20) % 4], (*members, 20, 4))
    statistics = {"mean": np.zeros(20), "std": np.ones(20)}
    for each in ({name: np.zeros(3) for name in statistics}, statistics):
        path = tmp_path / "a.npz"
        np.savez(path, **{name: shares, "labels": np.arange(20) % 4, **each})
        assert not file_task.is_numeric_file(path)
        with pytest.raises(PredictionsError, match="it holds probabilities or logits of classes"):
            read_numeric_file(path)


def test_import_takes_such_a_file_too(tmp_path: Path) -> None:
    np.savez(path := tmp_path / "numbers.npz", mean=MEAN, targets=TARGETS)
    done = CliRunner().invoke(main, ["import", str(path), "--name", "theirs"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["task"], told["members"], told["ensemble_test_nll"]) == ("regression", 3, None)
    assert told["notes"] == [numeric_files.POINTS_NOTE]
    refused = CliRunner().invoke(main, ["import", str(path), "--noun", "leaf"])
    assert "--noun is for classes" in refused.output


@pytest.mark.parametrize("form", ["npz", "long", "wide"])
def test_a_column_of_groups_is_read_reported_and_kept(tmp_path: Path, form: str) -> None:
    groups = [f"patient {place // 6}" for place in range(60)]
    path = tmp_path / ("numbers.npz" if form == "npz" else "numbers.csv")
    if form == "npz":
        np.savez(path, mean=MEAN, std=STD, targets=TARGETS, groups=groups)
    elif form == "long":
        write_long_table(path, group=groups)
    else:
        wide = {f"mean_{m}": MEAN[m] for m in range(3)} | {f"std_{m}": STD[m] for m in range(3)}
        pd.DataFrame({**wide, "target": TARGETS, "group": groups}).to_csv(path, index=False)
    read = read_numeric_file(path)
    assert read.groups is not None
    np.testing.assert_array_equal(read.groups, np.arange(60) // 6)
    assert read.notes[-1].endswith("belong together: intervals and tests count groups.")
    done = CliRunner().invoke(main, ["numbers", str(path), "--save", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    opened = ensemble.open_numbers(told["run_id"])
    assert opened.numbers.groups is not None
    assert int(opened.numbers.groups.max()) + 1 == 10
    judged = ensemble.judge_numbers(MEAN, TARGETS, std=STD, groups=groups)
    for coverage in (opened.evaluation.coverage[-2], judged.evaluation.coverage[-2]):
        assert coverage.low == pytest.approx(told["coverage"][-2]["low"])
    with pytest.raises(PredictionsError, match="give one group each"):
        ensemble.judge_numbers(MEAN, TARGETS, std=STD, groups=groups[:5])


def write_columns(path: Path, **columns: Any) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("columns", "spread"),
    [
        ({"y_true": TARGETS, "y_pred": MEAN[0], "y_pred_std": STD[0]}, True),
        ({"y_true": TARGETS, "y_pred": MEAN[0], "y_std": STD[0]}, True),
        ({"actual": TARGETS, "pred_mean": MEAN[0], "pred_std": STD[0]}, True),
        ({"target": TARGETS, "mean": MEAN[0], "std_dev": STD[0]}, True),
        ({"target": TARGETS, "mu": MEAN[0], "log_var": 2 * np.log(STD[0])}, True),
        ({"target": TARGETS, "mu": MEAN[0], "logvar": 2 * np.log(STD[0])}, True),
        ({"target": TARGETS, "mu": MEAN[0], "log_sigma": np.log(STD[0])}, True),
        ({"target": TARGETS, "mean": MEAN[0], "std": STD[0], "var": STD[0] ** 2}, True),
        ({"y": TARGETS, "prediction": MEAN[0], "lower": MEAN[0] - 1, "upper": MEAN[0] + 1}, False),
        ({"y": TARGETS, "mean": MEAN[0], "mean_se": STD[0], "mean_ci_lower": MEAN[0] - 1}, False),
        ({"y": TARGETS, "yhat": MEAN[0], "abs_error": abs(MEAN[0] - TARGETS)}, False),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, dict) else "",
)
def test_one_member_is_read_with_its_spread_whatever_it_is_called(
    tmp_path: Path, columns: dict[str, Any], spread: bool
) -> None:
    numbers = read_numeric_file(write_columns(tmp_path / "a.csv", **columns))
    assert len(numbers.member_names) == 1
    np.testing.assert_allclose(numbers.mixture.compute_mean(), MEAN[0])
    if spread:
        np.testing.assert_allclose(numbers.mixture.compute_variance(), STD[0] ** 2)
        assert numbers.notes == ()
    else:
        (listing,) = [note for note in numbers.notes if note.startswith("Columns that were not used: ")]
        assert [f"“{name}”" for name in list(columns)[2:]] == listing.partition(": ")[2].removesuffix(".").split(", ")


def test_the_ensemble_is_no_member_of_itself(tmp_path: Path) -> None:
    wide = {
        f"{kind}_{name}": values
        for name in ("1", "2", "ensemble")
        for kind, values in (("mean", MEAN[0]), ("std", STD[0]))
    }
    for columns in (wide, {**{f"pred_{n}": MEAN[n] for n in range(2)}, "mean": MEAN[0], "std": STD[0]}):
        numbers = read_numeric_file(write_columns(tmp_path / "a.csv", target=TARGETS, **columns))
        assert len(numbers.member_names) == 2
        assert any(note.startswith("The ensemble's own prediction is not a member: “mean") for note in numbers.notes)
    path = tmp_path / "long.csv"
    write_long_table(path)
    path.write_text(path.read_text().replace("m1,", "Ensemble,"))
    numbers = read_numeric_file(path)
    assert sorted(numbers.member_names) == ["m0", "m2"]
    assert "The ensemble's own prediction is not a member: rows of “Ensemble” are left out." in numbers.notes


@pytest.mark.parametrize(
    "levels", [("q0.1", "q0.5", "q0.9"), ("0.1", "0.5", "0.9"), ("p10", "p50", "p90"), ("q10", "q50", "q90")]
)
def test_levels_of_quantiles_are_read_from_the_names_of_columns(tmp_path: Path, levels: tuple[str, ...]) -> None:
    columns = dict(zip(levels, QUANTILES[0], strict=True))
    numbers = read_numeric_file(write_columns(tmp_path / "a.csv", item_id="a", mean=MEAN[0], target=TARGETS, **columns))
    assert isinstance(numbers.mixture, QuantileEnsemble)
    assert numbers.mixture.levels.tolist() == LEVELS.tolist()
    assert numbers.notes == ("Columns that were not used: “item_id”, “mean”.",)


def test_samples_in_columns_are_read(tmp_path: Path) -> None:
    drawn = RNG.normal(MEAN[0], STD[0], (12, 60))
    columns = {f"sample_{number}": values for number, values in enumerate(drawn)}
    numbers = read_numeric_file(write_columns(tmp_path / "a.csv", target=TARGETS, **columns))
    np.testing.assert_allclose(numbers.mixture.compute_mean(), drawn.mean(axis=0))
    np.testing.assert_allclose(numbers.mixture.compute_variance(), drawn.var(axis=0, ddof=1))


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"mean": MEAN[0], "std": STD[0], "var": STD[0]}, "“std” and “var” contradict each other"),
        ({"mean": MEAN[0], "id": ["a"] * 60}, "two rows of the example “a”"),
        ({"mean": MEAN[0], "split": ["test", "val"] * 30}, "its rows belong to 2 splits"),
    ],
)
def test_contradictions_of_columns_are_refused(tmp_path: Path, columns: dict[str, Any], why: str) -> None:
    with pytest.raises(PredictionsError, match=why):
        read_numeric_file(write_columns(tmp_path / "a.csv", target=TARGETS, **columns))


def test_an_example_twice_within_a_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("member,example,target,mean\nm,a,1,1\nm,b,1,1\nn,a,1,1\nn,a,1,1\n")
    with pytest.raises(PredictionsError, match="two rows of the example “a” of the member “n”: keep one"):
        read_numeric_file(path)
