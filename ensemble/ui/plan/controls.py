"""What is asked of the map, in the address: by which figure, for which budget, which two plans."""

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.plan_grid import EnsemblePlan, PlanGrid
from ensemble.planning.plan_costs import PlanCosts
from ensemble.ui.predictions.controls import hash_options
from ensemble.ui.shared import address, loaders, widget_state
from ensemble.wording.run_names import format_unique_run_name
from ensemble.wording.verdicts import plan as words

_THIS_RUN = "this run"


def _list_plan_budgets(grid: PlanGrid) -> list[int]:
    """The budgets to choose from, in passes, rising: what the plans of a map cost."""
    return sorted({plan.cost for plan in grid.plans})


def _get_requested_budget(grid: PlanGrid) -> int:
    options = _list_plan_budgets(grid)
    wanted = address.BUDGET.read_within(options[-1], options[0], options[-1])
    return max(option for option in options if option <= wanted)


def select_metric_and_budget(grid: PlanGrid, costs: PlanCosts) -> tuple[str, int]:
    """The controls for the figure and the budget; what they say: (figure, passes)."""
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        figure = address.select_address_option(address.FIGURE, "Judged by", words.METRIC_NAMES, "nll", width="content")
        options, budget = _list_plan_budgets(grid), _get_requested_budget(grid)
        if len(options) > 1:
            address.show_address_widget(
                f"plan_budget_{hash_options(options)}",
                budget,
                lambda key: widget_state.draw_widget(
                    st.select_slider,
                    "Budget",
                    options,
                    key=key,
                    width=420,
                    on_change=address.update_address,
                    args=(address.BUDGET, key, options[-1]),
                    format_func=lambda passes: words.format_budget(costs, passes),
                    help="Training, in images times members, and in seconds at the speed that this "
                    "run had. The last is what the run itself has cost.",
                ),
            )
    return figure, budget


def select_plan(
    word: address.PairParameter, label: str, grid: PlanGrid, costs: PlanCosts, default: EnsemblePlan
) -> EnsemblePlan:
    options = {address.PairParameter("").format(plan): plan for plan in grid.plans}
    usual = word.format(default)
    named = word.read()
    value = word.format(named) if named and word.format(named) in options else usual
    address.show_address_widget(
        f"plan_{word.name}_{hash_options(options)}",
        value,
        lambda key: widget_state.draw_widget(
            st.selectbox,
            label,
            list(options),
            key=key,
            width=320,
            on_change=_update_plan_address,
            args=(word, key, usual),
            format_func=lambda text: (
                f"{words.format_plan(options[text])} · {words.format_budget(costs, options[text].cost)}"
            ),
        ),
    )
    return options[value]


def _update_plan_address(word: address.PairParameter, key: str, usual: str) -> None:
    """Callback: the address follows the control of a plan."""
    text = widget_state.get_widget_value(key)
    word.set_value(None if text == usual else word.parse(text))


def select_second_run(run: runs.Run) -> runs.Run | None:
    """A control for another run on the same images, if there is any; None for this run."""
    other_runs = {
        cached_run.id: cached_run for cached_run in loaders.list_cached_runs() if _has_same_test_images(run, cached_run)
    }
    if not other_runs:
        return None
    names = {_THIS_RUN: _THIS_RUN, **{other.id: format_unique_run_name(other) for other in other_runs.values()}}
    value = address.WITH.read_option(other_runs, _THIS_RUN)
    address.show_address_widget(
        f"plan_with_{hash_options(names.values())}",
        value,
        lambda key: widget_state.draw_widget(
            st.selectbox,
            "The second is of",
            list(names),
            key=key,
            width=320,
            format_func=names.__getitem__,
            on_change=address.update_address,
            args=(address.WITH, key, _THIS_RUN),
            help="With a schedule, a run trained for fewer epochs says more about them than the "
            "middle of a longer run does.",
        ),
    )
    return other_runs.get(value)


def _has_same_test_images(run: runs.Run, other: runs.Run) -> bool:
    same = other.config.dataset == run.config.dataset
    return bool(
        same
        and other.training_config
        and other.id != run.id
        and other.status.epoch
        and other.data.fingerprint == run.data.fingerprint
    )
