"""Agreement: how different the members are, what that gains, and the images that split them."""

import numpy as np

from ensemble.analysis.members.swing_votes import find_correct_minorities, find_swing_votes
from ensemble.analysis.predictions import filter_examples, sort_examples
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures.inspect import decomposition as loss_figures
from ensemble.figures.inspect import pairwise_heatmap as pair_figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.member_faults import repeat_member_faults
from ensemble.views.parts import Choice, Columns, Figure, Figures, Images, Paragraph, View
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import pairwise_measures as words
from ensemble.wording.verdicts.pairwise_measures import MEASURES, compute_pairwise_matrix

_MEASURE_CHOICE = Choice(
    "measure",
    "Measure",
    {key: measure.label for key, measure in MEASURES.items()},
    "disagreement",
    " ".join(measure.help for measure in MEASURES.values()),
)
_ORACLE_GLOSS = "Oracle accuracy: the accuracy if one always knew which member to believe."
_ANY_MEMBER = "0"  # whoever of the members it is


def build_agreement(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        how = "train" if epoch.run.training_config else "import"
        yield Paragraph(
            f"With one member there is nobody to agree or disagree with: {how} two or more to see where they differ.",
            "unavailable",
            icon=":material/person:",
        )
        return
    oracle = epoch.measure(words.describe_oracle_accuracy, epoch.noun)
    yield Paragraph(oracle, "finding", markdown=True, help=_ORACLE_GLOSS)
    yield from repeat_member_faults(epoch)
    yield Columns((1, 1), (lambda: _pairwise_view(epoch), lambda: _decomposition_view(epoch)))
    yield from _divided_images_view(epoch)


def _pairwise_view(epoch: EvaluatedEpoch) -> View:
    yield Figures(_MEASURE_CHOICE, lambda key: _build_pairwise_figure(epoch, key))


def _build_pairwise_figure(epoch: EvaluatedEpoch, key: str) -> Figure:
    measure, values = MEASURES[key], epoch.measure(compute_pairwise_matrix, key)
    title = f"{measure.title} · {epoch.source}"
    return Figure(
        label=measure.label,
        alt=f"{measure.title} of every pair of {epoch.members} members",
        explanation=measure.explain_chart(values, epoch.n, epoch.noun),
        draw=lambda palette: pair_figures.plot_pairwise_heatmap(
            measure, values, n=epoch.n, noun=epoch.noun, title=title, palette=palette
        ),
        key="inspect_pairs",
        file=key.replace("_", "-"),
        title=measure.title,
        table=lambda: pair_figures.tabulate_pairwise_values(values),
        drawn_from=(key,),
    )


def _decomposition_view(epoch: EvaluatedEpoch) -> View:
    parts = epoch.decompose_losses()
    title = f"NLL: what diversity saves · {format_run_name(epoch.run)}"
    yield Figures.single(
        Figure(
            label="",
            alt="NLL of the average member and of the ensemble over the epochs; between them, diversity",
            explanation=loss_figures.explain_decomposition_chart(parts[epoch.epoch]),
            draw=lambda palette: loss_figures.plot_loss_decomposition(parts, epoch.epoch, title, palette),
            key="inspect_decomposition",
            file="decomposition",
            title="The NLL's parts over the epochs",
            table=lambda: loss_figures.tabulate_loss_decomposition(parts),
            of_epoch=False,
            drawn_from=(*parts.items(),),
        )
    )


def _divided_images_view(epoch: EvaluatedEpoch) -> View:
    predictions, noun = epoch.predictions, epoch.noun
    split = sort_examples(predictions, filter_examples(predictions, "split"), "split")
    swung, minority = epoch.measure(find_swing_votes), epoch.measure(find_correct_minorities)
    which = yield Choice(
        "list",
        f"{noun.capitalize()}s",
        {
            "split": f"Most divided {len(split):,}",
            "swing": f"One vote decides {int(swung.any(axis=0).sum()):,}",
            "minority": f"Minority was right {len(minority):,}",
        },
        "split",
    )
    empty = f"There is no such {noun}."
    if which == "split":
        caption = (
            f"The {pluralize_noun(noun)} whose votes are most divided come first. Votes against "
            "the ensemble are underlined."
        )
        yield Images(split, "inspect_split", caption, empty=empty)
    elif which == "swing":
        voter = yield _offer_voters(epoch, swung)
        numbers, caption = _find_swing_images(epoch, swung, int(voter))
        yield Images(numbers, "inspect_swing", caption, empty=empty)
    else:
        caption = (
            f"The ensemble is wrong on these, and at least one member is right: {len(minority):,} "
            f"of its {int((~predictions.right).sum()):,} mistakes."
        )
        numbers = sort_examples(predictions, minority, "split")
        yield Images(numbers, "inspect_minority", caption, empty=empty)


def _offer_voters(epoch: EvaluatedEpoch, swung: np.ndarray) -> Choice:
    """Any member, or one, from 1: whose leaving changes the verdict."""
    counts = [int(swung.any(axis=0).sum()), *(int(verdicts.sum()) for verdicts in swung)]
    return Choice(
        "voter",
        "Whose vote decides",
        {str(m): f"{f'Member {m}' if m else 'Any member'} · {counts[m]:,}" for m in range(epoch.members + 1)},
        _ANY_MEMBER,
        form="list",
        width=220,
        key="inspect_voter",
    )


def _find_swing_images(epoch: EvaluatedEpoch, swung: np.ndarray, voter: int) -> tuple[Ints, str]:
    """The images whose verdict hangs on the voter, or on anybody; and whether for the better."""
    predictions = epoch.predictions
    numbers = np.flatnonzero(swung[voter - 1] if voter else swung.any(axis=0))
    right = int(predictions.right[numbers].sum())
    who = f"member {voter}" if voter else "one of the members"
    caption = (
        f"Without {who} the ensemble would answer {formats.format_count(len(numbers), epoch.noun)} "
        f"differently. With all members, {right:,} of them are right."
    )
    return sort_examples(predictions, numbers, "unsure"), caption
