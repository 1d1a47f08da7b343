"""Two plans against each other: three members for five epochs, or one for fifteen?"""

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.choice import Choice, ranked
from ensemble.analysis.planning.grid import Plan
from ensemble.errors import EnsembleError
from ensemble.planning.costs import Costs, costs_of
from ensemble.planning.maps import Maps
from ensemble.planning.two_plans import compare
from ensemble.ui.plan import controls, loader
from ensemble.ui.shared import address, guard
from ensemble.wording import escaping
from ensemble.wording.run_names import called
from ensemble.wording.verdicts import plan as words


def show(run: runs.Run, maps: Maps, costs: Costs, choice: Choice) -> None:
    """The controls for both plans, which of them does better, and by how much."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        first = controls.choose_plan(address.PLAN, "First", maps.test, costs, choice.best)
        other = controls.choose_other(run)
        try:
            theirs = loader.maps(other) if other else maps
        except EnsembleError as error:
            guard.problem(error)
            return
        its_costs = costs_of(other) if other else costs
        second = controls.choose_plan(
            address.AGAINST, "Second", theirs.test, its_costs, usual(theirs, first)
        )
    if other is None and first == second:
        st.caption("These are one plan: choose another one to compare it with.")
        return
    found = compare(maps, first, second, choice.figure, theirs if other else None)
    names = words.called(first), words.called(second)
    if other:
        names = names[0], f"{names[1]} of {escaping.markdown(called(other))}"
    st.markdown(f"##### {words.two_plans(found, *names)}")
    said = [f"The first is {words.compared(choice.figure, found.loss)}."]
    said.append(
        f"They cost {words.budget(costs, first.cost)} and {words.budget(its_costs, second.cost)}."
    )
    if not found.loss.shown:
        epochs = max(first.epochs, second.epochs)
        said.append(words.to_be_sure(found.sure, costs, found.n, found.members, epochs))
    st.caption(" ".join(said))


def usual(theirs: Maps, first: Plan) -> Plan:
    """What a plan is compared with at first: the best single member for as much, or for less."""
    alone = [one for one in theirs.test.plans if one.members == 1 and one != first]
    paid = [one for one in alone if one.cost <= first.cost] or alone or [first]
    return ranked(theirs.test, paid, "nll")[0]
