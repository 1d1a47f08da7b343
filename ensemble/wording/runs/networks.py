"""What a network takes, and which suits which images, in sentences."""

from collections.abc import Sequence

from ensemble import architectures
from ensemble.architectures import ARCHITECTURES
from ensemble.datasets import DatasetInfo
from ensemble.datasets.registry import find_dataset_entry
from ensemble.machine.network_cost import NetworkCost
from ensemble.wording import formats

HOWTO_NETWORK = "cnn"
_OWN_SOURCE = "A network of your own"
FLOPS_GLOSS = (
    "FLOPs: multiplications and additions to predict one image; training on it takes about three times as many."
)

# How many of so many members only guessed after 8 or 10 epochs of made images of colour, at the
# usual rate; at half of it none did: `python -m benchmarks.training.rates` prints it.
USUAL_RATE, HALF_RATE, USUAL_MOMENTUM = 0.1, 0.05, 0.9
GUESSING_MEMBERS = {"cnn": (3, 4), "mlp": (1, 4), "resnet_groupnorm": (3, 4)}


def format_unique_network_name(name: str, listed: Sequence[str]) -> str:
    """A network in a list: one's own by the end of its name, where no other has the same."""
    short = architectures.format_short_network_title(name)
    alike = [network for network in listed if architectures.format_short_network_title(network) == short]
    return short if len(alike) == 1 else architectures.format_network_title(name)


def describe_network_source(name: str) -> str:
    network = ARCHITECTURES.get(name)
    if network:
        return f"{network.source}."
    return f"{_OWN_SOURCE}: {name}."


def format_network_cost(cost: NetworkCost) -> str:
    """What one member takes: "824,458 parameters · 9.2 MFLOPs an image"."""
    return f"{formats.format_count(cost.parameters, 'parameter')} · {format_flops(cost.flops)} an image"


def describe_network_width(name: str, width: int) -> str:
    """How wide a network is, by its own width: "Width 64: 2 × the HOWTO's"; "" without a width.

    Args:
      width: as the setting; 0 is its own.
    """
    network = ARCHITECTURES.get(name)
    if network is None or network.width is None:
        return ""
    wide = width or network.width
    whose = "the HOWTO's" if name == HOWTO_NETWORK else f"that of {network.title}"
    return f"Width {wide:,}: {formats.format_plain_number(round(wide / network.width, 2))} × {whose}."


def format_flops(flops: float) -> str:
    """Floating-point operations: "7.8 kFLOPs", "9.2 MFLOPs", "1.2 GFLOPs"."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if flops >= size:
            return f"{formats.format_significant(flops / size, 2)} {letter}FLOPs"
    return f"{flops:.0f} FLOPs"


def format_memory(held: float) -> str:
    """Bytes to two figures: "650 MB", "1.2 GB"."""
    if held < 999.5e6:
        return f"{formats.format_significant(held / 1e6, 2)} MB"
    return f"{held / 1e9:.{0 if held >= 9.95e9 else 1}f} GB"


def describe_memory_excess(needed: float, there: float) -> str:
    return (
        f"It would take about {format_memory(needed)} of memory, more than the {format_memory(there)} here: "
        "choose fewer members, a smaller batch, or a narrower network."
    )


def recommend_network(name: str, info: DatasetInfo) -> str:
    """Which network is made for such images, where another is chosen; else ""."""
    height, width, channels = info.image_shape
    resnet = ARCHITECTURES["resnet"]
    if channels == 1 or name not in ARCHITECTURES or name.startswith(resnet.name):
        return ""
    if min(height, width) < resnet.min_image_side:
        return ""
    return f"{info.title} is in colour: {resnet.title} is made for small colour photographs."


def describe_high_rate_risk(name: str, rate: float, momentum: float, info: DatasetInfo) -> str:
    """That such a rate was too high for this network on images of colour, as measured; else ""."""
    high = rate >= USUAL_RATE and momentum >= USUAL_MOMENTUM and info.image_shape[2] == 3
    if not high or name not in GUESSING_MEMBERS:
        return ""
    guessed, members = GUESSING_MEMBERS[name]
    return (
        f"On synthetic colour images {guessed} of {members} members learnt nothing at "
        f"{USUAL_RATE}; at {HALF_RATE} all learnt: try that."
    )


def describe_flip_advice(info: DatasetInfo) -> str:
    """Whether to mirror the images of a dataset: said, never forced."""
    if find_dataset_entry(info.name).handwritten:
        return f"Leave Flip off here: a mirrored {info.noun} is another, or none."
    if info.image_shape[2] == 3:
        return f"Flip suits photographs, where a mirrored {info.noun} is still of its class."
    return f"Flip suits these only where a mirrored {info.noun} is still of its class."


def list_network_name_parts(name: str) -> list[str]:
    """What a run's name says of its network: "ResNet-20"; of the HOWTO's nothing."""
    return [] if name == HOWTO_NETWORK else [architectures.format_short_network_title(name)]
