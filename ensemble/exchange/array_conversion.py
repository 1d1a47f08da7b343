"""Arrays of any library as NumPy's: tensors with gradients or on a GPU, bfloat16, pandas, masks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError

_NUMBER_KINDS = "biuf"


def convert_to_array(field: str, values: Any) -> NDArray[Any]:
    """Whatever NumPy makes an array of, as numbers or text; a mask stays.

    Raises:
      PredictionsError: it is none, or has parts of different lengths or of mixed kinds.
    """
    try:
        array = _convert_value(values)
        if array.dtype.kind in "OST":  # such as pandas' text
            array = _convert_objects(field, array)
        elif array.dtype.kind == "V" and array.dtype.names is None:  # bfloat16 and its like
            array = array.astype(np.float32)
    except PredictionsError:
        raise
    except (ValueError, TypeError, RuntimeError, AttributeError) as error:
        raise PredictionsError(
            f"`{field}` has parts of different lengths, or is no array ({error!s:.120}): give one array."
        ) from error
    return array


def convert_numbers(field: str, values: Any) -> NDArray[Any]:
    """As `convert_to_array`, of real numbers.

    Raises:
      PredictionsError: it holds others.
    """
    array = convert_to_array(field, values)
    if array.dtype.kind not in _NUMBER_KINDS:
        raise PredictionsError(f"`{field}` are of type {array.dtype}: give real numbers.")
    return array


def get_mask(array: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Where an array is masked; None where nowhere."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        return np.ma.getmaskarray(array)
    return None


def refuse_mask(field: str, array: NDArray[Any]) -> NDArray[Any]:
    """The plain array; PredictionsError where a value of it is masked."""
    mask = get_mask(array)
    if mask is not None:
        place = int(np.flatnonzero(mask.reshape(-1))[0])
        raise PredictionsError(
            f"`{field}` has masked values, the first at {place} (counted from 0): fill them in, or "
            "leave these examples out."
        )
    return np.asarray(array)


def list_column_names(values: Any) -> tuple[str, ...] | None:
    """The columns' names of a pandas frame, or of several that have the same; None without."""
    frames = values if isinstance(values, (list, tuple)) else [values]
    every = {
        tuple(map(str, frame.columns)) for frame in frames if hasattr(frame, "columns") and hasattr(frame, "to_numpy")
    }
    if len(every) != 1 or len(frames) == 0:
        return None
    names = next(iter(every))
    plain = tuple(map(str, range(len(names))))
    return None if names == plain else names


def _convert_value(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        return _convert_tensor(values)
    if isinstance(values, Sequence) and not isinstance(values, str) and values:
        if any(isinstance(value, np.ma.MaskedArray) for value in values):
            return np.ma.stack(values)
        if any(hasattr(value, "shape") or hasattr(value, "detach") for value in values):
            return np.array([_convert_value(value) for value in values])
    return np.asarray(values)


def _convert_tensor(tensor: Any) -> NDArray[Any]:
    """A tensor of PyTorch's, which may have a gradient, stand on a GPU or be bfloat16."""
    plain = tensor.detach().cpu()
    if "bfloat16" in str(getattr(plain, "dtype", "")):
        plain = plain.float()
    return np.asarray(plain.numpy())


def _convert_objects(field: str, array: NDArray[Any]) -> NDArray[Any]:
    flat = array.reshape(-1).tolist()
    missing = next((place for place, value in enumerate(flat) if _is_missing(value)), None)
    if missing is not None:
        raise PredictionsError(
            f"`{field}` has no value at {missing} (counted from 0): give one, or leave that example out."
        )
    if all(isinstance(value, (bool, np.bool_)) for value in flat):
        plain: NDArray[Any] = array.astype(np.bool_)
    elif all(isinstance(value, (int, float, np.number)) for value in flat):
        plain = array.astype(np.float64)
    else:
        texts = [value.decode() if isinstance(value, bytes) else str(value) for value in flat]
        plain = np.array(texts).reshape(array.shape)
    mask = get_mask(array)
    return plain if mask is None else np.ma.MaskedArray(plain, mask)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
