"""Members: where those of several runs stand on one map."""

from collections.abc import Sequence

from ensemble import runs
from ensemble.comparison.run_member_map import build_run_member_map
from ensemble.ui.compare import comparison_cache
from ensemble.ui.render import render_view
from ensemble.views.side_by_side import run_members_view


def show_compared_members(every: Sequence[runs.Run]) -> None:
    """Whether runs stand apart, the map, and a row a run; built once for each state of the runs."""
    found = comparison_cache.compute_shared_comparison(
        "members",
        comparison_cache.compute_runs_fingerprint(every),
        (),
        lambda: build_run_member_map(every),
    )
    render_view(run_members_view(found))
