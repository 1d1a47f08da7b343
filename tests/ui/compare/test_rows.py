"""The table of Compare in words, against figures counted by hand."""

import numpy as np

from ensemble import runs
from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.run_groups import group_runs
from ensemble.figures.comparison import comparison_table
from tests.comparison.drawn import finished, labels


def right(run: runs.Run) -> np.ndarray:
    """(N,), where the ensemble is right after its last epoch."""
    made = runs.read_run_predictions(run.id, run.config.epochs)
    return np.asarray(made.mean(axis=0).argmax(axis=-1) == labels())


def test_the_table_says_what_was_counted_and_what_is_shown_of_it() -> None:
    weak = finished({"learning_rate": 0.01}, skill=1.0, draw=1)
    strong = finished({"learning_rate": 0.1}, skill=3.0, draw=2)
    made = build_comparison_table(group_runs([weak, strong]), weak.id)
    frame = comparison_table.tabulate_comparison(made, differ=True).set_index(comparison_table.NAME_COLUMN)
    assert list(frame.columns) == ["rate 0.01", "rate 0.1"]
    assert list(frame.loc["Learning rate"]) == ["0.01", "0.1"]
    assert "Momentum" not in frame.index
    won, lost = (int((a & ~b).sum()) for a, b in ((right(strong), right(weak)), (right(weak), right(strong))))
    column = frame["rate 0.1"]
    assert column["Won and lost, images"] == f"{won:,} won, {lost:,} lost"
    assert column["More right, images"].startswith(f"+{won - lost} (+")
    assert column["Accuracy"].startswith(f"{100 * right(strong).mean():.1f} % (")
    assert column["Accuracy, verdict"] == "in these runs more right"
    assert column["NLL, verdict"] == "in these runs lower"
    assert column["p of accuracy, adjusted"] == "< 0.001"
    assert set(frame["rate 0.01"].tail(7)) == {"baseline"}
    every = comparison_table.tabulate_comparison(made, differ=False)[comparison_table.NAME_COLUMN].to_list()
    assert every.index("Momentum") > every.index("p of NLL, adjusted"), "what is the same is last"
    assert "Differs by member" not in every, "nobody has set it"


def test_what_is_not_shown_is_not_called_equal_and_the_worse_is_named() -> None:
    one, same = finished({"seed": 1}, draw=1), finished({"seed": 2}, draw=2)
    weak = finished({"learning_rate": 0.01}, skill=0.5, draw=3)
    made = build_comparison_table(group_runs([one, same, weak], ["seed", "learning_rate"]), one.id)
    frame = comparison_table.tabulate_comparison(made, differ=True).set_index(comparison_table.NAME_COLUMN)
    said = frame.loc["Accuracy, verdict"].to_list()
    assert sorted(said) == ["baseline", "in these runs fewer right", "not shown"]
    assert "“Not shown” does not mean equal." in comparison_table.describe_table_basis(made)
    assert "all 6 tests, accuracy and NLL of all pairs (Holm)" in comparison_table.describe_table_basis(made)


def test_a_program_gets_numbers_with_their_ends() -> None:
    weak, strong = finished({"learning_rate": 0.01}, skill=1.0), finished(skill=3.0, draw=2)
    found = comparison_table.tabulate_comparison_values(build_comparison_table(group_runs([weak, strong]), weak.id))
    one = found[(found["name"] == "accuracy") & (found["group"] == "rate 0.1")].iloc[0]
    np.testing.assert_allclose(one["value"], right(strong).mean())
    assert one["low"] < one["value"] < one["high"]
    digits = found[found["name"] == "digits"].iloc[0]
    assert digits["value"] == right(strong).sum() - right(weak).sum()
