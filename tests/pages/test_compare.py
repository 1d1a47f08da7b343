"""Compare as a page: which runs, in which groups, what a brush leaves in every view."""

import html
import json
import re
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.report import render_report
from ensemble.runs.annotations.baseline import write_baseline
from ensemble.runs.annotations.tags import write_tags
from ensemble.ui.compare.selected_runs import MAX_RUNS
from ensemble.ui.shared import loaders
from tests.comparison.drawn import finished
from tests.pages.predictions_screen import opened, value, widget


def compared(**address: object) -> AppTest:
    return opened(page="compare", **address)


def three() -> list[runs.Run]:
    """Two runs that differ in the seed alone, and one at another rate; all tagged."""
    every = [
        finished({"seed": 1}, draw=1),
        finished({"seed": 2}, draw=2),
        finished({"learning_rate": 1.0}, skill=1.0, draw=3),
    ]
    for run in every:
        write_tags(run.id, ["rates"])
    return every


def ids(every: list[runs.Run]) -> str:
    return ",".join(run.id for run in every)


def traces(at: AppTest) -> list[dict[str, Any]]:
    """What the page's only figure draws."""
    [figure] = at.get("plotly_chart")
    return list(json.loads(figure.proto.spec)["data"])


def bold(at: AppTest) -> list[str]:
    return [one["name"] for one in traces(at) if one["line"]["width"] == 3]


def lines(at: AppTest) -> dict[str, Any]:
    """What the parallel coordinates are given."""
    [component] = at.get("bidi_component")
    sent = json.loads(component.proto.json)
    return {**json.loads(sent["chart"]), "keep": json.loads(sent["keep"])}


def said(at: AppTest) -> str:
    return " ".join(one.value for one in (*at.markdown, *at.subheader, *at.caption, *at.warning))


def test_runs_that_differ_in_the_seed_alone_are_one_bold_curve() -> None:
    at = compared(runs=ids(three()))
    assert bold(at) == ["rate 0.1 (mean of 2)", "rate 1"]
    assert "Rate 0.1 has a lower test NLL than rate 1." in said(at)
    at = compared(runs=ids(three()), by="seed,learning_rate")
    assert len(bold(at)) == 3


def test_a_tag_and_a_sweep_stand_for_all_their_runs() -> None:
    every = three()
    write_tags(every[0].id, ["rates", "sweep-1123-050000"])
    write_tags(every[1].id, ["rates", "sweep-1123-050000"])
    assert "3 runs · tag “rates”" in said(compared(tag="rates"))
    at = compared(sweep="sweep-1123-050000")
    assert "2 runs · sweep-1123-050000" in said(at)
    box = widget(at, "selectbox", "compare_other_tag")
    box.select("rates").run()
    assert value(at, "tag") == "rates"
    assert value(at, "sweep") is None
    assert "3 runs" in said(at)


def test_runs_that_are_gone_are_named_and_the_others_compared() -> None:
    run = finished()
    at = compared(runs=f"{run.id},gone,../../etc")
    assert "These runs are not found, and left out: “gone”, “../../etc”." in said(at)
    assert "1 run" in said(at)
    at = compared(runs="gone")
    assert "“gone”" in said(at)
    assert not at.button, "one run alone is not compared"
    assert [one.label for one in at.get("page_link")] == ["Train another"]
    assert "No run has the tag “none”" in said(compared(tag="none"))


def test_the_first_visit_says_what_will_be_here_and_the_next_step() -> None:
    at = compared()
    assert "Compare runs" in said(at)
    assert [one.label for one in at.get("page_link")] == ["Train a first ensemble"]
    three()
    loaders.forget_runs()
    at.run()
    at.button[0].click().run()
    assert at.button
    assert len(str(value(at, "runs")).split(",")) == 3
    assert "3 runs" in said(at)
    at = at.switch_page("pages/runs.py").run().switch_page("pages/compare.py")
    at.query_params.clear()
    assert "3 runs" in said(at.run()), "what was compared last stands there again"


def test_fifty_runs_are_compared_at_a_time_and_the_rest_is_said() -> None:
    run = finished()
    at = compared(runs=",".join([run.id, *(f"gone-{n}" for n in range(MAX_RUNS + 6))]))
    assert "50 runs are compared at a time: 7 more are left out." in said(at)


