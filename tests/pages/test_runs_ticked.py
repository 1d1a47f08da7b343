"""Runs: several rows ticked, and what can be done with all of them at once."""

from urllib.parse import parse_qs

import pandas as pd
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.runs import Run
from ensemble.runs.annotations.tags import write_tags
from tests.pages.ensembles import trained
from tests.pages.hostile import NAME, holes, literal
from tests.pages.predictions_screen import opened, value, widget
from tests.pages.test_runs import keys
from tests.pages.test_runs_words import captions, rows

ACTIVE_STAY = "Active runs cannot be deleted: stop them first."


def untrained(state: str = "stopped", **more: object) -> Run:
    return trained(done=0, state=state, **more)  # type: ignore[arg-type]


def ticked(*several: Run, **address: object) -> AppTest:
    return opened(page="runs", runs=",".join(run.id for run in several), **address)


def links(at: AppTest) -> dict[str, dict[str, list[str]]]:
    """The ways to Compare: what stands on each, and the address that it has."""
    return {
        link.proto.label: parse_qs(link.proto.query_string)
        for link in at.get("page_link")
        if link.proto.page == "compare"
    }


def test_the_runs_of_the_address_are_ticked_and_compare_opens_with_them() -> None:
    third, second, first = (untrained(created=1000.0 + at) for at in range(3))
    at = ticked(third, first)
    assert rows(at) == [0, 2]
    assert [one.value for one in at.subheader] == ["2 runs ticked"]
    assert links(at)["Compare 2 runs"] == {"runs": [f"{third.id},{first.id}"]}
    assert second.id not in (value(at, "runs") or "")
    widget(at, "button", "runs_untick").click().run()
    assert (rows(at), value(at, "runs"), at.subheader.len) == ([], None, 0)


def rows_pressed(cases: "list[tuple[list[int], list[str]]]", first: str) -> None:
    """What the table calls when other rows of the runs that it lists are ticked, case by case."""
    from types import SimpleNamespace

    import streamlit as st

    from ensemble.ui.runs import selection
    from ensemble.ui.shared.tab import tab

    st.session_state["found"] = []
    for then, listed in cases:
        st.query_params.clear()
        selection.set_selected_runs([first])
        st.session_state["pressed"] = SimpleNamespace(selection=SimpleNamespace(rows=then))
        selection.update_table_selection("pressed", listed)
        st.session_state["found"].append((list(selection.get_selected_run_ids()), st.query_params.to_dict()))
        assert len(tab.selected_run_ids) != 1


def test_what_is_ticked_stays_where_a_filter_hides_it() -> None:
    a, b = untrained().id, untrained().id
    cases = {
        ((0, 1), (a, b)): [a, b],
        ((1,), (a, b)): [b],
        ((), (a, b)): [],
        ((0, 7), (a, b)): [a],
        ((0,), (b,)): [a, b],
        ((), (b,)): [a],
    }
    at = AppTest.from_function(rows_pressed, args=([(list(then), list(listed)) for then, listed in cases], a)).run()
    assert not at.exception
    for wanted, (selected, words) in zip(cases.values(), at.session_state["found"], strict=True):
        assert selected == wanted
        assert words == ({"run" if len(wanted) == 1 else "runs": ",".join(wanted)} if wanted else {})


def test_more_than_compare_takes_are_no_address_and_say_so() -> None:
    every = [untrained() for _ in range(51)]
    at = ticked(*every)
    assert "51 runs ticked" in at.subheader[0].value
    assert [link.proto.disabled for link in at.get("page_link") if link.proto.page == "compare"] == [True]
    assert any("Compare takes 2 to 50 runs: untick 1" in one for one in captions(at))
    assert widget(at, "button", "runs_resume").disabled, "51 processes at once"


def test_all_are_tagged_and_a_tag_is_taken_from_all() -> None:
    one, other, third = untrained(), untrained(), untrained()
    sweep = "sweep-1123-052200"  # of which people take no trial out
    write_tags(one.id, ["rates", "old", sweep])
    write_tags(third.id, ["other"])
    at = ticked(one, other)
    box = widget(at, "multiselect", "tags_of_")
    assert box.options == ["old (1 of 2)", "other", "rates (1 of 2)"]
    box.set_value(["rates", "to show"]).run()
    assert not at.exception
    assert [runs.find_run(run.id).tags for run in (one, other, third)] == [
        ("rates", sweep, "to show"),
        ("to show",),
        ("other",),
    ]
    assert widget(at, "multiselect", "tags_of_").value == ["rates", "to show"]
    widget(at, "multiselect", "tags_of_").set_value(["rates", "to show", "x" * 41]).run()
    assert "at most 40 characters" in at.error[0].value
    assert runs.find_run(other.id).tags == ("to show",)
    assert widget(at, "multiselect", "tags_of_").value == ["rates", "to show"]


