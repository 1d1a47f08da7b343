"""Predictions made elsewhere, read, checked and written: what other tools save without us.

No file is believed: headers are read and compared with each other before anything is allocated,
nothing is unpickled, and what cannot be taken is refused in a sentence that says how to mend it.
"""

from ensemble.datasets.label_meanings import LABEL_READINGS
from ensemble.exchange.capsule import Capsule, import_capsule
from ensemble.exchange.capsule import read_report_capsules as read_reports
from ensemble.exchange.capsule.capsule_summary import (
    describe_capsule_contents,
    describe_report_file,
    find_report_capsules,
)
from ensemble.exchange.checks.label_readings import LabelReadingError
from ensemble.exchange.checks.limits import MAX_UNPACK_RATIO, check_import_size, max_import_bytes
from ensemble.exchange.file_task import File
from ensemble.exchange.member_outputs import MemberOutputs
from ensemble.exchange.prediction_export import ExportedPredictions, export_run
from ensemble.exchange.prediction_files import is_report_file, read_prediction_files
from ensemble.exchange.run_import import import_run
from ensemble.exchange.snippets import SNIPPETS, Snippet

__all__ = [
    "LABEL_READINGS",
    "MAX_UNPACK_RATIO",
    "SNIPPETS",
    "Capsule",
    "ExportedPredictions",
    "File",
    "LabelReadingError",
    "MemberOutputs",
    "Snippet",
    "check_import_size",
    "describe_capsule_contents",
    "describe_report_file",
    "export_run",
    "find_report_capsules",
    "import_capsule",
    "import_run",
    "is_report_file",
    "max_import_bytes",
    "read_prediction_files",
    "read_reports",
]
