"""Predictions made elsewhere, read, checked and written: what other tools save without us.

No file is believed: headers are read and compared with each other before anything is allocated,
nothing is unpickled, and what cannot be taken is refused in a sentence that says how to mend it.
"""

from ensemble.exchange.capsule import Capsule, import_capsule
from ensemble.exchange.capsule import read as read_reports
from ensemble.exchange.capsule.words import chosen, report_of, said_of
from ensemble.exchange.checks.limits import UNPACKED, check_upload, most_upload_bytes
from ensemble.exchange.importing import import_run
from ensemble.exchange.outputs import MemberOutputs
from ensemble.exchange.reading import File, is_report, read
from ensemble.exchange.snippets import SNIPPETS, Snippet
from ensemble.exchange.writing import Exported, export_run

__all__ = [
    "SNIPPETS",
    "UNPACKED",
    "Capsule",
    "Exported",
    "File",
    "MemberOutputs",
    "Snippet",
    "check_upload",
    "chosen",
    "export_run",
    "import_capsule",
    "import_run",
    "is_report",
    "most_upload_bytes",
    "read",
    "read_reports",
    "report_of",
    "said_of",
]
