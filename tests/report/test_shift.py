"""What was measured under shift stands in the report, as on the screen; damaged, it is left out."""

import pytest

from ensemble.report import render_report
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.results import stress_folder
from ensemble.views import shift as entropy_histograms
from ensemble.views.accuracy_estimates import collect_estimated_steps, describe_estimated_steps
from tests.pages.ensembles import trained
from tests.pages.stressed import measured
from tests.report.pages import Page


@pytest.mark.long
def test_every_corruption_and_every_other_set_of_images_is_there() -> None:
    run = trained(epochs=2)
    results = measured(run)
    page = Page(render_report([run]))
    assert "Shift" in [one.text for one in page.all("h2")]
    labels = [one.text for one in page.all("button")]
    assert {kind.title for kind in CORRUPTION_KINDS.values()} <= set(labels)
    for one in results.ood:
        assert entropy_histograms.describe_ood_separation(one, "digit").replace("**", "") in page.said
    said = describe_estimated_steps(collect_estimated_steps(results), "digit")
    assert said.replace("**", "") in page.said
    titles = [one["figure"]["layout"]["title"]["text"] for one in page.figures]
    assert titles[-2:] == [one["title"] for one in results.ood]
    (stress_folder(run.path) / "results.json").write_text("{")
    assert "Shift" not in [one.text for one in Page(render_report([run])).all("h2")]
