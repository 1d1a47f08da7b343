"""The dialog that takes in what was made elsewhere: predictions, and reports with runs in them."""

from ensemble.ui.runs.imports.dialog import button

__all__ = ["button"]
