"""How large each page of a Parquet file is once it is unpacked, as its own header says.

Arrow reserves for each page what that header says, 2 GB at most, and does not compare it with what
the file's end says of the column. So a file of a few kilobytes may ask for all memory there is.

Source: the Parquet format's `parquet.thrift` (`PageHeader`), in Thrift's compact protocol.
"""

import io
from collections.abc import Iterator
from typing import Any

HEADER_WINDOW_BYTES = 2**16  # bytes in which a page's header has to end
UNPACKED_FIELD, PACKED_FIELD = 2, 3  # fields of a page's header: its sizes
MAX_DEPTH = 8


def iterate_page_sizes(file: io.RawIOBase | io.BufferedIOBase, column: Any) -> Iterator[int]:
    """What each page of a column takes once it is unpacked.

    Args:
      file: read at each page's header.
      column: Arrow's metadata of the column in one row group.

    Raises:
      ValueError: a page's header is none.
    """
    starts = [column.data_page_offset]
    if column.has_dictionary_page and column.dictionary_page_offset:
        starts.append(column.dictionary_page_offset)
    place = min(starts)
    end = place + column.total_compressed_size
    while place < end:
        file.seek(place)
        header = _PageHeader(file.read(HEADER_WINDOW_BYTES) or b"")
        sizes = header.read_sizes()
        place += header.at + sizes[PACKED_FIELD]
        yield sizes[UNPACKED_FIELD]


class _PageHeader:
    """A page's header: structs within structs, of which only the sizes are wanted."""

    def __init__(self, content: bytes) -> None:
        self._content, self.at = content, 0

    def read_sizes(self) -> dict[int, int]:
        """The sizes by their fields' numbers; ValueError where it says none."""
        sizes = self._read_struct(0)
        if min(sizes.get(UNPACKED_FIELD, -1), sizes.get(PACKED_FIELD, -1)) < 0:
            raise ValueError("a page has no sizes")
        return sizes

    def _read_struct(self, depth: int) -> dict[int, int]:
        """Its whole numbers by their fields."""
        if depth > MAX_DEPTH:
            raise ValueError("a page's header is nested too deeply")
        numbers, field = dict[int, int](), 0
        while kind := self._read_byte():
            step = kind >> 4
            field = field + step if step else self._read_number()
            value = self._read_value(kind & 0xF, depth)
            if value is not None:
                numbers[field] = value
        return numbers

    def _read_value(self, kind: int, depth: int) -> int | None:
        """A value of that kind, if it is a whole number; all others are passed over."""
        match kind:
            case 1 | 2:  # true and false say themselves
                return None
            case 3:
                self.at += 1
            case 4 | 5 | 6:
                return self._read_number()
            case 7:
                self.at += 8
            case 8:
                length = self._read_varint()
                self.at += length
            case 12:
                self._read_struct(depth + 1)
            case _:  # a page's header has no lists
                raise ValueError("a page's header cannot be read")
        return None

    def _read_byte(self) -> int:
        if self.at >= len(self._content):
            raise ValueError("a page's header is too long")
        self.at += 1
        return self._content[self.at - 1]

    def _read_varint(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._read_byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
        raise ValueError("a number in a page's header is too long")

    def _read_number(self) -> int:
        number = self._read_varint()  # zigzag: its sign is the last bit
        return (number >> 1) ^ -(number & 1)
