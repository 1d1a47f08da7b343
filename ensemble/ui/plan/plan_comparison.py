"""Two plans against each other: three members for five epochs, or one for fifteen?"""

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.plan_choice import PlanChoice, rank_plans
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.errors import EnsembleError
from ensemble.planning.plan_comparison import compare_plans
from ensemble.planning.plan_costs import PlanCosts, estimate_plan_costs
from ensemble.planning.plan_grids import PlanGrids
from ensemble.ui.plan import controls, loader
from ensemble.ui.shared import address, guard
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import plan as words


def show_plan_comparison(run: runs.Run, maps: PlanGrids, costs: PlanCosts, choice: PlanChoice) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        first = controls.select_plan(address.PLAN, "First", maps.test, costs, choice.best)
        other = controls.select_second_run(run)
        try:
            other_maps = loader.load_plan_maps(other) if other else maps
        except EnsembleError as error:
            guard.show_error_message(error)
            return
        its_costs = estimate_plan_costs(other) if other else costs
        second = controls.select_plan(
            address.AGAINST, "Second", other_maps.test, its_costs, _find_default_comparison_plan(other_maps, first)
        )
    if other is None and first == second:
        st.caption("These are the same plan: choose another one to compare it with.")
        return
    plans = compare_plans(maps, first, second, choice.metric, other_maps if other else None)
    names = words.format_plan(first), words.format_plan(second)
    if other:
        names = names[0], f"{names[1]} of {escaping.escape_markdown(format_run_name(other))}"
    st.markdown(f"#### {words.describe_two_plans(plans, *names)}")
    parts = [f"The first is {words.describe_plan_loss(choice.metric, plans.loss)}."]
    parts.append(
        f"They cost {words.format_budget(costs, first.cost)} and {words.format_budget(its_costs, second.cost)}."
    )
    if not plans.loss.loss_sign:
        epochs = max(first.epochs, second.epochs)
        parts.append(words.describe_required_effort(plans.sample_size, costs, plans.n, plans.members, epochs))
    st.caption(" ".join(parts))


def _find_default_comparison_plan(grids: PlanGrids, first: EnsemblePlan) -> EnsemblePlan:
    """What a plan is compared with at first: the best single member for as much, or for less."""
    alone = [plan for plan in grids.test.plans if plan.members == 1 and plan != first]
    paid = [plan for plan in alone if plan.cost <= first.cost] or alone or [first]
    return rank_plans(grids.test, paid, "nll")[0]
