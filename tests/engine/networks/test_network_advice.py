"""What an own network does that harms it is noticed by what it gives, and by nothing else."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
import pytest

from ensemble import architectures
from ensemble.engine.networks.custom.network_advice import list_network_advice, list_network_notes
from ensemble.engine.networks.network import Network
from ensemble.engine.networks.registry import bind_network

SHAPE, CLASSES = (8, 8, 2), 4


class Ended(nn.Module):
    """A dense layer, and what comes before and after it."""

    before: object = None
    after: object = None

    @nn.compact
    def __call__(self, x):
        x = self.before(x) if self.before else x
        x = nn.Dense(CLASSES)(x.reshape(len(x), -1))
        return self.after(x) if self.after else x


def divide(x):
    return x.astype(jnp.float32) / 255.0


def center(x):
    return (x.reshape(len(x), -1) - 127.5) / 127.5


def standardize_bytes(x):
    return (x - jnp.array([33.0, 40.0])) / np.array([78.0, 80.0], np.float32)


def standardize(x):
    return (x - jnp.array([0.13, 0.2])) / np.array([0.3, 0.3], np.float32)


def normalize_sums(x):
    x = jnp.exp(x)
    return x / x.sum(-1, keepdims=True)


ends_in_softmax = Ended(after=nn.softmax)
ends_in_sums = Ended(after=normalize_sums)
ends_in_sigmoid = Ended(after=nn.sigmoid)
ends_in_tanh = Ended(after=nn.tanh)
divides = Ended(before=divide)
centers = Ended(before=center)
standardizes_bytes = Ended(before=standardize_bytes)
narrow = nn.Sequential([lambda x: x.reshape(len(x), -1), nn.Dense(CLASSES, param_dtype="bfloat16")])
divides_and_ends = Ended(before=divide, after=nn.softmax)

plain = Ended()
standardizes = Ended(before=standardize)
ends_in_log_softmax = Ended(after=nn.log_softmax)
ends_in_relu = Ended(after=nn.relu)
zero_head = nn.Sequential([lambda x: x.reshape(len(x), -1), nn.Dense(CLASSES, kernel_init=nn.initializers.zeros)])


def bind(monkeypatch: pytest.MonkeyPatch, factory: str) -> Network:
    name = f"{__name__}:{factory}"
    monkeypatch.setenv(architectures.NETWORKS_VARIABLE, name)
    return bind_network(name, SHAPE, CLASSES)


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        ("ends_in_softmax", ["gives probabilities, which sum to 1"]),
        ("ends_in_sums", ["gives probabilities, which sum to 1"]),
        ("ends_in_sigmoid", ["gives numbers between 0 and 1 whatever"]),
        ("ends_in_tanh", ["gives numbers between −1 and 1 whatever"]),
        ("divides", ["makes numbers from 0 to 0.00392 of an image"]),
        ("centers", ["makes numbers from -1 to -0.992 of an image"]),
        ("standardizes_bytes", ["of an image, as if that were from 0 to 255"]),
        ("divides_and_ends", ["gives probabilities", "makes numbers from 0 to 0.00392"]),
    ],
)
def test_what_harms_is_said(factory: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    advice = list_network_advice(bind(monkeypatch, factory))
    assert len(advice) == len(expected)
    for sentence, words in zip(advice, expected, strict=True):
        assert words in sentence


@pytest.mark.parametrize("factory", ["plain", "standardizes", "ends_in_log_softmax", "ends_in_relu", "zero_head"])
def test_what_does_not_harm_is_not(factory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = bind(monkeypatch, factory)
    assert list_network_advice(network) == list_network_notes(network) == ()


def test_parameters_that_are_kept_in_another_type_are_a_note_and_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    network = bind(monkeypatch, "narrow")
    (note,) = list_network_notes(network)
    assert note.startswith("Its parameters are bfloat16 and are trained and kept in float32")
    assert list_network_advice(network) == ()
