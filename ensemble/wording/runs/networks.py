"""What a network takes, and which suits which images, in sentences."""

from collections.abc import Sequence

from ensemble import architectures
from ensemble.architectures import ARCHITECTURES
from ensemble.datasets import DatasetInfo
from ensemble.datasets.registry import find
from ensemble.machine.network_cost import Cost
from ensemble.wording import formats

HOWTO = "cnn"
OWN_SOURCE = "A network of your own"
GLOSS = (
    "FLOPs: multiplications and additions that one image takes to be answered; to learn from it "
    "takes about three times as many."
)

# How many of so many members only guessed after 8 or 10 epochs of made images of colour, at the
# usual rate; at half of it none did: `python -m benchmarks.training.rates` prints it.
USUAL_RATE, HALF, MOMENTUM = 0.1, 0.05, 0.9
GUESSED = {"cnn": (3, 4), "mlp": (1, 4), "resnet_groupnorm": (3, 4)}


def told_apart(name: str, listed: Sequence[str]) -> str:
    """A network in a list: one's own by the end of its name, where no other has the same."""
    short = architectures.short_title(name)
    alike = [one for one in listed if architectures.short_title(one) == short]
    return short if len(alike) == 1 else architectures.title(name)


def source(name: str) -> str:
    """Where a network comes from, in a line."""
    known = ARCHITECTURES.get(name)
    if known:
        return f"{known.source}."
    return f"{OWN_SOURCE}: {name}."


def takes(cost: Cost) -> str:
    """What one member takes: "824,458 parameters · 9.2 MFLOPs an image"."""
    return f"{formats.count(cost.parameters, 'parameter')} · {operations(cost.flops)} an image"


def how_wide(name: str, width: int) -> str:
    """How wide a network is, by its own width: "Width 64: 2 × the HOWTO's"; "" without a width.

    Args:
      name: its word in settings.
      width: as the setting; 0 is its own.
    """
    known = ARCHITECTURES.get(name)
    if known is None or known.width is None:
        return ""
    wide = width or known.width
    whose = "the HOWTO's" if name == HOWTO else f"that of {known.title}"
    return f"Width {wide:,}: {formats.plain(round(wide / known.width, 2))} × {whose}."


def operations(flops: float) -> str:
    """Floating-point operations: "7.8 kFLOPs", "9.2 MFLOPs", "1.2 GFLOPs"."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if flops >= size:
            return f"{formats.significant(flops / size, 2)} {letter}FLOPs"
    return f"{flops:.0f} FLOPs"


def memory(held: float) -> str:
    """Bytes to two figures: "650 MB", "1.2 GB"."""
    if held < 999.5e6:
        return f"{formats.significant(held / 1e6, 2)} MB"
    return f"{held / 1e9:.{0 if held >= 9.95e9 else 1}f} GB"


def too_much_memory(needed: float, there: float) -> str:
    """A run that this machine cannot hold, and what to do."""
    return (
        f"It would take about {memory(needed)} of memory, more than the {memory(there)} here: "
        "choose fewer members, a smaller batch, or a narrower network."
    )


def advice(name: str, info: DatasetInfo) -> str:
    """Which network is made for such images, where another is chosen; else ""."""
    height, width, channels = info.image_shape
    resnet = ARCHITECTURES["resnet"]
    if channels == 1 or name not in ARCHITECTURES or name.startswith(resnet.name):
        return ""
    if min(height, width) < resnet.smallest:
        return ""
    return f"{info.title} is in colour: {resnet.title} is made for small colour photographs."


def rate_doubt(name: str, rate: float, momentum: float, info: DatasetInfo) -> str:
    """That such a rate was too high for this network on images of colour, as measured; else ""."""
    high = rate >= USUAL_RATE and momentum >= MOMENTUM and info.image_shape[2] == 3
    if not high or name not in GUESSED:
        return ""
    guessed, members = GUESSED[name]
    return (
        f"On made images of colour {guessed} of {members} members learnt nothing at {USUAL_RATE}; "
        f"at {HALF} all learnt: try that."
    )


def flip(info: DatasetInfo) -> str:
    """Whether to mirror the images of a dataset: said, never forced."""
    if find(info.name).handwritten:
        return f"Leave Flip off here: a mirrored {info.noun} is another, or none."
    if info.image_shape[2] == 3:
        return f"Flip suits photographs: where a mirrored {info.noun} is one of its class still."
    return f"Flip suits these only where a mirrored {info.noun} is one of its class still."


def in_a_name(name: str) -> list[str]:
    """What a run's name says of its network: "ResNet-20"; of the HOWTO's nothing."""
    return [] if name == HOWTO else [architectures.short_title(name)]
