"""Predictions made elsewhere, read, checked and written: what other tools save without us.

No file is believed: headers are read and compared with each other before anything is allocated,
nothing is unpickled, and what cannot be taken is refused in a sentence that says how to mend it.
"""

from ensemble.exchange.outputs import MemberOutputs
from ensemble.exchange.reading import read

__all__ = ["MemberOutputs", "read"]
