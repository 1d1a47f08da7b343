"""What is asked of the map, in the address: by which figure, for which budget, which two plans."""

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.grid import Grid, Plan
from ensemble.planning.costs import Costs
from ensemble.ui.predictions.controls import stamp
from ensemble.ui.shared import address, loaders, widget
from ensemble.wording.run_names import told_apart
from ensemble.wording.verdicts import plan as words

THIS = "this run"


def budgets(found: Grid) -> list[int]:
    """The budgets to choose from, in passes, rising: what the plans of a map cost."""
    return sorted({plan.cost for plan in found.plans})


def asked_budget(found: Grid) -> int:
    """The budget that the address names, or the largest below it that pays for a plan."""
    options = budgets(found)
    wanted = address.BUDGET.within(options[-1], options[0], options[-1])
    return max(one for one in options if one <= wanted)


def choose(found: Grid, costs: Costs) -> tuple[str, int]:
    """The controls for the figure and the budget; what they say: (figure, passes)."""
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        figure = address.choose(address.FIGURE, "Judged by", words.NAMES, "nll", width="content")
        options, budget = budgets(found), asked_budget(found)
        if len(options) > 1:
            address.bound(
                f"plan_budget_{stamp(options)}",
                budget,
                lambda key: st.select_slider(
                    "You may spend",
                    options,
                    key=key,
                    width=420,
                    on_change=address.follow,
                    args=(address.BUDGET, key, options[-1]),
                    format_func=lambda passes: words.budget(costs, passes),
                    help="Training, in images times members, and in seconds at the speed that this "
                    "run had. The last is what the run itself has cost.",
                ),
            )
    return figure, budget


def choose_plan(word: address.Pair, label: str, found: Grid, costs: Costs, default: Plan) -> Plan:
    """A control for one of the map's plans, whose choice stands in the address."""
    options = {address.Pair("").text(plan): plan for plan in found.plans}
    usual = word.text(default)
    named = word.read()
    value = word.text(named) if named and word.text(named) in options else usual
    address.bound(
        f"plan_{word.name}_{stamp(options)}",
        value,
        lambda key: st.selectbox(
            label,
            list(options),
            key=key,
            width=320,
            on_change=follow,
            args=(word, key, usual),
            format_func=lambda text: (
                f"{words.called(options[text])} · {words.budget(costs, options[text].cost)}"
            ),
        ),
    )
    return options[value]


def follow(word: address.Pair, key: str, usual: str) -> None:
    """Callback: the address follows the control of a plan."""
    text = widget.value(key)
    word.put(None if text == usual else word.parse(text))


def choose_other(run: runs.Run) -> runs.Run | None:
    """A control for another run on the same images, if there is any; None for this run."""
    others = {one.id: one for one in loaders.all_runs() if same_images(run, one)}
    if not others:
        return None
    names = {THIS: THIS, **{one.id: told_apart(one) for one in others.values()}}
    value = address.WITH.among(others, THIS)
    address.bound(
        f"plan_with_{stamp(names.values())}",
        value,
        lambda key: st.selectbox(
            "The second is of",
            list(names),
            key=key,
            width=320,
            format_func=names.__getitem__,
            on_change=address.follow,
            args=(address.WITH, key, THIS),
            help="A run that was trained for fewer epochs, with a schedule of its own, tells more "
            "of "
            "them than the middle of a longer one.",
        ),
    )
    return others.get(value)


def same_images(run: runs.Run, other: runs.Run) -> bool:
    """Whether another run that was trained here was tested on the same images."""
    same = other.config.dataset == run.config.dataset
    return bool(
        same
        and other.trained
        and other.id != run.id
        and other.status.epoch
        and other.data.fingerprint == run.data.fingerprint
    )
