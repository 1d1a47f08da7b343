"""The dialog that takes in what was made elsewhere: predictions, and reports with runs in them."""

from ensemble.ui.runs.imports.dialog import show_import_button

__all__ = ["show_import_button"]