def test_a_brush_leaves_the_same_runs_in_every_view() -> None:
    every = ids(three())
    keep = "learning_rate:..0.5"
    at = compared(runs=every, keep=keep)
    assert "**2 of 3 runs**: brushed to learning rate up to 0.5." in said(at)
    assert len(bold(at)) == 1
    at = compared(runs=every, keep=keep, view="table")
    assert at.dataframe[0].value.iloc[0, 1:].to_list() == ["2"]
    at = compared(runs=every, keep=keep, view="settings")
    assert lines(at)["keep"] == {"learning_rate": [None, 0.5]}
    assert len(lines(at)["runs"]) == 3, "the browser dims those that are not left"
    assert len(at.dataframe[0].value) == 2
    small = [one for one in traces(at) if one.get("name") == "not brushed"]
    assert [len(one["x"]) for one in small] == [1]
    brushed = places(at.main, "bidi_component")
    at.button(key="compare_show_all").click().run()
    assert value(at, "keep") is None
    assert len(at.dataframe[0].value) == 3
    # What changes its place is drawn again, and loses the keyboard; all after it do as well.
    assert places(at.main, "bidi_component") == brushed


def places(block: Block, kind: str) -> list[list[int]]:
    """Where elements of a kind are: the number in its block, of each block that they are in."""
    found = [
        [at, *rest] for at, child in block.children.items() if isinstance(child, Block) for rest in places(child, kind)
    ]
    return found + [[at] for at, child in block.children.items() if child.type == kind]


def test_the_best_are_chosen_by_nll_and_it_is_said_on_which_images() -> None:
    at = compared(runs=ids(three()), top=10, view="table", columns="runs")
    assert "the best 10 % by NLL on the test images" in said(at)
    assert at.dataframe[0].value.shape[1] == 2


def test_the_baseline_of_the_address_is_what_the_others_are_held_against() -> None:
    every = three()
    frame = compared(runs=ids(every), view="table", baseline=every[2].id).dataframe[0].value
    verdict = frame.set_index("").loc["Accuracy, verdict"]
    assert verdict.to_list() == ["better: more right", "baseline"]
    write_baseline("digits", every[2].id)  # pinned on Runs
    frame = compared(runs=ids(every), view="table").dataframe[0].value
    verdict = frame.set_index("").loc["Accuracy, verdict"]
    assert verdict.to_list() == ["better: more right", "baseline"]
    at = compared(runs=ids(every), view="table", baseline="gone")
    assert "The baseline in the address is none of these runs." in said(at)
    at = compared(runs=ids(every), view="table", baseline="none")
    assert "Accuracy, verdict" not in at.dataframe[0].value[""].to_list()


def test_columns_of_runs_are_called_by_what_tells_them_apart() -> None:
    every = three()
    runs.rename_run(every[2].id, "mine")
    frame = compared(runs=ids(every), view="table", columns="runs").dataframe[0].value
    assert list(frame.columns) == ["", "rate 0.1 · seed 1", "rate 0.1 · seed 2", f"mine · {every[2].id}"]


def test_what_is_chosen_in_a_view_is_there_again_at_the_next_visit() -> None:
    at = compared(runs=ids(three()))
    widget(at, "multiselect", "compare_by").set_value(["learning_rate"]).run()
    assert value(at, "by") == "learning_rate"
    at.query_params.clear()
    assert value(at.run(), "by") == "learning_rate"


def test_a_run_without_an_epoch_is_compared_with_nothing() -> None:
    assert not compared(runs=runs.create_run(EnsembleConfig()).id).error


def test_the_table_says_what_the_report_of_the_same_runs_says() -> None:
    every = three()
    [table] = re.findall(r"<caption>Settings and figures</caption>.*?</table>", render_report(every))
    assert "Won and lost, images" in table
    at = compared(runs=ids(every), view="table", baseline=every[0].id)
    for cell in at.dataframe[0].value.to_numpy().ravel():
        text = str(cell).removeprefix("'")  # a leading sign is defused for files of tables
        assert html.escape(text, quote=False) in table
    words = [*at.markdown, *at.caption]
    for part in re.findall(r'<p class="(?:answer|evidence|note)">(.*?)</p>', render_report(every))[:3]:
        assert any(html.unescape(part) in one.value.replace("\\", "") for one in words), part


def test_two_members_of_two_runs_show_the_images_that_they_answer_differently() -> None:
    every = three()[:2]
    at = compared(runs=ids(every), view="members", pair="1-6")
    assert not at.exception
    said = [one.value for one in at.caption]
    assert any("the first has right" in one and "Member 1 of" in one for one in said)
    under = [one.value for one in at.get("caption")] + [one.value for one in at.markdown]
    assert any("What two members answer differently" in one for one in under)
