"""The best plan for a budget, the map of all plans, and what the others lose."""

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.plan_choice import PlanChoice
from ensemble.errors import EnsembleError
from ensemble.figures.planning import plan_heatmap
from ensemble.figures.planning import plan_losses as intervals
from ensemble.planning.plan_cautions import list_plan_cautions
from ensemble.planning.plan_comparison import compute_half_budget_loss
from ensemble.planning.plan_costs import PlanCosts, estimate_plan_costs
from ensemble.planning.plan_grids import PlanGrids
from ensemble.ui.plan import cheaper_members, controls, loader, plan_comparison
from ensemble.ui.shared import address, guard, loaders, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import plan as words
from ensemble.wording.verdicts.ensemble_gain import describe_image_dependence

DETAIL_LABELS = {"losses": "What the others lose", "two": "Two plans", "cheaper": "Cheaper members"}


def show_plan_panel(run: runs.Run, compact: bool = False) -> None:
    try:
        maps, costs = loader.load_plan_maps(run), estimate_plan_costs(run)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    verdict_box = st.container()
    figure, budget = controls.select_metric_and_budget(maps.test, costs)
    best_plan = loader.load_best_plan(run, maps, budget, figure)
    assert best_plan is not None  # the budgets are those of the plans
    with verdict_box:
        _show_plan_verdict(run, maps, costs, best_plan)
    _show_plan_heatmap(run, maps, costs, best_plan)
    if not compact:
        _show_plan_details(run, maps, costs, best_plan)


def _show_plan_verdict(run: runs.Run, maps: PlanGrids, costs: PlanCosts, choice: PlanChoice) -> None:
    n, whole = maps.test.n, max(plan.cost for plan in maps.test.plans)
    line = words.describe_best_plan(choice, n)
    if choice.budget == whole:
        line = words.describe_half_budget(choice, compute_half_budget_loss(maps, choice))
    st.markdown(f"#### {line}")
    first = words.describe_best_plan(choice, n) if choice.budget == whole else ""
    second = words.describe_runner_up(choice, costs, n, maps.test.members)
    evidence = words.describe_plan_evidence(choice, costs, maps.selection_split)
    st.caption(f"{first} {evidence}".strip())
    if second:
        st.caption(second)
    notes = [words.CAUTIONS[name] for name in list_plan_cautions(run, maps, choice.best)]
    found = loaders.load_run_test_set(run).test_groups
    if found.groups is not None:
        sentence = describe_image_dependence(found.named, found.copies, n, run.data.noun)
        notes.append(escaping.escape_markdown(sentence))
    for note in (*notes, *map(escaping.escape_markdown, maps.left_out)):
        st.caption(note)


def _show_plan_heatmap(run: runs.Run, maps: PlanGrids, costs: PlanCosts, choice: PlanChoice) -> None:
    name = words.METRIC_NAMES[choice.metric]
    title = f"{name} by members and epochs · {format_run_name(run)} · test images"
    pictures.show_figure_panel(
        plan_heatmap.plot_plan_heatmap(
            maps.test, choice, costs=costs, name=choice.metric, title=title, palette=theme.get_page_palette()
        ),
        key="plan",
        job=run,
        name=f"{run.id}-plan-{choice.metric}",
        title="The map of all plans",
        alt=plan_heatmap.describe_plan_heatmap_chart(maps.test, choice, choice.metric),
        table=lambda: plan_heatmap.tabulate_plans(maps.test, choice, costs),
        sees="The bluer, the better. Each cell is the mean over all committees of that size after "
        "that epoch; along a dotted line training costs the same share of the whole run.",
        help="Thick frame: the best plan that the budget (the thick line) pays for. Thin frames: with it, "
        "the plans one of which is the best (95 %). By NLL a smaller committee of the same epoch never is.",
    )


def _show_plan_details(run: runs.Run, maps: PlanGrids, costs: PlanCosts, choice: PlanChoice) -> None:
    options = {name: label for name, label in DETAIL_LABELS.items() if choice.losses or name != "losses"}
    which = address.select_address_option(
        address.PLANS, "Show", options, next(iter(options)), width="content", label_visibility="collapsed"
    )
    if which == "two":
        plan_comparison.show_plan_comparison(run, maps, costs, choice)
        return
    if which == "cheaper":
        cheaper_members.show_cheaper_members(run)
        return
    title = f"What other plans lose · {format_run_name(run)} · test images"
    pictures.show_figure_panel(
        intervals.plot_plan_losses(choice, title, theme.get_page_palette()),
        key="plan_losses",
        job=run,
        name=f"{run.id}-plan-losses-{choice.metric}",
        title="What other plans lose",
        alt=intervals.describe_plan_losses_chart(choice),
        table=lambda: plan_heatmap.tabulate_plans(maps.test, choice, costs),
        sees="Each plan that can be the best for the budget against this one, on the same images; "
        "right of 0 it is worse. The intervals hold all together (95 %).",
        help="They count both that other test images would be drawn and that other members would be trained. "
        f"Of many plans the {intervals.MAX_PLANS} that lose least are drawn; the table has all.",
    )
