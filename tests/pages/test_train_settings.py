"""Train's settings: the same beside a run as without one, marked where changed, never lost."""

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.runs.store import RUN_STORE
from ensemble.ui.shared import loaders, settings
from ensemble.ui.shared.settings import RUN_FORM
from ensemble.ui.shared.tab import Tab
from ensemble.ui.train import number_fields
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import APP, opened

EVERY = [*settings.PRIMARY_FIELDS]


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


def press(at: AppTest, key: str) -> AppTest:
    next(one for one in at.button if one.key == key).click().run()
    assert not at.exception
    return at


def label(at: AppTest, key: str) -> Any:
    return next((one.label for one in at.button if one.key == key), None)


def form_of(at: AppTest) -> dict[str, Any]:
    """What the component is given."""
    [sent] = [json.loads(one.proto.json) for one in at.sidebar.get("bidi_component")]
    form: dict[str, Any] = json.loads(sent["form"])
    return form


def fields(at: AppTest) -> dict[str, dict[str, Any]]:
    """The same, by setting."""
    form = form_of(at)
    return {field["name"]: field for field in form["fields"]}


def hold(at: AppTest, **values: Any) -> AppTest:
    for name, value in values.items():
        at.session_state[settings.format_setting_key(name)] = value
    at.run()
    assert not at.exception
    return at


def test_all_five_stand_beside_a_run_with_their_values_ranges_and_steps() -> None:
    at = opened(trained(members=3), "train")
    shown = fields(at)
    assert list(shown) == EVERY
    assert shown["members"]["value"] == 4
    assert (shown["members"]["low"], shown["members"]["high"]) == (1, 4096)
    assert shown["learning_rate"]["steps"][0] < 0.1 < shown["learning_rate"]["steps"][-1]
    assert label(at, "launch").startswith("Launch 4 members")
    assert fields(hold(at, members=7))["members"]["value"] == 7
    assert label(at, "launch").startswith("Launch 7 members")


def test_what_is_changed_says_what_it_was_and_one_that_differs_by_member_cannot_be_set() -> None:
    at = press(opened(trained(), "train"), "preset_in_class__30_s_")
    members = fields(at)["members"]
    assert (members["value"], members["usual"], members["origin"]) == (7, 7, "In class (30 s)")
    at = hold(at, members=9)
    assert fields(at)["members"]["usual"] == 7
    at = press(at, "reuse")
    assert fields(at)["members"]["origin"] == "the run shown"
    hold(at, vary="learning_rate=0.01..1:log")
    assert [name for name, field in fields(at).items() if field["off"]] == ["learning_rate"]
    said = " ".join(caption.value for caption in at.sidebar.caption).replace("\u2060", "")
    assert "learning_rate=0.01..1:log by member" in said


@pytest.mark.parametrize(
    ("name", "sent", "taken"),
    [
        ("members", 7, 7),
        ("members", 7.0, 7),
        ("members", 7.5, None),
        ("members", 0, None),
        ("members", 4097, None),
        ("members", True, None),
        ("members", "7", None),
        ("learning_rate", 0.0137, 0.0137),
        ("learning_rate", 1, 1.0),
        ("learning_rate", -0.1, None),
        ("learning_rate", float("nan"), None),
        ("momentum", 0.93, 0.93),
        ("momentum", 1.5, None),
    ],
)
def test_a_number_is_taken_where_it_is_in_range(name: str, sent: Any, taken: Any) -> None:
    assert number_fields.parse_number(RUN_FORM.fields[name], sent) == taken


def test_what_a_browser_sends_is_taken_by_its_number(state: dict[str, Any]) -> None:
    values = {"members": 6, "epochs": 10**9, "batch_size": "many", "seed": 3, "no such": 1}
    state[number_fields.KEY] = {"edited": json.dumps({"number": 4, "values": values})}
    number_fields.apply_edited_numbers(RUN_FORM)
    assert state["set_members"] == 6
    assert not {"set_epochs", "set_batch_size", "set_seed", "set_no such"} & set(state)
    assert state["settings_edit"] == 4
    state["set_members"] = 3  # a preset, meanwhile
    number_fields.apply_edited_numbers(RUN_FORM)
    assert state["set_members"] == 3, "the same message again is not another change"


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"number": 1}', '{"number": "x", "values": {}}', 3, None])
def test_what_is_no_such_message_changes_nothing(text: Any, state: dict[str, Any]) -> None:
    state[number_fields.KEY] = {"edited": text, "restored": text}
    number_fields.apply_edited_numbers(RUN_FORM)
    number_fields.restore_kept_settings(RUN_FORM)
    assert set(state) <= {number_fields.KEY, Tab.settings_restorable.key.format("")}


