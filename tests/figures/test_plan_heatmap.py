"""The pictures of plans: what is drawn is what the map and the intervals say."""

import math
import re

import numpy as np
import pytest

from ensemble.analysis.planning.plan_choice import choose_best_plan
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.figures.palette import Palette
from ensemble.planning.plan_costs import PlanCosts
from ensemble.views import members_for_epochs as plan_heatmap
from tests.analysis.planning.test_plan_losses import drawn
from tests.figures.test_inspect import traces

COSTS = PlanCosts(1_000, 100.0)


@pytest.mark.parametrize("name", ["nll", "accuracy"])
def test_the_map_is_bluest_where_the_figure_is_best_and_says_each_one(name: str, palette: Palette) -> None:
    found = drawn(4, 100, epochs=3)
    choice = choose_best_plan(found, 6, name)
    assert choice
    chart = plan_heatmap.plot_plan_heatmap(found, choice, COSTS, name, "title", palette)
    cells = chart.data[0]
    values = np.array([[found.mean(EnsemblePlan(m, e), name) for e in (1, 2, 3)] for m in (1, 2, 3, 4)])
    better = -values if name == "nll" else values
    assert np.array_equal(np.argsort(cells.z, axis=None), np.argsort(better, axis=None))
    assert (cells.z.min(), cells.z.max()) == (0, 1)
    assert cells.hovertext[2][1].startswith("3 members for 2 epochs<br>")
    assert cells.hovertext[2][1].endswith("6,000 img·member, about 1 min")
    assert list(cells.x) == [0.5, 1.5, 2.5, 3.5]
    frames = [shape for shape in chart.layout.shapes if shape.name in ("best", "candidate")]
    framed = {EnsemblePlan(int(one.y0 + 0.5), int(one.x0 + 0.5)): one.name for one in frames}
    assert set(framed) == set(choice.candidates)
    assert [plan for plan, kind in framed.items() if kind == "best"] == [choice.best]


def test_lines_of_equal_cost_hold_members_times_epochs_and_the_budget_pays_for_what_is_below(palette: Palette) -> None:
    found = drawn(4, 50, epochs=3)
    choice = choose_best_plan(found, 6)
    chart = plan_heatmap.plot_plan_heatmap(found, choice, COSTS, "nll", "title", palette)
    for trace, passes in zip(traces(chart, "equal training cost"), (6, 3, 1.2), strict=True):
        drawn_ = np.isfinite(trace.y)
        np.testing.assert_allclose((np.array(trace.x) * np.array(trace.y))[drawn_], passes)
        x, y = np.array(trace.x)[drawn_], np.array(trace.y)[drawn_]
        away = np.hypot(x - x.round(), y - y.round())
        assert away.min() > 0.05, "a line strikes a cell's figure through"
        assert min(trace.x) >= 0.5
        assert max(trace.x) <= 3.5
    (budget,) = traces(chart, "the budget")
    for plan in found.plans:
        below = plan.members < np.interp(plan.epochs, budget.x, budget.y, left=math.inf)
        assert below == (plan.cost <= 6)
    everything = plan_heatmap.plot_plan_heatmap(found, choose_best_plan(found, 12), COSTS, "nll", "title", palette)
    assert not traces(everything, "the budget")


def test_the_table_has_every_plan_and_what_those_that_are_paid_for_lose() -> None:
    found = drawn(3, 50)
    choice = choose_best_plan(found, 4)
    assert choice
    rows = plan_heatmap.tabulate_plans(found, choice, COSTS)
    assert rows[["members", "epochs"]].apply(tuple, axis=1).tolist() == found.plans
    assert rows["seconds"].tolist() == [plan.cost * 10 for plan in found.plans]
    lost = rows.set_index(["members", "epochs"])["loss"]
    for one in choice.losses:
        assert lost[one.plan] == one.mean
    assert lost[choice.best] == 0
    assert math.isnan(lost[3, 2])
    ends = rows.set_index(["members", "epochs"])[["loss_low_95", "loss_high_95"]]
    for one in choice.losses:
        assert ends.loc[one.plan].tolist() == [one.low, one.high]
        assert one.low < one.high
    text = plan_heatmap.describe_plan_heatmap_chart(found, choice, "nll")
    low, high = map(float, re.findall(r"from ([\d.]+) to ([\d.]+);", text)[0])
    assert [low, high] == pytest.approx([found.means["nll"].min(), found.means["nll"].max()], abs=5e-4)
    assert "best for the budget" in plan_heatmap.describe_plan_heatmap_chart(found, choice, "nll")
