"""What can be wrong with a request: a status of HTTP, and one sentence.

```
EnsembleError
└── RequestError       `status` says which kind
```
"""

from ensemble.errors import EnsembleError


class RequestError(EnsembleError):
    """A request cannot be answered.

    Attributes:
      status: of HTTP, from 400.
      headers: that the answer has beside the usual ones.
    """

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}


def build_busy_error(message: str, retry_after: int) -> RequestError:
    """Too much is in hand: a client may try again after so many seconds."""
    return RequestError(503, message, {"Retry-After": str(retry_after)})
