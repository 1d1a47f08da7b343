"""Predictions made elsewhere, read, checked and written: what other tools save without us.

No file is believed: headers are read and compared with each other before anything is allocated,
nothing is unpickled, and what cannot be taken is refused in a sentence that says how to mend it.
"""

from ensemble.exchange.checks.limits import UNPACKED, check_upload, most_upload_bytes
from ensemble.exchange.importing import import_run
from ensemble.exchange.outputs import MemberOutputs
from ensemble.exchange.reading import File, read
from ensemble.exchange.snippets import SNIPPETS, Snippet
from ensemble.exchange.writing import Exported, export_run

__all__ = [
    "SNIPPETS",
    "UNPACKED",
    "Exported",
    "File",
    "MemberOutputs",
    "Snippet",
    "check_upload",
    "export_run",
    "import_run",
    "most_upload_bytes",
    "read",
]
