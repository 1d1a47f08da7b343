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


def show_plan_comparison(
    run: runs.Run, maps: PlanGrids, costs: PlanCosts, choice: PlanChoice
) -> None:
    """The controls for both plans, which of them does better, and by how much."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        first = controls.select_plan(address.PLAN, "First", maps.test, costs, choice.best)
        other = controls.select_second_run(run)
        try:
            theirs = loader.load_plan_maps(other) if other else maps
        except EnsembleError as error:
            guard.show_error_message(error)
            return
        its_costs = estimate_plan_costs(other) if other else costs
        second = controls.select_plan(
            address.AGAINST,
            "Second",
            theirs.test,
            its_costs,
            find_default_comparison_plan(theirs, first),
        )
    if other is None and first == second:
        st.caption("These are the same plan: choose another one to compare it with.")
        return
    found = compare_plans(maps, first, second, choice.metric, theirs if other else None)
    names = words.format_plan(first), words.format_plan(second)
    if other:
        names = names[0], f"{names[1]} of {escaping.escape_markdown(format_run_name(other))}"
    st.markdown(f"##### {words.describe_two_plans(found, *names)}")
    said = [f"The first is {words.describe_plan_loss(choice.metric, found.loss)}."]
    said.append(
        f"They cost {words.format_budget(costs, first.cost)} and "
        f"{words.format_budget(its_costs, second.cost)}."
    )
    if not found.loss.loss_sign:
        epochs = max(first.epochs, second.epochs)
        said.append(
            words.describe_required_effort(found.sample_size, costs, found.n, found.members, epochs)
        )
    st.caption(" ".join(said))


def find_default_comparison_plan(theirs: PlanGrids, first: EnsemblePlan) -> EnsemblePlan:
    """What a plan is compared with at first: the best single member for as much, or for less."""
    alone = [one for one in theirs.test.plans if one.members == 1 and one != first]
    paid = [one for one in alone if one.cost <= first.cost] or alone or [first]
    return rank_plans(theirs.test, paid, "nll")[0]
