"""What the screens look at: an evaluated epoch whose measures every tab shares.

What is measured and drawn is kept for each version of a run's predictions, and bounded. What comes
back is shared: treat it as read-only.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ensemble import runs, shift
from ensemble.analysis.members.diversity import NllDecomposition, nll_decomposition
from ensemble.analysis.positions.member_map import MemberMap
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats
from ensemble.errors import RunError
from ensemble.figures.palette import Palette
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.shift.results import ood_scores_path
from ensemble.ui.predictions import validation_source
from ensemble.ui.predictions.validation_source import ValidationSource
from ensemble.ui.shared import loaders, theme
from ensemble.ui.train.example import recording
from ensemble.views.evaluated_epoch import MAX_SPREAD_EPOCHS, EvaluatedEpoch
from ensemble.wording.run_names import format_run_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

Result = TypeVar("Result")
MANY_PROBABILITIES = 50_000_000  # probabilities: with more a measure may take seconds


@dataclass(frozen=True, eq=False)
class SharedEpoch(EvaluatedEpoch):
    """An evaluated epoch on a page.

    Attributes:
      version: changes when the file of predictions does; measures are kept under it.
    """

    version: tuple[int, int] = (0, 0)

    @property
    def fitting(self) -> ValidationSource | None:
        """Where the predictions to fit on are; None: one half of the test images, or all."""
        return validation_source.find_validation_source(self.run, self.epoch)

    @property
    def fit(self) -> EnsemblePredictions | None:  # type: ignore[override]
        """The predictions of the images that the run holds out; None where there are none."""
        where = self.fitting
        return where.predictions if where else None

    def measure(self, function: Callable[..., Result], *arguments: Any, fitted: bool = False, wait: str = "") -> Result:
        """As `EvaluatedEpoch.measure`, kept for every tab; it says so where it takes long."""
        name = f"{function.__module__}.{function.__qualname__}"
        place = self.run.id, self.epoch, self.version
        size = self.predictions.probabilities.size
        if size > MANY_PROBABILITIES and not wait:
            wait = f"Computing with {size / 1e6:,.0f} million probabilities …"
        where = self.fitting if fitted else None
        with st.spinner(wait) if wait else contextlib.nullcontext():
            result: Result = _compute_shared_measure(
                name,
                place,
                arguments=arguments,
                where=where,
                fitted=fitted,
                _function=function,
                _predictions=self.predictions,
            )
        return result

    def decompose_loss(self, epoch: int) -> NllDecomposition | None:
        """The parts of the NLL after one epoch; None where its predictions are damaged."""
        path = self.run.path / "predictions" / f"epoch-{epoch:04d}.npz"
        return _decompose_epoch_loss(self.run.id, epoch, loaders.get_file_version(path), self.run)

    def load_probabilities(self, epoch: int) -> Floats:
        """(M, N, C), the members' own after an epoch, of the recorded example too."""
        return recording.load_member_probabilities(self.run, epoch)

    def locate_members(self) -> MemberMap:
        """As `EvaluatedEpoch.locate_members`, kept for every tab; says so where it takes long."""
        epochs = self.path_epochs
        versions = tuple(
            loaders.get_file_version(locate_epoch_file(self.run.path, "predictions", epoch)) for epoch in epochs
        )
        size = len(epochs) * self.predictions.probabilities.size
        wait = f"Computing with {size / 1e6:,.0f} million probabilities …"
        with st.spinner(wait) if size > MANY_PROBABILITIES else contextlib.nullcontext():
            return _locate_members((self.run.id, tuple(epochs), versions), self)

    def read_history(self) -> list[dict[str, Any]]:
        if recording.is_recorded_run(self.run):
            return recording.load_recorded_history()
        return loaders.load_run_history(self.run)

    def read_scores(self, key: str, tick: int) -> dict[str, NDArray[np.float32]] | None:
        """The scores of a set of images that was measured under shift; None where they are gone."""
        file_version = loaders.get_file_version(ood_scores_path(self.run.path, key))
        return _load_shift_scores(str(self.run.path), key, tick, file_version)

    def list_runs(self) -> list[runs.Run]:
        """Every run, at most two seconds old."""
        return loaders.list_cached_runs()

    def draw(self, draw: "Callable[[Palette], go.Figure]", *drawn_from: Any) -> "go.Figure":
        """A figure in the page's look, drawn once for each.

        Plotly checks each word of a figure, which takes as long as the rest of the screen.

        Args:
          drawn_from: the figure's name and all else that it follows from, small and hashable.
        """
        place = self.run.id, format_run_name(self.run), self.epoch, self.version
        figure: go.Figure = _draw_shared_figure(place, theme.get_page_palette(), drawn_from, draw)
        return figure


# The largest, figures of every example or of every committee, take half a megabyte.
@st.cache_resource(max_entries=96, show_spinner=False)
def _compute_shared_measure(
    name: str,
    place: tuple[Any, ...],
    arguments: tuple[Any, ...],
    where: ValidationSource | None,
    fitted: bool,
    _function: Callable[..., Any],
    _predictions: EnsemblePredictions,
) -> Any:
    more = ((where.predictions if where else None),) if fitted else ()
    return _function(_predictions, *arguments, *more)


# The largest, of a point for each of 1,500 images, takes some hundred kilobytes.
@st.cache_resource(max_entries=48, show_spinner=False)
def _draw_shared_figure(
    place: tuple[Any, ...], palette: Palette, drawn_from: tuple[Any, ...], _draw: Callable[[Palette], Any]
) -> Any:
    return _draw(palette)


@st.cache_resource(max_entries=20 * MAX_SPREAD_EPOCHS, show_spinner=False)
def _decompose_epoch_loss(run_id: str, epoch: int, version: tuple[int, int], _run: runs.Run) -> NllDecomposition | None:
    recorded = recording.is_recorded_run(_run)
    labels = (recording.load_recorded_test_set() if recorded else loaders.load_run_test_set(_run)).labels
    try:
        probabilities = recording.load_member_probabilities(_run, epoch)
    except RunError:
        return None
    return nll_decomposition(probabilities, labels) if probabilities.shape[1] == len(labels) else None


# 200 points take 0.4 MB.
@st.cache_resource(max_entries=12, show_spinner=False)
def _locate_members(place: tuple[Any, ...], _epoch: SharedEpoch) -> MemberMap:
    return _epoch.compute_member_map()


# 64 members on 10,000 images take 2.5 MB.
@st.cache_resource(max_entries=12, show_spinner=False)
def _load_shift_scores(
    folder: str, key: str, tick: int, version: tuple[int, int]
) -> dict[str, NDArray[np.float32]] | None:
    return shift.read_ood_scores(Path(folder), key, tick)
