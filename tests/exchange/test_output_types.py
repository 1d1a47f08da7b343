"""Outputs as libraries give them: rounded, in half precision, tensors, pandas, other names."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import scipy.special
from numpy.typing import NDArray

import ensemble
from ensemble import exchange
from ensemble.errors import PredictionsError
from tests.exchange.given import LABELS, LOGITS, PROBABILITIES, C, M, N, csv_of, rows_of, saved, taken

WIDE = np.random.default_rng(0).dirichlet(np.full(10, 0.4), (2, 200))
WIDE_LABELS = np.random.default_rng(1).integers(10, size=200)


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64", "csv"])
def test_rounded_probabilities_are_divided_by_their_sums(tmp_path: Path, digits: int, dtype: str) -> None:
    rounded = WIDE.round(digits)
    kept = np.abs(rounded.sum(axis=-1) - 1).max(axis=0) < 0.15  # of one digit, many sum to nothing
    rounded, labels = rounded[:, kept], WIDE_LABELS[kept]
    expected = rounded / rounded.sum(axis=-1, keepdims=True)
    if dtype == "csv":
        rows = [[*row[:3], *(f"{p:.{digits}f}" for p in row[3:])] for row in rows_of(rounded, labels)]
        (tmp_path / "a.csv").write_text(csv_of(["example", "member", "label", *(f"p_{c}" for c in range(10))], rows))
        found = exchange.read_prediction_files([tmp_path / "a.csv"])
    else:
        found = taken(tmp_path, probabilities=rounded.astype(dtype), labels=labels)
    if digits < 4:
        np.testing.assert_allclose(found.probabilities[0], expected, atol=1e-6)
        plural = "digit" if digits == 1 else "digits"
        assert any(f"rounded to {digits} {plural}: rows sum" in note for note in found.notes)
    else:
        np.testing.assert_array_equal(found.probabilities[0], rounded.astype(np.float32))


def test_a_row_that_rounding_cannot_explain_is_refused(tmp_path: Path) -> None:
    rounded = WIDE.round(3)
    rounded[1, 7] = [0.1] * 9 + [0.0]
    with pytest.raises(PredictionsError, match=r"member 1, example 7 .* sum to 0.9"):
        taken(tmp_path, probabilities=rounded, labels=WIDE_LABELS)
    exact = WIDE.copy()
    exact[0, 3] *= 0.99
    with pytest.raises(PredictionsError, match=r"member 0, example 3 .* sum to 0.99"):
        taken(tmp_path, probabilities=exact, labels=WIDE_LABELS)
    with pytest.raises(PredictionsError, match="`logits` are already probabilities"):
        taken(tmp_path, logits=WIDE.round(2), labels=WIDE_LABELS)


def test_bfloat16_is_taken_from_a_file_and_from_python(tmp_path: Path) -> None:
    logits = (np.log(WIDE) + 3).astype(jnp.bfloat16)
    expected = scipy.special.softmax(logits.astype(np.float64), axis=-1)
    found = taken(tmp_path, logits=logits, labels=WIDE_LABELS)
    np.testing.assert_allclose(found.probabilities[0], expected, atol=1e-6)
    assert "`logits` was read as bfloat16." in found.notes
    made = ensemble.Predictions.from_arrays(logits, WIDE_LABELS, logits=True)
    np.testing.assert_array_equal(made.probabilities, found.probabilities[0])
    half = WIDE.astype(jnp.bfloat16)
    for given in (half, half.astype(np.float32)):
        found = taken(tmp_path, probabilities=given, labels=WIDE_LABELS)
        wide = half.astype(np.float64)
        expected = wide / wide.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(found.probabilities[0], expected, atol=1e-6)
        assert any("of the type bfloat16: rows sum" in note for note in found.notes)
    with pytest.raises(PredictionsError, match="not a readable array of numbers"):
        taken(tmp_path, logits=logits.view("V1"), labels=WIDE_LABELS)


class Tensor:
    """What a tensor of PyTorch's lets be done with it, as far as NumPy is concerned."""

    def __init__(self, values: NDArray[Any], state: str = "grad, cuda") -> None:
        self.values, self.state = values, state
        self.shape, self.dtype = values.shape, f"torch.{values.dtype}"

    def detach(self) -> "Tensor":
        return Tensor(self.values, self.state.replace("grad", ""))

    def cpu(self) -> "Tensor":
        return Tensor(self.values, self.state.replace("cuda", ""))

    def float(self) -> "Tensor":
        return Tensor(self.values.astype(np.float32), self.state)

    def numpy(self) -> NDArray[Any]:
        if "grad" in self.state or "cuda" in self.state:
            raise RuntimeError(f"cannot convert: {self.state}")
        if self.values.dtype == jnp.bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self.numpy()

    def __len__(self) -> int:
        return len(self.values)


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
@pytest.mark.parametrize("stacked", [True, False])
def test_tensors_with_a_gradient_or_on_a_gpu_are_taken(dtype: Any, stacked: bool) -> None:
    logits = LOGITS.astype(dtype)
    given = Tensor(logits) if stacked else [Tensor(member) for member in logits]
    found = ensemble.Predictions.from_arrays(given, Tensor(LABELS), logits=True)  # type: ignore[arg-type]
    expected = scipy.special.softmax(logits.astype(np.float64), axis=-1)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-6)
    np.testing.assert_array_equal(found.labels, LABELS)


