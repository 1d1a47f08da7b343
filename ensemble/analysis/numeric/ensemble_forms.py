"""The forms in which members predict numbers, by their words: nothing that takes SciPy."""

FORMS = ("normal", "quantiles", "points")


def list_ensemble_arrays(form: str) -> tuple[str, ...]:
    """The names of the arrays that hold an ensemble of this form, besides its levels."""
    return {"normal": ("mean", "variance"), "quantiles": ("quantiles",), "points": ("mean",)}[form]
