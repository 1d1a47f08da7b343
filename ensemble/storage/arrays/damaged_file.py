"""What is said of a file that is there and can be read, and is not what was written."""


class DamagedFileError(ValueError):
    """A file holds something else than was written into it: its disk, a cut copy, another hand.

    A file that cannot be read at all raises OSError, one that is not there FileNotFoundError. The
    message names nothing that the file itself says: it may be shown as it stands.
    """