@pytest.mark.parametrize("name", ["predictions", "preds", "y_pred", "outputs", "scores"])
@pytest.mark.parametrize("labels", ["label_ids", "y_true", "y_test", "targets", "y"])
def test_keras_and_hugging_face_call_them_otherwise(tmp_path: Path, name: str, labels: str) -> None:
    for values, kind in ((LOGITS, "logits"), (PROBABILITIES, "probabilities")):
        path = saved(tmp_path, **{name: values, labels: LABELS})
        found = exchange.read_prediction_files([path])
        np.testing.assert_allclose(found.probabilities[0], PROBABILITIES, atol=1e-6)
        assert f"`{name}` was read as `{kind}`, which its numbers are." in found.notes


def test_predicted_classes_alone_are_told_as_such(tmp_path: Path) -> None:
    path = saved(tmp_path, y_pred=PROBABILITIES[0].argmax(axis=1), y_true=LABELS)
    with pytest.raises(PredictionsError, match="`y_pred` holds the predicted classes alone"):
        exchange.read_prediction_files([path])


def test_text_as_python_objects_is_read_in_python_and_in_a_table_never_from_a_file(tmp_path: Path) -> None:
    words = np.array(["ant", "bee", "cat", "dog"], dtype=object)
    target = pd.Series(words[LABELS], dtype=object)
    found = ensemble.Predictions.from_arrays(PROBABILITIES, target, class_names=words)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert found.class_names == tuple(words)
    numbers = ensemble.Predictions.from_arrays(PROBABILITIES.astype(object), LABELS.astype(object).tolist())
    np.testing.assert_array_equal(numbers.probabilities, PROBABILITIES)
    frame = pd.DataFrame(PROBABILITIES[0], columns=list(words)).assign(label=target)
    frame.astype({"label": "category"}).to_parquet(tmp_path / "a.parquet")
    table = exchange.read_prediction_files([tmp_path / "a.parquet"])
    np.testing.assert_array_equal(table.labels, LABELS)
    target[3] = None
    with pytest.raises(PredictionsError, match="`labels` has no value at 3"):
        ensemble.Predictions.from_arrays(PROBABILITIES, target, class_names=words)
    with pytest.raises(PredictionsError, match="`class_names` holds Python objects"):
        taken(tmp_path, probabilities=PROBABILITIES, class_names=words)


def test_a_frame_of_probabilities_names_the_classes() -> None:
    words = ["ant", "bee", "cat", "dog"]
    frames = [pd.DataFrame(member, columns=words) for member in PROBABILITIES]
    found = ensemble.Predictions.from_arrays(frames, np.array(words)[LABELS])  # type: ignore[arg-type]
    assert found.class_names == tuple(words)
    np.testing.assert_array_equal(found.labels, LABELS)
    plain = ensemble.Predictions.from_arrays(pd.DataFrame(PROBABILITIES[0]), LABELS)
    assert plain.class_names == ("0", "1", "2", "3")


@pytest.mark.parametrize("shape", [(256, 3, 2), (1, 2500, 2000), (1, 200_000, 2)])
def test_each_limit_is_reached_alone(tmp_path: Path, shape: tuple[int, ...]) -> None:
    labels = np.arange(shape[1]) % shape[2]
    values = np.full(shape, 1 / shape[2], np.float32)
    found = exchange.read_prediction_files([saved(tmp_path, probabilities=values, labels=labels)])
    assert found.probabilities.shape == (1, *shape)


def test_the_product_is_bounded_by_memory_in_a_sentence(tmp_path: Path) -> None:
    path = saved(tmp_path, probabilities=PROBABILITIES, labels=LABELS)
    needed = M * N * C * 4 + 3 * N * C * 8
    exchange.read_prediction_files([path], needed)
    with pytest.raises(PredictionsError, match="it takes 1 MB, but an upload may take at most"):
        exchange.read_prediction_files([path], needed - 1)
