"""Where members stand: a map of their answers, their way there, and diversity against accuracy."""

from ensemble.analysis.positions.diversity_plane import PairDiversity, compare_pair_diversity
from ensemble.analysis.positions.member_groups import MemberGroups, find_member_groups
from ensemble.analysis.positions.member_map import MemberMap
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.figures.inspect import member_map as figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.examples.member_pair import (
    choose_pressed_pair,
    format_pair_word,
    list_differing_images,
    offer_pairs,
    parse_pair_word,
    select_farthest_pair,
)
from ensemble.views.member_faults import repeat_member_faults
from ensemble.views.parts import Choice, Columns, DeferredChoice, Figure, Figures, Paragraph, Table, View
from ensemble.wording import member_map as words
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.member_map import Pair

_FIGURE_LABELS = {"path": "Paths", "ends": "Epoch {epoch}", "plane": "Diversity"}
_SINGLE_EPOCH_LABELS = {"ends": "Map", "plane": "Diversity"}


def build_member_map(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph(
            "One member has no other to stand near or far from: with two or more there is a map.",
            "unavailable",
            icon=":material/person:",
        )
        return
    found = epoch.locate_members()
    groups = epoch.measure(_find_groups)
    figure_choice = _offer_figures(found)
    name = yield DeferredChoice(figure_choice)
    pair_choice = offer_pairs(epoch, found, None)
    pair = parse_pair_word((yield DeferredChoice(pair_choice)), epoch.members)
    pair = pair or select_farthest_pair(found)
    yield Paragraph(words.describe_member_map(found, groups, epoch.n, epoch.noun), "answer")
    if name != "plane":
        scaling = found.path if name == "path" else found.ends
        yield Paragraph(words.describe_stress(scaling), "evidence")
    diversity = epoch.measure(_compare_diversity)
    for line in words.list_map_evidence(found, groups, diversity, epoch.n, epoch.noun):
        yield Paragraph(line, "evidence")
    yield from repeat_member_faults(epoch)

    def map_view() -> View:
        yield Figures(figure_choice, lambda word: _build_map_figure(epoch, found, word, pair, pair_choice))
        yield Paragraph(
            f"Press a member, and another, to see the {pluralize_noun(epoch.noun)} that they answer differently.",
            "hint",
        )

    def pair_view() -> View:
        yield offer_pairs(epoch, found, pair)
        yield list_differing_images(epoch, pair)

    yield Columns((3, 2), (map_view, pair_view))
    yield Table(
        "Where each member stands",
        words.tabulate_members(found, groups, epoch.n, epoch.noun),
        folded=True,
        note=words.SOURCE_NOTE.format(images=pluralize_noun(epoch.noun)),
        key="inspect_member_map_table",
        numbers=lambda: words.tabulate_pairs(found),
        file="member-pairs",
    )


def _find_groups(predictions: EnsemblePredictions) -> MemberGroups | None:
    return find_member_groups(predictions.votes, predictions.labels, predictions.groups)


def _compare_diversity(predictions: EnsemblePredictions) -> PairDiversity:
    classes = predictions.probabilities.shape[-1]
    return compare_pair_diversity(predictions.votes, predictions.labels, classes)


def _offer_figures(found: MemberMap) -> Choice:
    """The pictures there are: the way there only where it has more than one epoch."""
    labels = _FIGURE_LABELS if len(found.epochs) > 1 else _SINGLE_EPOCH_LABELS
    values = {word: label.format(epoch=found.epochs[-1]) for word, label in labels.items()}
    return Choice("figure", "Figure", values, next(iter(values)))


def _build_map_figure(epoch: EvaluatedEpoch, found: MemberMap, name: str, pair: Pair, pair_choice: Choice) -> Figure:
    word = format_pair_word(pair)
    if name == "plane":
        title = f"Diversity and accuracy · {epoch.source}"
        shown = int((found.accuracy < 1).sum())
        explanation = words.explain_diversity_plane(found, pair.second, shown, epoch.noun)
    else:
        title = f"Where members stand · {epoch.source}"
        explanation = words.explain_member_map(found, name, epoch.noun)
    return Figure(
        label=_offer_figures(found).values[name],
        alt=words.describe_map_alt(found, name),
        explanation=explanation,
        draw=lambda palette: (
            figures.plot_diversity_plane(
                found, pair, classes=len(epoch.class_names), n=epoch.n, noun=epoch.noun, title=title, palette=palette
            )
            if name == "plane"
            else figures.plot_member_map(
                found, name, pair=pair, n=epoch.n, noun=epoch.noun, title=title, palette=palette
            )
        ),
        key="inspect_member_map",
        file="member-map" if name == "path" else f"member-map-{name}",
        title="Diversity and accuracy" if name == "plane" else "Where members stand",
        table=lambda: (
            figures.tabulate_diversity_plane(found, pair.second)
            if name == "plane"
            else figures.tabulate_member_map(found, name)
        ),
        drawn_from=(name, word, found.epochs),
        point_choice=pair_choice,
        format_point_word=lambda data: format_pair_word(choose_pressed_pair(pair, int(data[0]))),
    )
