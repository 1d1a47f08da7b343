"""What cannot be taken is refused in one sentence, with the entry and what to do about it."""

import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from ensemble import exchange
from ensemble.errors import ConfigError, PredictionsError
from ensemble.exchange.checks import limits
from tests.exchange.given import LABELS, LOGITS, PROBABILITIES, C, M, N, saved, taken, written


def changed(place: tuple[int, ...], value: float, base: Any = PROBABILITIES) -> Any:
    given = base.copy()
    given[place] = value
    return given


P = PROBABILITIES
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "Torch's order": ({"probabilities": P.transpose(1, 0, 2)}, r"axis 0.*transpose\(1, 0, 2\)"),
    "classes first": ({"probabilities": P.transpose(0, 2, 1)}, r"axis 2.*transpose\(0, 2, 1\)"),
    "epochs last": ({"probabilities": P[..., None]}, r"axis 1: give.*moveaxis\(.*, 1, 2\)"),
    "turned": ({"probabilities": P[0].T}, r"axis 1.*as probabilities\.T may be"),
    "turned, of two": (
        {"probabilities": np.stack([1 - P[0, :, 0], P[0, :, 0]]), "labels": LABELS % 2},
        r"two rows sum to 1.*probabilities\.T",
    ),
    "another N": ({"probabilities": P[:, :-1]}, r"\(3, 39, 4\), but there are 40 labels"),
    "five axes": ({"probabilities": P[None, None]}, "has 5 axes"),
    "nothing": ({"probabilities": P[:0]}, "is empty"),
    "NaN": (
        {"probabilities": changed((2, 17, 3), np.nan)},
        "member 2, example 17, class 3 .all counted from 0. is nan",
    ),
    "infinity": ({"probabilities": changed((1, 5, 0), np.inf)}, "member 1, example 5, class 0"),
    "both infinities": ({"probabilities": changed((1, 5, slice(0, 2)), [np.inf, -np.inf])}, "example 5, class 0"),
    "negative": ({"probabilities": changed((0, 3, 1), -0.2)}, "class 1 .* is -0.2.*`logits`"),
    "logits as p": ({"probabilities": LOGITS}, "not a probability: save them as `logits`"),
    "p as logits": ({"logits": P}, "are already probabilities"),
    "per cent": ({"probabilities": P * 100}, "sum to 100: they are percentages, divide them by 100"),
    "a sum": ({"probabilities": changed((2, 9), 0.2)}, "member 2, example 9 .* sum to 0.8, furthest from 1 of 1 rows"),
    "NaN logit": ({"logits": changed((0, 8, 2), np.nan, LOGITS)}, "example 8, class 2.*nan"),
    "all ruled out": ({"logits": changed((0, 8), -np.inf, LOGITS)}, "example 8, class 0.*-inf"),
    "text": ({"probabilities": P.astype(str)}, "holds text"),
    "objects": ({"probabilities": np.array([P, None], object)}, "Python objects.*not unpickled"),
    "complex": ({"probabilities": P.astype(complex)}, "not a readable array of numbers.*astype"),
    "from 1": ({"labels": np.where(LABELS == 0, C, LABELS)}, "begins at 1.*subtract 1"),
    "too high": ({"labels": changed((7,), 4, LABELS)}, r"labels\[7\]` is 4, but there are 4"),
    "below 0": ({"labels": changed((7,), -2, LABELS)}, r"labels\[7\]` is -2"),
    "between": ({"labels": changed((3,), 0.5, LABELS.astype(float))}, r"labels\[3\]` is 0.5"),
    "shares": ({"labels": P[0]}, r"row 0 is not one 1.*argmax"),
    "unknown name": (
        {"labels": np.array(list("abcd"))[LABELS], "class_names": list("abcx")},
        "is “d”, which is not one of the 4 class names",
    ),
    "names without classes": ({"labels": np.array(list("abcd"))[LABELS]}, "give `class_names`"),
    "too few names": ({"class_names": ["a", "b"]}, "2 entries for 4 classes"),
    "a name twice": ({"class_names": list("abca")}, "“a” twice, at 0 and 3"),
    "names as objects": ({"class_names": np.array(list("abcd"), object)}, "`class_names` holds Py"),
    "a long name": ({"member_names": ["a", "b", "c" * 81]}, "has 81 characters"),
    "too many members": ({"probabilities": np.tile(P[:1], (4097, 1, 1))}, "4,097 members.*4,096"),
    "no images' N": ({"images": np.zeros((3, 4, 4))}, "images.*there are 40 labels"),
    "flat images": ({"images": np.zeros((N, 16))}, "height, width"),
    "channels": ({"images": np.zeros((N, 4, 4, 4))}, "4 channels"),
    "standardised": ({"images": np.linspace(-2, 2, N * 9).reshape(N, 3, 3)}, "from -2 to 2"),
    "two splits": ({"split": ["a", "b"]}, "not one name"),
}


@pytest.mark.parametrize(("arrays", "why"), REFUSED.values(), ids=REFUSED)
def test_an_archive_is_refused_by_its_entry(tmp_path: Path, arrays: dict[str, Any], why: str) -> None:
    if not {"probabilities", "logits"} & set(arrays):
        arrays = {"probabilities": PROBABILITIES, **arrays}
    with pytest.raises(PredictionsError, match=why) as refused:
        taken(tmp_path, **arrays)
    said = str(refused.value)
    assert said.startswith("a.npz: ")
    assert said.endswith(".")
    assert len(said) < 320
    assert not re.search(r"[.!?] [A-Z]", said), "one sentence"


