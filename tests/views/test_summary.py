"""A view without a screen: what is asked, what is refused, what JSON holds."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import ensemble
from ensemble.cli.program import main
from ensemble.errors import ConfigError, RunError
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.parts import Figure, Figures, Images, Paragraph
from ensemble.views.registry import VIEWS, find_view
from ensemble.views.summary import build_table_record, format_image_numbers, summarize_view
from ensemble.wording.escaping import escape_markdown, strip_markdown
from tests.pages.ensembles import trained


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"error": "7"}, "error is '7': choose one of 10, 5, 2, 1, 0.5, 0.2, 0.1."),
        ({"eror": "2"}, "There is no choice 'eror' here: there are error."),
    ],
)
def test_a_choice_that_there_is_not_is_named_with_those_there_are(choices: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        summarize_view(VIEWS["selective"], evaluate_epoch(trained()), choices)
    assert str(error.value) == sentence


def test_a_view_that_there_is_not_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no view 'calib': choose one of answer, "):
        find_view("calib")


def test_a_cell_of_the_matrix_is_chosen_by_its_word_though_nobody_offers_it() -> None:
    epoch = evaluate_epoch(trained())
    made = epoch.predictions
    every = summarize_view(VIEWS["confusion"], epoch)
    assert sorted(every.images[0].numbers) == np.flatnonzero(~made.right).tolist()
    summary = summarize_view(VIEWS["confusion"], epoch, {"cell": "3-3"})
    expected = np.flatnonzero((made.labels == 3) & (made.said == 3))
    assert sorted(summary.images[0].numbers) == expected.tolist()
    for word in ("10-3", "3-", "a-b", "³-3", "-1-3"):
        with pytest.raises(ConfigError, match="cell is"):
            summarize_view(VIEWS["confusion"], epoch, {"cell": word})


def test_a_committee_is_judged_by_the_margin_that_is_asked_for() -> None:
    epoch = evaluate_epoch(trained(members=4))
    strict = summarize_view(VIEWS["members"], epoch, {"margin": "0.01"})
    lenient = summarize_view(VIEWS["members"], epoch, {"margin": "5"})
    assert strict.answer != lenient.answer
    by_ece = summarize_view(VIEWS["members"], epoch, {"figure": "ece"})
    assert by_ece.answer == "How many members are enough is not judged by ECE."
    notes = [one.text for one in by_ece.paragraphs if one.role == "note"]
    assert any("A perfectly calibrated ensemble would show" in note for note in notes)


def test_members_that_swing_the_vote_are_chosen_one_by_one() -> None:
    epoch = evaluate_epoch(trained(sure=2.0))
    of_any = summarize_view(VIEWS["agreement"], epoch, {"list": "swing"})
    of_each = [summarize_view(VIEWS["agreement"], epoch, {"list": "swing", "voter": str(voter)}) for voter in (1, 2, 3)]
    union = set().union(*(set(one.images[0].numbers.tolist()) for one in of_each))
    assert union == set(of_any.images[0].numbers.tolist())
    assert all("Without member" in one.images[0].caption for one in of_each)


def test_of_one_member_every_view_says_something_and_those_of_several_that_there_is_nothing() -> None:
    epoch = evaluate_epoch(trained(members=1))
    summaries = {name: summarize_view(view, epoch) for name, view in VIEWS.items()}
    assert all(summary.answer for summary in summaries.values())
    gone = {name for name, summary in summaries.items() if not summary.available}
    several = {name for name, view in VIEWS.items() if view.needs_several}
    assert gone == {"loss_by_value", "shift", "distillation", *several}


def test_an_epoch_that_is_not_kept_is_refused_with_those_that_are() -> None:
    run = trained(epochs=3)
    with pytest.raises(RunError, match="has no epoch 7: it has 1, 2, 3"):
        evaluate_epoch(run, 7)
    done = CliRunner().invoke(main, ["inspect", run.id, "--choose", "error=2"])
    assert done.exit_code == 2
    assert "name the view as well" in done.output
    done = CliRunner().invoke(main, ["inspect", run.id, "selective", "--choose", "error"])
    assert "write NAME=WORD" in done.output


def test_every_object_is_json_without_what_json_has_not() -> None:
    epoch = evaluate_epoch(trained())
    for view in VIEWS.values():
        json.dumps(summarize_view(view, epoch).to_dict(), allow_nan=False)
    frame = pd.DataFrame({"a": [1.5, float("inf")], 2: [np.int64(3), None], "t": ["x", "y"]})
    rows = build_table_record(frame)
    assert rows == {"columns": ["a", "2", "t"], "rows": [[1.5, 3.0, "x"], [None, None, "y"]]}


def test_lines_for_people_hold_every_table_and_no_markup() -> None:
    run = trained(name="lines")
    done = CliRunner().invoke(main, ["inspect", run.id, "combining"])
    assert done.output.startswith("lines · epoch 2 · Combining\n")
    assert "Four ways of combining" in done.output
    assert "geometric mean" in done.output
    every = CliRunner().invoke(main, ["inspect", run.id]).output
    assert "**" not in every
    assert len(every.splitlines()) == 1 + len(VIEWS)


def test_markdown_is_read_as_it_is_seen() -> None:
    hostile = r"*a* [b](c) `d` \e **f** 1. x_y"
    assert strip_markdown(f"**bold** {escape_markdown(hostile)}") == f"bold {hostile}"


@pytest.mark.long
def test_a_notebook_shows_sentences_figures_and_tables_in_turn() -> None:
    from IPython.core.formatters import DisplayFormatter
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    run = trained(name="<b>&")
    view = ensemble.open_run(run.id).view("calibration")
    InteractiveShell.instance()
    try:
        with capture_output() as captured:
            DisplayFormatter().format(view)
    finally:
        InteractiveShell.clear_instance()
    kinds = [set(output.data) for output in captured.outputs]
    plotly = "application/vnd.plotly.v1+json"
    html = "".join(output.data["text/html"] for output in captured.outputs if plotly not in output.data)
    assert view.answer in html
    assert "What a temperature saves" in html
    assert sum(plotly in kind for kind in kinds) == len(view.figures) == 1
    assert repr(view).startswith(view.answer)
    drawn = view.figures["Confidence against accuracy"]
    assert drawn.layout.title.subtitle.text == "&lt;b&gt;&amp; · epoch 2"
    assert len(view.data["Confidence against accuracy"])


def test_images_in_a_line_are_counted_beyond_the_first() -> None:
    line = format_image_numbers(Images(np.arange(30), "k", "**Some**", markdown=True), "digit")
    assert line.startswith("Some Test digits: 0, 1, 2")
    assert line.endswith("18, 19 and 10 more.")
    assert format_image_numbers(Images(np.arange(0), "k", empty="None."), "digit") == "None."


def test_notes_belong_to_the_figure_that_is_chosen() -> None:
    figure = Figure("", "", "", lambda palette: None)  # type: ignore[return-value]
    assert Figures.single(figure).all() == [figure]
    assert [one.label for one in Figures.several("Which", [figure, figure]).all()] == ["", ""]
    assert Paragraph("x").role == "text"
