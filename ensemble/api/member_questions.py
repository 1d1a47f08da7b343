"""A run's members asked about images that are not in its dataset, and their parameters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble import runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.api.predictions import Predictions, UnlabelledPredictions, warn_of_notes
from ensemble.errors import ConfigError, RunError
from ensemble.exchange.checks.images import convert_array_to_images
from ensemble.recognition.member_process import DEFAULT_BATCH_SIZE, MemberProcess
from ensemble.runs.parameters import list_parameter_epochs, load_run_network, read_parameters
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs.member_settings import list_run_member_names

if TYPE_CHECKING:
    from typing import Self

_MemberChoice = Sequence[int | str]


class OpenedMembers:
    """A run's members, open until the end of the `with` block; made by `Run.open_members`.

    Attributes:
      epoch: epochs that they have done.
      member_names: what they are called, M of them.
    """

    def __init__(self, run: runs.Run, epoch: int | None, members: _MemberChoice | None) -> None:
        runs.require_training_config(run)
        numbers = None if members is None else find_member_numbers(run, members)
        self._run = run
        self._process = MemberProcess(run.id, epoch, numbers)
        self.epoch = self._process.epoch
        every = list_run_member_names(run)
        self.member_names = tuple(every[number] for number in self._process.members)

    def predict(
        self, images: ArrayLike, labels: ArrayLike | None = None, *, batch_size: int = DEFAULT_BATCH_SIZE
    ) -> Predictions:
        """What they say of images; as `Run.predict`."""
        pixels = _convert_input_images(images, self._run.data.image_shape)
        probabilities = self._process.predict_probabilities(pixels, batch_size)
        data = self._run.data
        source = f"{format_run_name(self._run)} · epoch {self.epoch}"
        if labels is not None:
            return Predictions.from_arrays(
                probabilities,
                labels,
                class_names=data.class_names,
                member_names=self.member_names,
                noun=data.noun,
                source=source,
            )
        blank = np.zeros(len(pixels), np.int32)  # which `UnlabelledPredictions` gives to nobody
        return UnlabelledPredictions.from_predictions(
            evaluate_predictions(probabilities, blank), data.class_names, self.member_names, data.noun, source
        )

    def close(self) -> None:
        """End the process that asks them."""
        self._process.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _convert_input_images(images: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Images as a network of this shape takes them: uint8 (N, H, W, channels).

    What was assumed of their numbers is said once as a warning.

    Args:
      images: (N, H, W) or (N, H, W, channels), from 0 to 255, or floats from 0 to 1.
      shape: (H, W, channels) of the images that the run learnt.

    Raises:
      PredictionsError: they are no images, or of another size.
    """
    pixels, notes = convert_array_to_images(images, shape)
    warn_of_notes(notes, stacklevel=4)
    return pixels


def find_member_numbers(run: runs.Run, members: _MemberChoice) -> list[int]:
    """The numbers of members, from 0, that are named by number or by name, in that order.

    Raises:
      ConfigError: there is no such member, none is named, or one twice.
    """
    names, count = list_run_member_names(run), run.config.members
    numbers = []
    for member in members:
        number = (names.index(member) if member in names else -1) if isinstance(member, str) else int(member)
        if not 0 <= number < count:
            raise ConfigError(
                f"There is no member {member!r:.40}: name them by number, from 0 to {count - 1}, "
                "or as `member_names` does."
            )
        numbers.append(number)
    if not numbers or len(set(numbers)) < len(numbers):
        raise ConfigError("members has to name at least one member, and each once.")
    return numbers


def read_member_parameters(run: runs.Run, epoch: int, member: int | str | None) -> dict[str, Any]:
    """Parameters as a Flax tree; see `Run.parameters`."""
    if epoch not in list_parameter_epochs(run.path):
        raise RunError(
            f"The run “{run.id}” keeps no parameters of epoch {epoch} by themselves: choose one of "
            f"{', '.join(map(str, list_parameter_epochs(run.path))) or 'another run'}."
        )
    tree = read_parameters(run.id, epoch)
    if member is not None:
        (number,) = find_member_numbers(run, [member])
        remaining = run.remaining_members(epoch)
        if number not in remaining:
            raise RunError(
                f"Member {number + 1} of the run “{run.id}” had diverged by epoch {epoch}: choose "
                "another, or an earlier epoch."
            )
        tree = _take_member(tree, remaining.index(number))
    trained, rest = load_run_network(run).split_params(tree)
    return {"params": trained, **rest}


def _take_member(tree: Any, place: int) -> Any:
    """The tree of one member from that of all, leaves (M, …)."""
    if isinstance(tree, dict):
        return {name: _take_member(branch, place) for name, branch in tree.items()}
    return tree[place]
