"""Random mutations of the whole program, of the kinds of mistakes that people make.

First a kind is drawn with equal probability, then a place of that kind. A place in a file that recent commits rewrote
completely is four times as likely as one in a file that they did not change. Each file is drawn at most once.

- comparison: `<=` for `<` next to an integer, otherwise `>` for `<`; `!=` for `==`, `not in` for `in`
- division: `%` for `//`, and the reverse
- term: the last term, factor or condition is dropped
- index: 1 for 0, 0 for −1, another axis, a slice without its end
- guard: an early return or error that never happens; a value that is not escaped, clipped, sorted or bounded
"""

import ast
import json
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutations.places import Place

FOLDERS = ("ensemble", "pages")
RECENT_COMMITS = 400
RECENT_WEIGHT = 3.0
WHOLE = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
REVERSED = {ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<="}
OPPOSITE = {ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}
BOUNDING = ("escape", "quote", "clip", "sorted", "abs", "max", "min", "casefold")
AXES = ("axis", "ddof", "k", "decimals")


class Slip(NamedTuple):
    """A byte range of a source file and its replacement."""

    kind: str
    begin: int
    end: int
    new: str


class SlipFinder(ast.NodeVisitor):
    """Collects all possible slips in a source."""

    def __init__(self, source: str) -> None:
        self.slips: list[Slip] = []
        self._source = source.encode()
        self._starts = [0]
        for line in self._source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.visit(ast.parse(source))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip: before Python 3.12 expressions inside f-strings have no positions."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in (*node.defaults, *filter(None, node.kw_defaults)):
            self.visit(default)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Skip: assertions in the program only inform the type checker."""

    def visit_If(self, node: ast.If) -> None:
        is_guard = len(node.body) == 1 and isinstance(node.body[0], ast.Return | ast.Raise | ast.Continue)
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if is_guard and not node.orelse:
            self._add("guard", node.test, node.test, "False")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            kind, sides = type(node.ops[0]), (node.left, node.comparators[0])
            swapped = OPPOSITE | (WHOLE if any(map(is_whole, sides)) else REVERSED)
            left, right = (self._get_text(side) for side in sides)
            self._add("comparison", node, node, f"{left} {swapped[kind]} {right}")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        left, right = self._get_text(node.left), self._get_text(node.right)
        if isinstance(node.op, ast.FloorDiv):
            self._add("division", node, node, f"{left} % {right}")
        elif isinstance(node.op, ast.Mod) and not is_text(node.left):
            self._add("division", node, node, f"{left} // {right}")
        elif isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div) and not (
            is_text(node.left) or is_text(node.right)
        ):
            self._add("term", node, node, left)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._add("term", node.values[0], node.values[-1], self._get_text(node.values[0], node.values[-2]))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        place = node.slice
        if isinstance(place, ast.Slice) and (place.upper or place.lower) and place.step is None:
            self._add("index", place, place, self._get_text(place.lower) + ":" if place.upper and place.lower else ":")
        elif (number := get_whole_number(place)) is not None:
            self._add("index", place, place, "1" if number == 0 else "0")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (
            any(word in BOUNDING for word in name.split("_"))
            and node.args
            and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp)
        ):
            first = self._get_text(node.args[0])
            if name in ("max", "min") and len(node.args) == 1:
                pass
            elif name == "sorted":
                self._add("guard", node, node, f"list({first})")
            else:
                self._add("guard", node, node, f"({first})")
        for keyword in node.keywords:
            if keyword.arg in AXES and (number := get_whole_number(keyword.value)) is not None:
                self._add("index", keyword.value, keyword.value, "1" if number == 0 else "0")
        self.generic_visit(node)

    def _add(self, kind: str, first: ast.expr, last: ast.expr, new: str) -> None:
        self.slips.append(Slip(kind, self._find_begin(first), self._find_end(last), new))

    def _get_text(self, first: ast.expr | None, last: ast.expr | None = None) -> str:
        """Return the source from one node to another, in parentheses if it spans lines or is an operation."""
        if first is None:
            return ""
        begin, end = self._find_begin(first), self._find_end(last or first)
        text = self._source[begin:end].decode()
        return (
            f"({text})" if "\n" in text or isinstance(first, ast.BinOp | ast.BoolOp | ast.IfExp | ast.Compare) else text
        )

    def _find_begin(self, node: ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _find_end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def is_whole(node: ast.expr) -> bool:
    is_length = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len"
    return is_length or get_whole_number(node) is not None


def get_whole_number(node: ast.AST) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = get_whole_number(node.operand)
        return None if number is None else -number
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def draw_places(root: Path, count: int, seed: int) -> list[Place]:
    """Draw places of a checkout.

    Args:
      root: checkout, a git repository.
      count: number of places; fewer are returned if there are not as many.
      seed: random seed. The places also depend on the sources and on the recent commits.
    """
    changed, weights = count_recent_changes(root), dict[str, float]()
    slips: dict[str, list[tuple[str, Slip]]] = defaultdict(list)
    sources = {}
    for file in sorted(file for folder in FOLDERS for file in (root / folder).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        sources[path] = source = file.read_text("utf-8")
        weights[path] = 1 + RECENT_WEIGHT * min(1.0, changed[path] / max(1, source.count("\n")))
        for slip in SlipFinder(source).slips:
            slips[slip.kind].append((path, slip))
    generator, places, drawn = random.Random(seed), list[Place](), set[str]()
    while len(places) < count and slips:
        kind = generator.choice(sorted(slips))
        path, slip = generator.choices(slips[kind], [weights[path] for path, _ in slips[kind]])[0]
        place = build_place(len(places) + 1, path, sources[path], slip)
        if place and path not in drawn:
            places.append(place)
            drawn.add(path)
        else:
            slips[kind].remove((path, slip))
        if not slips[kind]:
            del slips[kind]
    return places


def count_recent_changes(root: Path) -> Counter[str]:
    """Count the lines that recent commits added to each file, without commits that only changed the layout."""
    ignored = root / ".git-blame-ignore-revs"
    layout = ignored.read_text("utf-8").split() if ignored.is_file() else []
    words = ["git", "log", f"-{RECENT_COMMITS}", "--no-merges", "--format=commit %H", "--numstat", "--", *FOLDERS]
    output = subprocess.run(words, cwd=root, check=True, capture_output=True, text=True).stdout
    changes: Counter[str] = Counter()
    is_layout = False
    for line in output.splitlines():
        if line.startswith("commit "):
            is_layout = line.split()[1] in layout
        elif (fields := line.split("\t"))[0].isdecimal() and not is_layout:
            changes[fields[2]] += int(fields[0])
    return changes


def build_place(number: int, path: str, source: str, slip: Slip) -> Place | None:
    """Build a place with enough preceding lines to be unique; None if the result is invalid or equal Python."""
    content = source.encode()
    begin, end = content.rfind(b"\n", 0, slip.begin) + 1, content.find(b"\n", slip.end)
    while True:
        old = content[begin:end].decode()
        new = (content[begin : slip.begin] + slip.new.encode() + content[slip.end : end]).decode()
        place = Place(number, path, old.strip(), new.strip(), f"{slip.kind}: {describe(content, slip)}")
        if place.count_matches(source) == 1:
            break
        if begin == 0:
            return None
        begin = content.rfind(b"\n", 0, begin - 1) + 1
    try:
        broken = ast.parse(place.break_source(source))
    except SyntaxError:
        return None
    return None if ast.dump(broken) == ast.dump(ast.parse(source)) else place


def describe(content: bytes, slip: Slip) -> str:
    return f"{' '.join(content[slip.begin : slip.end].decode().split())} → {' '.join(slip.new.split())}"


def save_places(file: Path, places: Sequence[Place]) -> None:
    """Write places in the format of `load_places`."""
    file.write_text("\n".join(format_places(places)), "utf-8")


def format_places(places: Sequence[Place]) -> Iterator[str]:
    for place in places:
        yield "[[place]]"
        for name in ("file", "old", "new", "why"):
            yield f"{name} = {json.dumps(getattr(place, name), ensure_ascii=False)}"
        yield ""
