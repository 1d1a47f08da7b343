"""A run as data inside a report, and back to the bit; docs/capsule.md states the form."""

from ensemble.exchange.capsule.capsule_import import import_capsule
from ensemble.exchange.capsule.capsule_reader import Capsule, read_report_capsules
from ensemble.exchange.capsule.capsule_writer import render_run_capsules
from ensemble.exchange.capsule.script_element import is_web_page

__all__ = ["Capsule", "import_capsule", "is_web_page", "read_report_capsules", "render_run_capsules"]
