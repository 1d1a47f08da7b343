"""Members: several runs' on one map, and what two of them answer differently."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import sort_examples
from ensemble.comparison.run_member_map import RunMemberMap, build_run_member_map
from ensemble.ui.compare import comparison_cache
from ensemble.ui.inspect import images
from ensemble.ui.render import read_view_choice, render_view
from ensemble.ui.train.run_verdict import load_reported_epoch
from ensemble.views import side_by_side as words
from ensemble.views.side_by_side import offer_run_pairs, read_run_pair, run_members_view
from ensemble.wording import escaping
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.member_map import Pair


def show_compared_members(every: Sequence[runs.Run]) -> None:
    """Whether runs stand apart, the map, and a row a run; built once for each state of the runs."""
    found = comparison_cache.compute_shared_comparison(
        "members", comparison_cache.compute_runs_fingerprint(every), (), lambda: build_run_member_map(every)
    )
    if len(found.runs) < 2:
        return render_view(run_members_view(found))
    pair = read_run_pair(found, read_view_choice(offer_run_pairs(found)))
    render_view(run_members_view(found, pair))
    _show_differing_images(found, pair)


def _show_differing_images(found: RunMemberMap, pair: Pair) -> None:
    st.markdown(f"**{words.DIFFERING_TITLE}**")
    st.caption(escaping.escape_markdown(words.describe_run_pair(found, pair)))
    st.caption(f"Press a member, and another, to see the {pluralize_noun(found.noun)} that they answer differently.")
    first, second = sorted(pair)
    differ = np.flatnonzero(found.votes[first] != found.votes[second])
    epoch = load_reported_epoch(found.runs[int(found.owner[first])])
    if epoch is None or not len(differ):
        return
    names = epoch.class_names
    images.show_image_page(
        epoch,
        sort_examples(epoch.predictions, differ, "split"),
        key="compare_pair_images",
        under=lambda number: [
            f"first {names[int(found.votes[first, number])]}",
            f"second {names[int(found.votes[second, number])]}",
        ],
    )
    images.show_open_image(epoch)
