"""A PostgreSQL for the benchmark, where there is one."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.services.postgres import AbsentError, cluster


@contextmanager
def address() -> Iterator[str | None]:
    """The address of a new database; None, and why is printed, where none can be had."""
    try:
        with cluster() as database:
            yield database.address
    except AbsentError as reason:
        print(f"not measured: PostgreSQL ({reason})")
        yield None