def test_the_second_epochs_entry_is_named(tmp_path: Path) -> None:
    epochs = np.stack([PROBABILITIES, changed((1, 2, 3), np.nan)])
    with pytest.raises(PredictionsError, match="epoch 1, member 1, example 2, class 3"):
        taken(tmp_path, probabilities=epochs)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (pickle.dumps({"a": 1}), "pickle"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"\x1f\x8b\x08", "gzip"),
        (b'{"a": [1, 2]}', "JSON"),
        (b"\xff\xfe\x00\x01" * 9, "not a table that can be read"),
        (b"PK\x03\x04 and no more", "damaged"),
        (b"PAR1 and no more", "damaged"),
        (b"\0" * 100, "not a table that can be read"),
        (b"hello\n", "no columns of classes"),
        (b"label,p_0,p_1\n", "no rows"),
    ],
)
def test_a_file_of_another_kind_is_told(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(PredictionsError, match=f"^a: it .*{why}"):
        exchange.read_prediction_files([tmp_path / "a"])


def test_torchs_own_file_is_not_unpickled(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}q\x00.")
    with pytest.raises(PredictionsError, match=r"torch\.save.*np\.savez"):
        exchange.read_prediction_files([tmp_path / "a.pt"])
    np.save(tmp_path / "a.npy", PROBABILITIES)
    with pytest.raises(PredictionsError, match="a single NumPy array"):
        exchange.read_prediction_files([tmp_path / "a.npy"])
    with pytest.raises(PredictionsError, match="a folder, a pipe"):
        exchange.read_prediction_files([tmp_path])
    with pytest.raises(PredictionsError, match="No such file"):
        exchange.read_prediction_files([tmp_path / "none.npz"])


def test_files_that_do_not_fit_together_are_told_apart(tmp_path: Path) -> None:
    first = saved(tmp_path, "a.npz", probabilities=P, labels=LABELS)
    others = {
        r"`labels\[4\]` is 9, and in a.npz": {"labels": changed((4,), 9, LABELS)},
        "39 labels, and a.npz 40": {"probabilities": P[:, 1:], "labels": LABELS[1:]},
        "3 classes, and a.npz 4": {"probabilities": P[..., :3]},
        "2 epochs, and a.npz 1": {"probabilities": np.stack([P, P])},
    }
    for why, arrays in others.items():
        other = saved(tmp_path, "b.npz", **{"probabilities": P, **arrays})
        with pytest.raises(PredictionsError, match=f"^b.npz: .*{why}"):
            exchange.read_prediction_files([first, other])
    named = [
        saved(tmp_path, f"{n}.npz", probabilities=P, labels=LABELS, class_names=list(names))
        for n, names in enumerate(("abcd", "abdc"))
    ]
    with pytest.raises(PredictionsError, match="have other names, or another order, than in 0"):
        exchange.read_prediction_files(named)
    alone = saved(tmp_path, "c.npz", probabilities=P)
    with pytest.raises(PredictionsError, match=r"has no labels, .* as a column `label`"):
        exchange.read_prediction_files([alone])


def test_rows_that_rounding_put_off_are_kept_and_said(tmp_path: Path) -> None:
    given = PROBABILITIES.astype(np.float16)
    found = taken(tmp_path, probabilities=given)
    np.testing.assert_array_equal(found.probabilities[0], given.astype(np.float32))
    assert re.match(r"Rows sum to 1 within 0\.000", found.notes[-1])
    below = changed((0, 0), [-1e-8, 1, 0, 0])
    assert taken(tmp_path, probabilities=below).probabilities.min() >= 0


def test_a_zero_of_float16_is_what_it_rounds_and_said(tmp_path: Path) -> None:
    sure = changed((0, 0), np.eye(4)[(LABELS[0] + 1) % 4])
    found = taken(tmp_path, probabilities=sure.astype(np.float16))
    assert found.probabilities.min() == pytest.approx(2.0**-25)
    assert any("no example costs more than 17.3 nats" in note for note in found.notes)
    assert not any("87 nats" in note for note in found.notes)
    without = np.where(sure == 0, 0.01, sure) / np.where(sure == 0, 0.01, sure).sum(-1, keepdims=True)
    plain = taken(tmp_path, probabilities=without.astype(np.float16))
    assert not any("float16" in note for note in plain.notes)
    exact = taken(tmp_path, probabilities=sure)
    assert exact.probabilities.min() == 0
    assert any("each adds 87 nats" in note for note in exact.notes)


def test_what_the_memory_cannot_hold_is_refused_before_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, probabilities=PROBABILITIES, labels=LABELS)
    little = psutil.virtual_memory()._replace(available=2000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: little)
    with pytest.raises(PredictionsError, match="of memory, and 1 MB are free"):
        exchange.read_prediction_files([path])


def test_an_upload_is_bounded_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.max_import_bytes() == 500_000_000
    monkeypatch.setenv("ENSEMBLE_MAX_IMPORT_MB", "2")
    limits.check_import_size(2_000_000)
    with pytest.raises(PredictionsError, match="at most 2 MB"):
        limits.check_import_size(2_000_001)
    monkeypatch.setenv("ENSEMBLE_MAX_IMPORT_MB", "-1")
    with pytest.raises(ConfigError, match="ENSEMBLE_MAX_IMPORT_MB is '-1'"):
        limits.check_import_size(0)


def test_an_example_has_one_member_of_each(tmp_path: Path) -> None:
    assert M * N == 120
    text = "example,member,label,p_0,p_1\n0,a,1,0.5,0.5\n0,b,1,0.5,0.5\n1,a,0,0.5,0.5\n"
    with pytest.raises(PredictionsError, match="no row of example 1 and member b"):
        exchange.read_prediction_files([written(tmp_path, text)])
