"""What can go wrong in a way that a person can mend.

EnsembleError
├── ConfigError            a setting is out of its range, or two settings do not fit together
├── DataError              a dataset cannot be had
│   ├── NotPreparedError   it has not been fetched yet
│   ├── DownloadError      no network, a cut or stalled transfer, a wrong checksum
│   └── StorageError       a full disk, a folder that cannot be written
├── ImageError             a picture cannot be opened
├── PredictionsError       predictions made elsewhere cannot be taken, or written
├── AccessError            whoever asks may not do this, or has done so too often
├── ClusterError           a cluster's scheduler does not answer, or does not take the work
└── RunError               a run cannot be found, read, started or changed
    └── UnknownRunError    no run has this id

The message of each is one or two sentences: what happened, what is kept, what to do
next. Pages show it as it stands; the command line prints it and exits with `exit_code`.
Whatever is not an EnsembleError is a bug and keeps its traceback.
"""


class EnsembleError(Exception):
    """Base of everything a person can mend. `exit_code` is the command line's status."""

    exit_code = 1

    def __str__(self) -> str:
        """The message; bytes of a path that are not UTF-8 are spelt out, so that it can be sent."""
        return super().__str__().encode("utf-8", "backslashreplace").decode()


class ConfigError(EnsembleError):
    """A setting is out of its range, or two settings do not fit together."""

    exit_code = 2


class DataError(EnsembleError):
    """A dataset cannot be had."""


class NotPreparedError(DataError):
    """The dataset has not been fetched and prepared yet."""


class DownloadError(DataError):
    """The dataset's files did not arrive whole: no network, a cut, a wrong checksum."""


class StorageError(DataError):
    """The disk is full, or the folder cannot be written."""


class ImageError(EnsembleError):
    """A picture cannot be opened."""


class PredictionsError(EnsembleError):
    """Predictions made elsewhere cannot be taken as they are, or not be written."""


class AccessError(EnsembleError):
    """Whoever asks may not do this: the role is too low, it is another's, or a limit is reached."""


class ClusterError(EnsembleError):
    """A cluster's scheduler does not answer, or does not take the work."""


class RunError(EnsembleError):
    """A run cannot be found, read, started or changed."""


class UnknownRunError(RunError):
    """No run has this id."""
