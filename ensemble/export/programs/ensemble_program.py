"""A whole ensemble as one function of images: they are prepared, every member asked, and averaged.

Images are mapped one by one (`jax.vmap`): a network's own code sees a batch of one, whose size it
may ask for, and the number of images stays open. So no answer depends on the images beside it.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, export
from numpy.typing import NDArray

from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY
from ensemble.engine.networks.arithmetic import Arithmetic, scale_to_unit
from ensemble.engine.networks.network import Network, Params
from ensemble.errors import ConfigError
from ensemble.export.export_format import BLOCK_SIZE, EnsembleContent

IMAGES, PROBABILITIES, AVERAGE = "images", "probabilities", "average"
BATCH = "batch"  # the name of the number of images
_STOCK = Arithmetic("grouped")  # convolutions as every backend knows them
MAX_WEIGHT_BYTES = 2**31 - 2**24  # both kinds of file end at 2 GiB
_LOCATIONS_LIMIT = "jax_traceback_in_locations_limit"
PREPARATION = "uint8 from 0 to 255; (N, H, W, channels); the division by 255 is inside"

Traced = TypeVar("Traced")


def predict_member(network: Network, params: Params, images: Array) -> Array:
    """One member's probabilities (B, C) for images (B, H, W, channels) in [0, 1]."""

    def predict_image(image: Array) -> Array:
        return jax.nn.softmax(network.apply(params, image[None], _STOCK)[0])

    # Of products the factors are float32 on every backend: some would round them.
    with jax.default_matmul_precision("float32"):
        answers: Array = jax.vmap(predict_image)(images)
    return answers


def average_members(probabilities: Array, temperature: float | None) -> Array:
    """The ensemble's probabilities (B, C) of its members' (M, B, C), at a temperature if given.

    As `apply_temperature` does it, in float32.
    """
    average = probabilities.mean(axis=0)
    if temperature is None:
        return average
    return jax.nn.softmax(jnp.log(jnp.maximum(average, MIN_PROBABILITY)) / temperature)


def build_ensemble_function(
    network: Network, members: Sequence[Params], temperature: float | None
) -> Callable[[Array], dict[str, Array]]:
    """Images uint8 (B, H, W, channels) to `probabilities` (M, B, C) and their `average` (B, C)."""

    def predict(images: Array) -> dict[str, Array]:
        scaled = scale_to_unit(images)
        probabilities = jnp.stack([predict_member(network, each, scaled) for each in members])
        average = average_members(probabilities, temperature)
        return {PROBABILITIES: probabilities, AVERAGE: average}

    return predict


def nest_member_parameters(content: EnsembleContent) -> list[Params]:
    """The parameters of each member, as its network nests them."""
    return [
        content.network.nest_arrays({name: array[m] for name, array in content.arrays.items()})
        for m in range(content.members)
    ]


def describe_images(network: Network) -> jax.ShapeDtypeStruct:
    """Images as they go in, of a number that is left open."""
    (batch,) = export.symbolic_shape(BATCH)
    return jax.ShapeDtypeStruct((batch, *network.image_shape), jnp.uint8)


def trace_for_export(network: Network, members: Sequence[Params], trace: Callable[[], Traced]) -> Traced:
    """What `trace` makes; of a person's own network whatever it raises is said as a `ConfigError`.

    What is traced says nothing of where its source lies.

    Raises:
      ConfigError: the members are too large for one file, or the network cannot be traced.
    """
    size = sum(array.nbytes for array in jax.tree.leaves(list(members)))
    if size > MAX_WEIGHT_BYTES:
        raise ConfigError(
            f"These members take {size / 2**30:.1f} GiB, and such a file holds 2: take their "
            "weights with --format safetensors."
        )
    before = jax.config.values[_LOCATIONS_LIMIT]
    jax.config.update(_LOCATIONS_LIMIT, 0)
    try:
        return trace()
    except ConfigError:
        raise
    except Exception as error:  # a person's own code raises what it likes
        if not network.is_custom:
            raise
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ConfigError(
            f"The network {network.name} cannot be traced for other programs ({reason}): "
            "take its weights with --format safetensors."
        ) from error
    finally:
        jax.config.update(_LOCATIONS_LIMIT, before)


def describe_program(content: EnsembleContent) -> dict[str, str]:
    """All that stands beside a program, every value a text: what is none is JSON."""
    temperature = "null" if content.temperature is None else repr(content.temperature)
    return {**content.describe_as_text(), "preparation": PREPARATION, "temperature": temperature}


def ask_in_blocks(
    content: EnsembleContent, predict: Callable[[NDArray[np.uint8]], tuple[NDArray[np.float32], NDArray[np.float32]]]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What a program makes of the test images: every member's (M, N, C), and the average (N, C)."""
    images = content.images
    answers = []
    for first in range(0, len(images), BLOCK_SIZE):
        block = images[first : first + BLOCK_SIZE]
        # The last block is as large as the others: one compiled program for all.
        room = min(BLOCK_SIZE, len(images))
        padded = np.zeros((room, *images.shape[1:]), np.uint8)
        padded[: len(block)] = block
        probabilities, average = predict(padded)
        answers.append((probabilities[:, : len(block)], average[: len(block)]))
    each, averages = zip(*answers, strict=True)
    return np.concatenate(each, axis=1), np.concatenate(averages)
