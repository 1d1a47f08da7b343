"""What a network of a person's own does that harms it, though it fits: a sentence each.

It is noticed by what the network gives for a few images with its first parameters, and by what it
does to an image before anything else.
"""

import jax
import numpy as np
from jax import Array

from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC
from ensemble.engine.networks.custom import linen_calls, nnx_modules
from ensemble.engine.networks.custom.value_ranges import trace_image_range
from ensemble.engine.networks.network import Network, Params

TRIAL_IMAGES = 4
_MAX_TRIAL_FLOPS = 2e10  # of one image: a larger network is not tried, which would take long
# By which parameters are enlarged, so that numbers without bounds leave every range.
_PARAMETER_SCALES = (30.0, 1e3, 1e5)
_SUM_TOLERANCE = 1e-3
# Of the numbers that a pixel from 0 to 1 is made of first; a division by 255 leaves 0.004.
_MIN_PIXEL_SPREAD = 0.05


def list_network_advice(network: Network) -> tuple[str, ...]:
    """What harms a network of one's own, though it can be trained so; mostly nothing.

    A few images are computed, on JAX's first device.
    """
    advice = (_describe_bounded_outputs(network), _describe_shrunk_images(network), _describe_equal_members(network))
    return tuple(filter(None, advice))


def list_network_notes(network: Network) -> tuple[str, ...]:
    """What is done with a network of one's own otherwise than it says; mostly nothing."""
    return tuple(filter(None, [_describe_narrow_parameters(network), *_describe_modes(network)]))


def _describe_narrow_parameters(network: Network) -> str:
    variables = jax.eval_shape(network.init_variables, jax.random.key(0))
    leaves = jax.tree.leaves(variables.get("params", {}))
    narrow = sorted({str(leaf.dtype) for leaf in leaves if leaf.dtype.itemsize < 4})
    if not narrow:
        return ""
    return (
        f"Its parameters are {narrow[0]} and are trained and kept in float32, since a step is "
        "mostly too small for fewer digits."
    )


def _describe_modes(network: Network) -> tuple[str, str]:
    """Describe a field that is set for each pass, and an argument that may choose the pass but is not set."""
    module = network.create_module(network.classes, network.width, DEFAULT_ARITHMETIC)
    fields = " and ".join(linen_calls.list_mode_fields(type(module)))
    kept = [key for key, each in linen_calls.list_call_parameters(module).items() if isinstance(each.default, bool)]
    is_told = fields or linen_calls.build_mode_arguments(module, train=True)
    return (
        f"Its field {fields} is set for each pass, training or evaluation." if fields else "",
        f"Its __call__ takes {', '.join(kept)}, which keeps its default in training and evaluation: if it says which "
        "of the two it is, call it train."
        if kept and not is_told
        else "",
    )


def _describe_equal_members(network: Network) -> str:
    module = network.create_module(network.classes, network.width, DEFAULT_ARITHMETIC)
    if not nnx_modules.is_bridged_module(module) or not module.skip_rng:
        return ""
    return (
        "It draws its parameters from a seed of its own, so that all members start from the same ones: let it take "
        "rngs (nnx.Rngs), and make its layers with them."
    )


def _describe_bounded_outputs(network: Network) -> str:
    """What is amiss with outputs that are no logits: probabilities, or numbers within bounds."""
    if network.flops > _MAX_TRIAL_FLOPS:
        return ""
    images = np.random.default_rng(0).random((TRIAL_IMAGES, *network.image_shape), np.float32)
    first, *scaled = map(np.asarray, jax.jit(lambda x: _compute_trial_outputs(network, x))(images))
    if first.min() >= 0 and np.abs(first.sum(-1) - 1).max() < _SUM_TOLERANCE:
        return (
            "It gives probabilities, which sum to 1, and a softmax is taken of what it gives once "
            "more: it learns slowly and is never sure. Leave its softmax out."
        )
    finite = np.concatenate([each[np.isfinite(each)] for each in scaled])
    if not finite.size or not np.ptp(finite):
        return ""
    low, high = min(first.min(), finite.min()), max(first.max(), finite.max())
    if low >= -1 - _SUM_TOLERANCE and high <= 1 + _SUM_TOLERANCE:
        bounds = "0 and 1" if low >= 0 else "−1 and 1"
        return (
            f"It gives numbers between {bounds} whatever its parameters are, and a softmax is taken of them: "
            "it learns slowly and is never sure. Let a dense layer without an activation be its last."
        )
    return ""


def _describe_shrunk_images(network: Network) -> str:
    """What is amiss with a network that takes images from 0 to 255; "" of any other."""
    image_range = trace_image_range(network.trace_forward(), network.image_shape)
    if image_range is None:
        return ""
    if image_range.spread >= _MIN_PIXEL_SPREAD:
        return ""
    return (
        f"It first makes numbers from {image_range.low:.3g} to {image_range.high:.3g} of an "
        "image, as if that were from 0 to 255: images come in [0, 1]. Leave the division out."
    )


def _compute_trial_outputs(network: Network, images: Array) -> list[Array]:
    """What is given, (B, C), with first parameters, and with those enlarged more and more."""
    params = network.init(jax.random.key(0))
    trained, rest = network.split_params(params)

    def compute_scaled_outputs(scale: float) -> Array:
        large: Params = jax.tree.map(lambda parameter: parameter * scale, trained)
        return network.apply({**large, **rest}, images)

    return [network.apply(params, images), *map(compute_scaled_outputs, _PARAMETER_SCALES)]
