"""The command that looks at a network, and naming one's own to train."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ensemble import architectures
from ensemble.cli.program import main
from tests.conftest import REPO

MODULE = """
from flax import linen as nn

print("loud")


class Leaves(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.BatchNorm(use_running_average=not train)(x.reshape(len(x), -1))
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(self.classes)(x)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(architectures.NETWORKS_VARIABLE, "")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    Path("looked_at.py").write_text(MODULE)
    Path("quits.py").write_text("raise SystemExit(3)")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_it_says_layers_parameters_operations_collections_and_dropout() -> None:
    found = json.loads(call("network", "looked_at:Leaves", "--json").stdout)
    shapes = {one["path"]: one["shape"] for one in found["layers"]}
    assert shapes == {
        "BatchNorm_0/bias": [784],
        "BatchNorm_0/scale": [784],
        "Dense_0/bias": [10],
        "Dense_0/kernel": [784, 10],
        "batch_stats/BatchNorm_0/mean": [784],
        "batch_stats/BatchNorm_0/var": [784],
    }
    assert (found["parameters"], found["flops"]) == (2 * 784 + 7850, 2 * 7840)
    assert (found["collections"], found["carried"]) == (["batch_stats"], 2 * 784)
    assert (found["dropout"], found["bfloat16"]) == (True, False)


def test_for_people_it_is_a_line_an_array_and_what_it_comes_to() -> None:
    said = call("network", "logistic").stdout.splitlines()
    assert said[0] == "Logistic regression on Digits: images 28×28×1 to logits (B, 10)"
    assert said[2].split() == ["Dense_0/kernel", "784×10", "7,840"]
    assert said[3:] == ["7,850 parameters, 15,680 FLOPs an image"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("quits:Leaves", "cannot be imported: SystemExit: 3 (quits.py, line 1)"),
        ("nowhere:Leaves", "cannot be imported: ModuleNotFoundError"),
        ("transformer", "it has to be one of cnn, logistic"),
    ],
)
def test_one_that_cannot_be_had_is_one_sentence_also_as_json(name: str, why: str) -> None:
    found = call("network", name, "--json")
    assert found.exit_code == 2
    assert why in json.loads(found.stdout)["error"]
    assert found.stderr.count("\n") == 1


def test_naming_a_network_to_train_is_to_allow_it() -> None:
    refused = call("train", "--network", "looked_at:Leaves", "--width", "3")
    assert "looked_at:Leaves has no width to set" in refused.stderr, "it got as far as that"
    assert os.environ[architectures.NETWORKS_VARIABLE] == "looked_at:Leaves"
    architectures.check_network_allowed("looked_at:Leaves")


WRONG = """
import flax.linen as nn


class Wrong(nn.Module):
    hidden: int
    num_classes: int = 10

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.num_classes)(nn.Dense(self.hidden)(x.reshape(len(x), -1)))


class Soft(nn.Module):
    num_classes: int

    @nn.compact
    def __call__(self, x):
        return nn.softmax(nn.Dense(self.num_classes)(x.reshape(len(x), -1) / 255))
"""


@pytest.mark.long_cases
@pytest.mark.parametrize(
    "words", [("train",), ("sweep", "--trials", "1", "--space", "momentum=0..0.9")], ids=["train", "sweep"]
)
def test_a_network_that_does_not_fit_is_refused_before_anything_is_made(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", "runs")
    Path("amiss.py").write_text(WRONG)
    refused = call(*words, "--network", "amiss:Wrong", "--epochs", "1")
    assert refused.exit_code == 2
    assert "amiss:Wrong needs hidden: give every argument" in refused.stderr
    assert not list(Path().glob("runs/*"))


@pytest.mark.long
def test_what_harms_a_network_is_said_before_it_is_trained_and_named_at_chance_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", "runs")
    Path("amiss.py").write_text(WRONG)
    options = ("--members", "2", "--epochs", "1", "--batch-size", "500")
    done = call("train", "--network", "amiss:Soft", *options, "--learning-rate", "0.00001")
    assert done.exit_code == 0, done.output
    first, second = done.stderr.splitlines()[:2]
    assert first.startswith("It gives probabilities, which sum to 1")
    assert second.startswith("It first makes numbers from 0 to 0.00392 of an image")
    assert json.loads(done.stdout)["at_chance"]
    last = done.stderr.splitlines()[-1]
    assert last.endswith(f"The likely cause is its network. {first} {second}")


def test_the_networks_of_the_documentation_are_the_same_in_nnx_and_linen() -> None:
    page = (REPO / "docs" / "bring_your_own.md").read_text("utf-8").split("\n## Networks\n")[1]
    nnx, linen = (text.split("```")[0] for text in page.split("```python\n")[1:3])
    for module, code in (("documented_nnx", nnx), ("documented_linen", linen)):
        Path(f"{module}.py").write_text(code)
        found = json.loads(call("network", f"{module}:Leaves", "--json").stdout)
        # 14×14 places of 32 channels after the stride; a scale and a shift for each channel.
        assert found["parameters"] == 9 * 32 + 32 + 2 * 32 + 14 * 14 * 32 * 10 + 10
        assert (found["collections"], found["dropout"]) == (["batch_stats"], True)
