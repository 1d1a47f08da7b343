"""One network instead: offered by a finished ensemble, set up on Train, judged on its page."""

import numpy as np
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.parameters import write_parameters
from ensemble.runs.teacher import build_student_config
from ensemble.ui.shared import settings
from tests.comparison.drawn import finished
from tests.pages.predictions_screen import opened
from tests.pages.stressed import said
from tests.planning.test_distillation import taught
from tests.views.summaries import summarize


def labels_of(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def test_a_finished_ensemble_offers_one_network_in_its_place_as_long_as_it_is_there() -> None:
    teacher = finished({"members": 3})
    write_parameters(teacher.path, teacher.status.epoch, {"kernel": np.zeros((3, 1))}, None)
    at = opened(teacher, "train")
    at.button(key="one_network_instead").click().run()
    assert not at.exception
    config = build_student_config(teacher)
    assert (config.teacher, config.members) == (teacher.id, 1)
    held = {name: at.session_state[f"set_{name}"] for name in settings.RUN_FIELDS}
    assert EnsembleConfig.from_dict(held) == config
    assert [button for button in at.button if button.label.startswith("Launch 1 member")]
    other = taught()
    runs.delete_run(teacher.id)
    at.query_params["run"] = other.id
    at.run()
    assert not at.exception
    assert "There is no run" in said(at)


def test_one_network_and_a_run_without_parameters_offer_nothing() -> None:
    at = opened(taught(), "train")
    assert "One network instead" not in labels_of(at)


def test_a_student_s_page_says_who_taught_it_what_it_loses_and_where_to_look() -> None:
    student = taught(skill=1.0)
    teacher = student.config.teacher  # type: ignore[union-attr]
    at = opened(student, "train")
    claims = [one.value for one in at.main.markdown if one.value.startswith("#### ")]
    assert claims == ["#### It loses more than 0.1 points of accuracy and 0.005 nats of NLL against its teacher."]
    assert any("1 network in place of 3" in one.value for one in at.main.caption)
    assert any(f"taught by {teacher}" in (one.help or "") for one in at.main.caption)
    [link] = [one for one in at.main.get("page_link") if one.proto.label == "Inspect"]
    assert "view=distillation" in link.proto.query_string


def test_inspect_has_the_view_for_students_alone() -> None:
    student = taught(skill=1.0)
    at = opened(student, "inspect", view="distillation")
    assert not at.exception
    assert "against its teacher" in said(at)
    assert "Disagreement cannot be had from one network" in said(at)
    offered = [word for group in at.segmented_control for word in group.options]
    assert "Against its teacher" in offered
    runs.delete_run(student.config.teacher)  # type: ignore[union-attr]
    assert "is not here any more" in summarize(student, "distillation").answer
