"""What a compiled program's operations multiply and move, read from XLA's text of it (HLO)."""

import re
from typing import NamedTuple

BITS = {"pred": 8, "u8": 8, "s8": 8, "bf16": 16, "f16": 16, "u64": 64, "s64": 64}
SHAPE = re.compile(r"\b(pred|bf16|[fsu]\d+)\[([\d,]*)\]")
DEFINED = re.compile(r"^\s*(ROOT )?%([\w.\-]+) = (.*?) ([\w\-]+)\((.*)$")
SCOPE = re.compile(r'op_name="([^"]*)"')
CALLS = re.compile(r"calls=%([\w.\-]+)")
CONTRACTED = re.compile(r"lhs_contracting_dims={([\d,]*)}")
OPERAND = re.compile(r"%([\w.\-]+)")


class Instruction(NamedTuple):
    """A line of a program.

    Attributes:
      name: of its result.
      kind: "dot", "fusion", ….
      result: shapes of its result, as text.
      operands: whose results it takes.
      scope: where in the sources it comes from, "" where XLA does not say.
      called: the body of a fusion, "" for all else.
      root: whether its result is its body's.
      line: the whole.
    """

    name: str
    kind: str
    result: str
    operands: list[str]
    scope: str
    called: str
    root: bool
    line: str


class Cost(NamedTuple):
    """What an operation does each time that it runs.

    Attributes:
      scope: where in the sources it comes from.
      flops: of its products, two for each multiplication and addition.
      nbytes: of what it reads and writes; of arrays that it only slices, the slices.
    """

    scope: str
    flops: int
    nbytes: int


class Program:
    """A compiled program.

    Args:
      text: as XLA writes it.
    """

    def __init__(self, text: str) -> None:
        self.bodies: dict[str, list[Instruction]] = {}
        body: list[Instruction] = []
        for line in text.splitlines():
            if line.endswith("{") and not line.startswith(" "):
                name = re.match(r"(?:ENTRY )?%?([\w.\-]+)", line)
                body = self.bodies.setdefault(name.group(1) if name else "", [])
            elif operation := instruction(line):
                body.append(operation)
        every = [entry for body in self.bodies.values() for entry in body]
        self._all = {entry.name: entry for entry in every}

    def costs(self) -> dict[str, Cost]:
        """What each operation does, by its name."""
        return {
            operation.name: Cost(
                operation.scope, self._flops(operation), self._written(operation) + self._read(operation)
            )
            for operation in self._all.values()
        }

    def _body(self, operation: Instruction) -> list[Instruction]:
        return self.bodies.get(operation.called, [])

    def _flops(self, operation: Instruction) -> int:
        if operation.kind != "dot":
            return sum(self._flops(each) for each in self._body(operation))
        contracted = CONTRACTED.search(operation.line)
        _, sizes = SHAPE.findall(self._all[operation.operands[0]].result)[0]
        depth = 1
        for axis in filter(None, contracted.group(1).split(",") if contracted else ()):
            depth *= int(sizes.split(",")[int(axis)])
        return 2 * depth * elements(SHAPE.findall(operation.result)[0][1])

    def _written(self, operation: Instruction) -> int:
        """A slice that is put into an array is written in its place: the rest is left alone."""
        root = next((each for each in self._body(operation) if each.root), operation)
        if root.kind == "dynamic-update-slice":
            return nbytes(self._all[root.operands[1]].result)
        return nbytes(operation.result)

    def _read(self, operation: Instruction) -> int:
        inside = {
            each.line.partition("parameter(")[2].partition(")")[0]: each
            for each in self._body(operation)
            if each.kind == "parameter"
        }
        total = 0
        for number, name in enumerate(operation.operands):
            parameter = inside.get(str(number))
            whole = nbytes(self._all[name].result) if name in self._all else 0
            users = [each for each in self._body(operation) if parameter and parameter.name in each.operands]
            total += self._sliced(parameter.name, users, whole) if parameter else whole
        if operation.kind in ("dynamic-slice", "slice"):
            return nbytes(operation.result)
        return nbytes(operation.result) if operation.kind == "dynamic-update-slice" else total

    def _sliced(self, name: str, users: list[Instruction], whole: int) -> int:
        """What a fusion reads of an operand: the slices, where it does nothing else with it."""
        total = 0
        for user in users:
            if user.operands[0] != name:
                return whole
            if user.kind in ("dynamic-slice", "slice"):
                total += nbytes(user.result)
            elif user.kind != "dynamic-update-slice":
                return whole
        return min(total, whole)


def instruction(line: str) -> Instruction | None:
    """A line of a body; None for any other."""
    match = DEFINED.match(line)
    if not match:
        return None
    root, name, result, kind, rest = match.groups()
    scope, called = SCOPE.search(line), CALLS.search(line)
    return Instruction(
        name,
        kind,
        result,
        OPERAND.findall(rest.split("), ")[0]),
        scope.group(1) if scope else "",
        called.group(1) if called else "",
        bool(root),
        line,
    )


def elements(shape: str) -> int:
    """How many numbers an array of a shape as HLO writes it, "128,10", has."""
    count = 1
    for size in filter(None, shape.split(",")):
        count *= int(size)
    return count


def nbytes(text: str) -> int:
    """Bytes of all arrays whose shapes are in a text."""
    arrays = SHAPE.findall(text)
    return sum(elements(shape) * BITS.get(kind, 32) // 8 for kind, shape in arrays)