def test_what_a_tab_kept_is_set_again_where_it_fits(state: dict[str, Any]) -> None:
    kept = EnsembleConfig(members=9, momentum=0.5, validation=0.1).as_dict()
    send_kept(state, kept, {})
    assert state["set_members"] == 9
    assert state["set_validation"] == 0.1
    state["set_members"] = 3  # a preset, meanwhile
    number_fields.restore_kept_settings(RUN_FORM)
    assert state["set_members"] == 3, "what is given twice is taken once"
    send_kept(state, kept, {"members": 2})
    assert (state["set_members"], state["set_momentum"]) == (2, 0.5), "what was typed is newer"
    send_kept(state, kept | {"members": 10**6}, {})
    assert set(state) == {number_fields.KEY, Tab.settings_restorable.key.format("")}


def send_kept(state: dict[str, Any], kept: dict[str, Any], edits: dict[str, Any]) -> None:
    """What a browser sends in a new visit."""
    state.clear()
    state[Tab.settings_restorable.key.format("")] = True
    state[number_fields.KEY] = {"restored": json.dumps({"settings": kept, "edits": edits})}
    number_fields.restore_kept_settings(RUN_FORM)


def test_what_a_tab_kept_comes_back_where_nothing_was_chosen_in_this_visit() -> None:
    run = trained()
    at = opened(run, "train")
    assert form_of(at)["restorable"]
    assert form_of(at)["all"]["members"] == 4
    visit = form_of(at)["visit"]
    assert form_of(at.run())["restorable"], "the first drawing may not have reached the browser"
    assert form_of(at)["visit"] == visit
    other = AppTest.from_file(str(APP), default_timeout=240)
    other.session_state["set_dataset"] = "digits"  # as a press on Data does
    other.switch_page("pages/train.py").run()
    assert not form_of(other)["restorable"]
    assert form_of(other)["visit"] not in ("", visit)


def test_three_seeds_are_runs_that_differ_in_nothing_else_and_a_failed_launch_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launched: list[EnsembleConfig] = []
    real = runs.launch_run
    full = [False]

    def launch_one(config: EnsembleConfig, placement: Any = None) -> Any:
        if full[0] and launched:
            raise RunError("The folder is full.")
        launched.append(config)
        return real(config, placement)

    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)
    monkeypatch.setattr(runs, "launch_run", launch_one)
    at = opened(trained(members=3), "train")
    at.session_state["launch_seeds"] = 3
    at.run()
    assert label(at, "launch").startswith("Launch 4 members × 3 seeds")
    press(at, "launch")
    assert sorted(config.seed for config in launched) == [0, 1, 2]
    assert len({replace(config, seed=0) for config in launched}) == 1
    assert fields(at), "a launch leaves the settings where they are"
    before = {run.id for run in runs.list_runs()}
    launched.clear()
    full[0] = True
    hold(at, members=5)
    press(at, "launch")
    (first,) = {run.id for run in runs.list_runs()} - before
    assert len(launched) == 1
    assert at.query_params["run"] in (first, [first])
    assert "Not all seeds could be launched: The folder is full." in at.error[0].value


def test_other_settings_are_found_by_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(trained(), "train")
    at.session_state["more"] = True
    at.session_state["settings_search"] = "early stopping"
    at.run()
    keys = [one.key for one in at.sidebar.number_input]
    assert keys == ["set_patience"]
    at.session_state["settings_search"] = "nothing of the kind"
    at.run()
    assert not at.sidebar.number_input
    assert "try another word" in " ".join(one.value for one in at.sidebar.caption)


def test_the_small_print_has_all_settings_and_the_id_behind_its_question_mark() -> None:
    run = runs.create_run(EnsembleConfig(members=4, learning_rate=0.1))
    whole = "Digits · 4 members · rate 0.1 · momentum 0.9 · 10 epochs · batch 128 · seed 0"
    caption = next(one for one in opened(run, "train").main.caption if one.value == "Settings")
    assert whole in caption.help
    assert run.id in caption.help
