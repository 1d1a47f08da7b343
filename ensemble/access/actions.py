"""What may be asked for, by the names that the audit log has for it."""

from enum import Enum


class Action(Enum):
    """Something that one may do or not: its name in the audit log, and the words that refuse it."""

    LOOK = "look"
    CLASSIFY = "classify"
    LAUNCH = "launch"
    IMPORT = "import"
    ADD_DATA = "add data"
    RESUME = "resume"
    STOP = "stop"
    CHANGE = "change"
    DELETE = "delete"


# What is written down besides what people do to runs and datasets.
OPEN_EVENT, SIGN_OUT_EVENT, UPLOAD_EVENT, REFUSAL_EVENT = "open", "sign out", "upload", "refused"
