"""How much of a Parquet file there is once it is unpacked, told before anything of it is.

Arrow reserves for each page what the page's own header says, 2 GB at most, of all columns at the
same time; what the file's end says of their sizes it does not compare with. A file of a few
kilobytes may so ask for all memory that there is.

Source: the Parquet format's `parquet.thrift` (`PageHeader`), in Thrift's compact protocol.
"""

import io
from typing import Any

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import check_free_memory
from ensemble.storage.arrays.parquet_page_sizes import iterate_page_sizes

MOST_CELL = 1024  # bytes that a cell may take
PAGE_OVERHEAD_BYTES = (
    2**16
)  # and what may stand beside the cells of a column, in each of the file's parts


def check_parquet_pages(
    file: io.RawIOBase, metadata: Any, wanted: list[str], most_bytes: int | None = None
) -> None:
    """Refuse a Parquet file whose pages ask for more than its rows can need, or than there is.

    Args:
      file: from its beginning; read at each page's header.
      metadata: Arrow's, of the file's end.
      wanted: the columns that will be read.
      most_bytes: of memory that may be taken; None for as much as there is.

    Raises:
      PredictionsError: they do.
      ValueError: a page's header is none.
    """
    largest = dict.fromkeys(wanted, 0)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            if (name := column.path_in_schema) not in largest:
                continue
            total = 0
            for unpacked in iterate_page_sizes(file, column):
                total += unpacked
                largest[name] = max(largest[name], unpacked)
                if total > PAGE_OVERHEAD_BYTES + MOST_CELL * group.num_rows:
                    raise PredictionsError(
                        f"its column “{name:.60}” claims to unpack to more than its "
                        f"{group.num_rows:,} rows can hold: save it again."
                    )
    check_free_memory(sum(largest.values()), most_bytes)