def test_how_many_of_those_ticked_the_filters_hide_is_said() -> None:
    for _ in range(5):  # with many runs the filters come
        untrained(name="seen")
    seen, also, other, third = (untrained(name=name) for name in ("seen", "seen", "other", "third"))
    at = ticked(seen, also)
    at.text_input[0].input("seen").run()
    for several, told in (
        ((seen, also), []),
        ((seen, other), ["1 of them is hidden by the filters"]),
        ((other, seen, third), ["2 of them are hidden by the filters"]),
        ((other, third), ["2 of them are hidden by the filters"]),
    ):
        at.query_params["runs"] = ",".join(run.id for run in several)
        at.run()
        assert at.subheader[0].value == f"{len(several)} runs ticked"
        assert [one for one in captions(at) if "of them" in one] == told


def told_again(run_id: str) -> None:
    """What the box of tags calls when the browser tells of it and nothing in it has changed."""
    import streamlit as st

    from ensemble.ui.runs import tag_editor
    from ensemble.ui.shared.tab import tab

    st.session_state["box"] = ["rates"]
    tag_editor.save_tag_changes("box", [run_id], ["rates"])
    st.write(repr(tab.runs_message))


def test_a_box_of_tags_that_is_told_of_again_keeps_nothing_anew() -> None:
    run = untrained()
    write_tags(run.id, ["rates"])
    before = (run.path / "tags.json").stat()
    at = AppTest.from_function(told_again, args=(run.id,)).run()
    assert at.markdown[0].value == "('', '')"
    assert (run.path / "tags.json").stat() == before


def test_several_are_deleted_when_asked_twice_and_an_active_one_is_named_and_stays() -> None:
    gone, also, stays = untrained(), untrained(), untrained()
    going = trained(name="going *on*", done=0, state="training", working=True)
    at = ticked(gone, stays)
    widget(at, "button", "runs_delete").click().run()
    assert "runs_delete_sure" in keys(at)
    at.query_params["runs"] = f"{gone.id},{also.id},{going.id}"
    at.run()
    assert "runs_delete_sure" not in keys(at), "it was asked about other runs"
    widget(at, "button", "runs_delete").click().run()
    assert gone.path.exists()
    said = at.warning[0].value
    assert said.startswith("Delete 2 runs with all curves")
    assert "going \\*on\\*" in said
    assert "is active and stays: stop it first." in said
    widget(at, "button", "runs_keep").click().run()
    assert not at.warning
    widget(at, "button", "runs_delete").click().run()
    widget(at, "button", "runs_delete_sure").click().run()
    assert not at.exception
    assert {run.id for run in runs.list_runs()} == {stays.id, going.id}
    assert (value(at, "run"), value(at, "runs")) == (going.id, None), "what is left is ticked"


def test_the_active_ones_are_stopped_and_only_the_active_ones() -> None:
    ended = untrained()
    going = [trained(done=0, state="training", working=True) for _ in range(2)]
    at = ticked(ended, *going)
    assert ACTIVE_STAY not in captions(at), "one of them can be deleted"
    assert ACTIVE_STAY in captions(ticked(*going))
    assert widget(at, "button", "runs_stop").label == "Stop 2"
    assert widget(at, "button", "runs_resume").label == "Resume 1"
    widget(at, "button", "runs_stop").click().run()
    assert [(run.path / "stop").exists() for run in (ended, *going)] == [False, True, True]


def test_missing_or_invalid_runs_in_the_address_are_reported_and_the_others_are_shown() -> None:
    one, other, gone = untrained(), untrained(), untrained()
    runs.delete_run(gone.id)
    at = ticked(one, other, gone, fields="<b>,nll", trials="x")
    assert "1 is not here" in at.warning[0].value
    assert at.subheader[0].value == "2 runs ticked"
    at.query_params["runs"] = "<b>,../x,"
    at.run()
    assert "2 are not here" in at.warning[0].value
    shown: pd.DataFrame = at.dataframe[0].value
    assert (list(shown), shown["id"].tolist()) == (["name", "nll", "id"], [other.id, one.id])


def test_names_and_tags_stay_text_wherever_they_stand() -> None:
    tag = "[zz](http://zz.ex) <b>zz</b> $zz$"
    going = trained(name=NAME, done=0, state="training", working=True)
    several = [going, *(untrained(name=NAME) for _ in range(6))]
    for run in several:
        write_tags(run.id, [tag])
    at = ticked(*several)
    widget(at, "multiselect", "runs_tags").set_value([tag]).run()
    assert f"Compare all 7 tagged {tag}" in literal(at)
    widget(at, "button", "runs_delete").click().run()
    assert f"{NAME} · {going.id}” is active and stays" in literal(at)
    assert holes(at) == []
    assert holes(opened(several[1], "runs")) == []
