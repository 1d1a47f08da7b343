"""What the page shows for other libraries is run, where they are installed, and read again."""

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from ensemble import exchange
from ensemble.exchange import SNIPPETS, Snippet
from tests.conftest import REPO

ALL = {one.package: one for one in SNIPPETS}


def run(snippet: Snippet, folder: Path, **given: Any) -> exchange.MemberOutputs:
    """What its lines leave behind, given what they take for given."""
    assert set(given) == set(snippet.names)
    before = Path.cwd()
    os.chdir(folder)
    try:
        exec(snippet.code, given)
    finally:
        os.chdir(before)
    return exchange.read_prediction_files([folder / "ensemble.npz"])


@pytest.mark.parametrize("kind", ["text", "objects", "numbers", "floats"])
def test_a_forest_of_scikit_learn_is_taken_as_it_is(tmp_path: Path, kind: str) -> None:
    data = load_iris()
    words = data.target_names if kind in ("text", "objects") else np.array([2, 3, 5])
    names = words[data.target]
    if kind == "objects":  # as pandas has text
        names = pd.Series(names, dtype=object)
    elif kind == "floats":
        names = names.astype(float)
    forests = [RandomForestClassifier(5, random_state=m).fit(data.data, names) for m in range(3)]
    found = run(ALL["sklearn"], tmp_path, models=forests, X=data.data, y=names)
    wanted = np.stack([forest.predict_proba(data.data) for forest in forests])
    np.testing.assert_array_equal(found.probabilities[0], wanted.astype(np.float32))
    assert found.class_names == tuple(map(str, forests[0].classes_))
    np.testing.assert_array_equal(found.labels, data.target)


def test_boosted_trees_of_xgboost_go_by_the_lines_of_scikit_learn(tmp_path: Path) -> None:
    if importlib.util.find_spec("xgboost") is None:
        pytest.skip("XGBoost is not installed: see requirements-frameworks.txt")
    xgboost = importlib.import_module("xgboost")
    data = load_iris()
    models = [
        xgboost.XGBClassifier(n_estimators=5, subsample=0.5, random_state=m, n_jobs=1).fit(data.data, data.target)
        for m in range(3)
    ]
    found = run(ALL["sklearn"], tmp_path, models=models, X=data.data, y=data.target)
    wanted = np.stack([model.predict_proba(data.data) for model in models])
    np.testing.assert_allclose(found.probabilities[0], wanted, rtol=1e-6)
    np.testing.assert_array_equal(found.labels, data.target)


def test_members_of_jax_are_taken_as_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images, labels = rng.random((1100, 6)), rng.integers(0, 3, 1100)
    members = [rng.normal(size=(6, 3)) for _ in range(2)]
    found = run(
        ALL["jax"], tmp_path, apply=lambda params, part: part @ params, members=members, images=images, labels=labels
    )
    powers = np.exp(np.stack([images @ params for params in members]))
    wanted = powers / powers.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.probabilities[0], wanted, rtol=1e-5)


def test_networks_of_pytorch_are_taken_as_they_are(tmp_path: Path) -> None:
    compile(ALL["torch"].code, "torch", "exec")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: its lines were parsed")
    models = [torch.nn.Linear(6, 3) for _ in range(2)]
    found = run(ALL["torch"], tmp_path, models=models, images=torch.rand(1100, 6), labels=torch.arange(1100) % 3)
    assert found.probabilities.shape == (1, 2, 1100, 3)


def test_models_of_keras_are_taken_as_they_are(tmp_path: Path) -> None:
    compile(ALL["keras"].code, "keras", "exec")
    if importlib.util.find_spec("keras") is None:
        pytest.skip("Keras is not installed: its lines were parsed")
    keras = importlib.import_module("keras")
    models = [keras.Sequential([keras.layers.Dense(3, activation="softmax")]) for _ in range(2)]
    images = np.random.default_rng(0).random((30, 6), np.float32)
    found = run(ALL["keras"], tmp_path, models=models, images=images, labels=np.arange(30) % 3)
    assert found.probabilities.shape == (1, 2, 30, 3)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda one: one.library)
def test_each_is_five_lines_that_need_nothing_of_ours_and_stands_in_the_docs(snippet: Snippet) -> None:
    lines = snippet.code.splitlines()
    assert len(lines) <= 5
    assert max(map(len, lines)) <= 100
    assert "ensemble." not in snippet.code.replace('"ensemble.npz"', "")
    docs = (REPO / "docs" / "bring_your_own.md").read_text("utf-8")
    assert f"```python\n{snippet.code}```" in docs
