"""The best plan for a budget, the map of all plans, and what the others lose."""

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.choice import Choice
from ensemble.errors import EnsembleError
from ensemble.figures.planning import heatmap
from ensemble.figures.planning import losses as intervals
from ensemble.planning.cautions import cautions_of
from ensemble.planning.costs import Costs, costs_of
from ensemble.planning.maps import Maps
from ensemble.planning.two_plans import half_the_cost
from ensemble.ui.plan import controls, loader, pair, worth
from ensemble.ui.shared import address, guard, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import escaping
from ensemble.wording.run_names import called
from ensemble.wording.verdicts import plan as words

DETAILS = {"losses": "What the others lose", "two": "Two plans", "cheaper": "Cheaper members"}


def show(run: runs.Run, compact: bool = False) -> None:
    """How a budget is best spent, from what the run has kept.

    Args:
      run: one that was trained here, or the reason why there is no plan is said.
      compact: without what stands below the map.
    """
    try:
        maps, costs = loader.maps(run), costs_of(run)
    except EnsembleError as error:
        guard.problem(error)
        return
    said = st.container()
    figure, budget = controls.choose(maps.test, costs)
    found = loader.choice(run, maps, budget, figure)
    assert found is not None  # the budgets are those of the plans
    with said:
        tell(run, maps, costs, found)
    picture(run, maps, costs, found)
    if not compact:
        details(run, maps, costs, found)


def tell(run: runs.Run, maps: Maps, costs: Costs, found: Choice) -> None:
    """The verdict in a line, what carries it in the next, and what to bear in mind."""
    n, whole = maps.test.n, max(one.cost for one in maps.test.plans)
    line = words.headline(found, n)
    if found.budget == whole:
        line = words.cheaper(found, half_the_cost(maps, found))
    st.markdown(f"##### {line}")
    first = words.headline(found, n) if found.budget == whole else ""
    second = words.runner_up(found, costs, n, maps.test.members)
    evidence = words.evidence(found, costs, maps.chosen_on)
    st.caption(f"{first} {evidence}".strip())
    if second:
        st.caption(second)
    notes = [words.CAUTIONS[name] for name in cautions_of(run, maps, found.best)]
    for note in (*notes, *map(escaping.markdown, maps.left_out)):
        st.caption(note)


def picture(run: runs.Run, maps: Maps, costs: Costs, found: Choice) -> None:
    """The map."""
    name = words.NAMES[found.figure]
    title = f"{name} by members and epochs · {called(run)} · test images"
    pictures.show(
        heatmap.figure(maps.test, found, costs, found.figure, title, theme.palette()),
        key="plan",
        of=run,
        name=f"{run.id}-plan-{found.figure}",
        title="The map of all plans",
        alt=heatmap.alt(maps.test, found, found.figure),
        table=lambda: heatmap.table(maps.test, found, costs),
        sees="The bluer, the better. Each cell is the mean over all committees of that size after "
        "that epoch; along a dotted line training costs the same share of the whole run.",
        help="Thick frame: the best plan that the budget (the thick line) pays for. Thin frames: "
        "with it, the plans one of which is the best (95 %). By NLL a smaller committee of "
        "the same epoch never is.",
    )


def details(run: runs.Run, maps: Maps, costs: Costs, found: Choice) -> None:
    """What the other plans lose, two plans side by side, or what cheaper members are worth."""
    options = {name: said for name, said in DETAILS.items() if found.losses or name != "losses"}
    which = address.choose(
        address.PLANS,
        "Show",
        options,
        next(iter(options)),
        width="content",
        label_visibility="collapsed",
    )
    if which == "two":
        pair.show(run, maps, costs, found)
        return
    if which == "cheaper":
        worth.show(run)
        return
    title = f"What other plans lose · {called(run)} · test images"
    pictures.show(
        intervals.figure(found, title, theme.palette()),
        key="plan_losses",
        of=run,
        name=f"{run.id}-plan-losses-{found.figure}",
        title="What other plans lose",
        alt=intervals.alt(found),
        table=lambda: heatmap.table(maps.test, found, costs),
        sees="Each plan that can be the best for the budget against this one, on the same images; "
        "right of 0 it is worse. The intervals hold all together (95 %).",
        help="They count both that other test images would be drawn and that other members would "
        f"be trained. Of many plans the {intervals.MOST} that lose least are drawn; the table "
        "has all.",
    )
