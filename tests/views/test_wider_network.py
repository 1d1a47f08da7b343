"""One wider network in the view How many members?."""

import shlex

from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.comparison.differences import adjust_differences, compute_group_difference
from ensemble.comparison.run_measures import measure_run
from ensemble.datasets.registry import find_dataset_entry
from ensemble.planning.network_widths import find_equal_flops_width
from ensemble.wording import formats
from tests.comparison.drawn import finished, imported
from tests.views.summaries import find_table, summarize

MEMBERS = 3
SHAPE = find_dataset_entry("digits").image_shape
WIDTH = find_equal_flops_width("cnn", SHAPE, 10, MEMBERS)


def test_the_printed_command_trains_one_network_of_the_same_cost() -> None:
    run = finished({"members": MEMBERS, "seed": 5})
    summary = summarize(run, "members", alternative="wider", margin="0.01")
    (command,) = [part.text for part in summary.paragraphs if part.text.startswith("ensemble train")]
    words = shlex.split(command)[1:]
    settings = dict(zip(words[1::2], words[2::2], strict=True))
    assert settings["--members"] == "1"
    assert settings["--width"] == f"{WIDTH}"
    assert settings["--seed"] == "5"
    assert CliRunner().invoke(main, [*words, "--help"]).exit_code == 0


def test_single_networks_of_the_same_cost_are_compared_over_their_seeds() -> None:
    run, other = (finished({"members": MEMBERS, "seed": seed}, draw=seed, skill=4) for seed in (1, 2))
    single = [finished({"members": 1, "width": WIDTH, "seed": seed}, draw=10 + seed, skill=1.5) for seed in (1, 2)]
    finished({"members": 1, "seed": 1}, draw=20)  # as wide as a member, so not of the same cost
    summary = summarize(run, "members", alternative="wider", margin="0.01")
    table = find_table(summary, "single network")
    difference = compute_group_difference(
        tuple(measure_run(each) for each in (run, other)), tuple(measure_run(each) for each in single)
    )
    (adjusted,) = adjust_differences([difference])
    assert table["runs"].tolist() == ["2"]
    assert table["difference"].tolist() == [formats.format_image_difference(adjusted.digits, "digit")]
    assert adjusted.settings_accuracy_sign == 1
    assert table["shown for the ensemble"].tolist() == ["more right, lower NLL"]
    assert "The ensemble against one wider network of the same cost: more right, lower NLL." in summary.to_text()
    assert f"width {WIDTH:,}".capitalize() in summary.to_text()


def test_networks_that_cannot_be_made_wider_are_named() -> None:
    logistic = finished({"members": 2, "network": "logistic"})
    assert "cannot be made wider" in summarize(logistic, "members", alternative="wider").to_text()
    elsewhere = runs.find_run(imported().id)
    assert "imported run" in summarize(elsewhere, "members", alternative="wider").to_text()
