"""Docstrings and comments name what exists: in backticks, and in the arguments and attributes that they list."""

import ast
import builtins
import itertools
import keyword
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import pytest

from tests.conftest import REPO

SOURCES = ("ensemble", "pages", "app.py")
# Files in these folders may be named, too.
NAMED_FOLDERS = (*SOURCES, ".streamlit", "benchmarks", "deploy", "docs", "scripts", "tests")
PACKAGES = ("ensemble", "pages", "tests", "benchmarks")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

BACKTICKS = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
COMMENT = re.compile(r"(?:^|\s)#(?:\s.*)?$", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")
NAME_OR_CALL = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?")
CONSTANT = re.compile(r"(?<![\w.$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-]|\.\w)")
ERROR = re.compile(r"(?<![\w.])[A-Z]\w*(?:Error|Exception)\b")
LOUD_WORD = re.compile(r"(?<![\w.'\"$/-])[A-Z]{4,}(?![\w'\"/-])")
QUIET_WORD = re.compile(r"(?<![\w.`])[a-z]{4,}(?![\w`])")
DATA_FILE = re.compile(r"([\w-]+)\.(?:json|jsonl|npy|npz|csv|txt)")
CAMEL_CASE = re.compile(r"[A-Z]+[a-z0-9]+[A-Z]\w*")
FILE = re.compile(r"(?<![\w./{-])\.?\w[\w./-]*\.(?:py|md|toml|yml|yaml|js|css)(?![\w/-]|\.\w)")
IMPORT = re.compile(r"from ((?:ensemble|benchmarks|tests)[\w.]*) import ((?:\w+, )*\w+)")
SELF_ATTRIBUTE = re.compile(r"\b(?:self|cls)\.(\w+)")
SECTION = re.compile(r"( *)(Args|Attributes|Returns|Yields|Raises|Source|Example|Note):\s*")
ENTRY = re.compile(r"([*]{0,2}[A-Za-z_]\w*(?:, [*]{0,2}[A-Za-z_]\w*)*)(?: \([^)]*\))?:(?:\s|$)")

# Words in capitals that are no constants although names have them in small letters.
CAPITALS = {"AUROC", "CRPS", "MNIST", "NAME", "OWASP", "RAPS", "RMSE"}
# What docstrings may name although no source of this program defines it, and why.
ALLOWED = {
    "ascontiguousarray": "of NumPy",
    "custom_loop_pmap_example": "an example of jaxopt",
    "customdata": "of Plotly",
    "EX_TEMPFAIL": "a code in sysexits.h",
    "FORWARDED_ALLOW_IPS": "a variable of uvicorn",
    "ewm(alpha=1 - weight).mean()": "of pandas",
    "module.apply(run.parameters(0), images)": "of Flax",
    "multiclass_logreg": "an example of jaxopt",
    "np.rot90": "of NumPy",
    "rglob": "of pathlib",
    "server.disconnectedSessionTTL": "a setting of Streamlit",
    "server.NAME": "any setting of Streamlit's server",
    "su": "a command of the system",
    "sudo": "a command of the system",
    "sysexits.h": "a header of the C library",
    "test_kfold_can_detect_dependent_samples_on_digits": "a test of scikit-learn",
    "ensemble.toml": "a file that users write",
    "random.py": "a user's file that hides a module of Python",
    "sign_mnist_test.csv": "a user's file",
    "logit_NAME": "a column; NAME is a class",
    "ID_0_log.out": "a file of Slurm; ID is a job",
    "__MACOSX": "a folder in archives of macOS",
    "notes.md": "a file in a run's folder",
    "images-32x32x3.npz": "a file of an export",
    "train_epoch": "a function of Flax's HOWTO",
    "food101": "a dataset of TensorFlow Datasets",
    "x_train": "an array in a user's file",
    "y_train": "an array in a user's file",
    "leaves_2": "a dataset's name",
    "leaves_3": "a dataset's name",
}


@dataclass
class Source:
    """One source file.

    Attributes:
      file: its path in the repository.
      tree: its statements.
      docstrings: each docstring with the line where it begins, and what it describes.
      code: its text without docstrings and comments.
      comments: each comment with its line.
      libraries: the names under which it imports what is not of this project.
      imports: the modules that it imports, and what it imports from them: "ensemble.runs.Run".
      statements: its statements, also the inner ones.
    """

    file: str
    text: str
    tree: ast.Module = field(init=False)
    docstrings: list[tuple[int, str, Any]] = field(default_factory=list)
    code: list[str] = field(init=False)
    comments: list[tuple[int, str]] = field(default_factory=list)
    libraries: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    statements: list[ast.stmt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.text)
        self.code = self.text.splitlines()
        self.visit(self.tree)
        for statement in self.statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self.add_import(statement)
        for number, line in enumerate(self.code):
            if "#" in line and (comment := COMMENT.search(line)):
                self.comments.append((number + 1, comment[0]))
                self.code[number] = line[: comment.start()]

    def add_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        """Sort the names of an import into those of libraries and those of this project."""
        module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
        names = {
            alias.name if isinstance(statement, ast.Import) else f"{module}.{alias.name}" for alias in statement.names
        }
        if all(name.split(".")[0] in PACKAGES for name in names):
            self.imports |= {module} | names
        else:
            self.libraries |= set(list_bound_names(statement))

    def visit(self, node: ast.AST) -> None:
        """Take statements and docstrings of a node, not its expressions."""
        body = getattr(node, "body", [])
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                self.docstrings.append((first.lineno, value.value, node))
                self.code[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            for statement in getattr(node, part, []):
                if isinstance(statement, ast.AST):
                    self.statements.append(statement)
                    self.visit(statement)


class Names:
    """Every name in some sources."""

    def __init__(self, sources: list[Source], files: set[str]) -> None:
        self.files = files
        self.everywhere = {*dir(builtins), *keyword.kwlist}
        self.of_file: dict[str, set[str]] = {}
        self.of_folder: defaultdict[PurePosixPath, set[str]] = defaultdict(set)
        self.of_module: defaultdict[str, set[str]] = defaultdict(set)
        self.of_class: defaultdict[str, set[str]] = defaultdict(set)
        self.bases: defaultdict[str, set[str]] = defaultdict(set)
        self.functions: set[str] = set()
        self.prose: set[str] = set()
        self.libraries: set[str] = set()
        self.imports: dict[str, set[str]] = {}
        for source in sources:
            self.add_source(source)

    def add_source(self, source: Source) -> None:
        """Add the names of one source."""
        path = PurePosixPath(source.file)
        parts = path.with_suffix("").parts
        found = {*parts, *WORD.findall("\n".join(source.code))}
        self.of_file[source.file] = found
        self.of_folder[path.parent] |= found
        self.everywhere |= found
        self.libraries |= source.libraries
        self.imports[source.file] = source.imports
        for _, text, _ in source.docstrings:
            self.prose.update(QUIET_WORD.findall(text))
        for outer, inner in itertools.pairwise(parts):
            self.of_module[outer].add(inner)
        module = self.of_module[path.parent.name if path.stem == "__init__" else path.stem]
        for statement in source.statements:
            module.update(list_bound_names(statement))
            if isinstance(statement, ast.ClassDef):
                self.add_class(statement, source)
            elif isinstance(statement, FUNCTIONS):
                self.functions.add(statement.name)

    def add_class(self, node: ast.ClassDef, source: Source) -> None:
        """Add the members of one class."""
        code = "\n".join(source.code[node.lineno - 1 : node.end_lineno])
        members = {name for part in node.body for name in list_bound_names(part)}
        self.of_class[node.name] |= members | set(SELF_ATTRIBUTE.findall(code))
        self.bases[node.name].update(WORD.findall(ast.unparse(base))[-1] for base in node.bases)

    def exists(self, text: str, file: str) -> bool:
        """Whether a text in backticks exists, or does not look like a name."""
        if text in ALLOWED or FILE.fullmatch(text):
            return text in ALLOWED or self.is_file(text)
        if found := DATA_FILE.fullmatch(text):
            return set(WORD.findall(found[1])) <= self.everywhere
        found = NAME_OR_CALL.fullmatch(text)
        if not found:
            return True
        *owners, name = found[1].split(".")
        if owners:
            return self.is_member(owners, name, file)
        if "_" in name or CAMEL_CASE.fullmatch(name):
            return name in self.everywhere
        return not name.islower() or name in self.list_near_names(file)

    def list_near_names(self, file: str) -> set[str]:
        """The names in a file's folder and in the modules that it imports; for the API, which forwards, all names."""
        if file.startswith("ensemble/api/"):
            return self.everywhere
        found = self.of_folder[PurePosixPath(file).parent] | set(dir(builtins)) | set(keyword.kwlist)
        for module in self.imports[file]:
            path = module.replace(".", "/")
            found |= self.of_file.get(f"{path}.py", set()) | self.of_file.get(f"{path}/__init__.py", set())
        return found

    def is_file(self, text: str) -> bool:
        """Whether a file of this path, or of the end of one, exists."""
        return text in ALLOWED or any(file == text or file.endswith(f"/{text}") for file in self.files)

    def is_member(self, owners: list[str], name: str, file: str) -> bool:
        """Whether a module, class or variable has a member; the members of libraries are not known."""
        owner, path = owners[-1], "/".join([*owners, name])
        if owners[0] in self.libraries or self.is_file(f"{path}.py") or self.is_file(f"{path}/__init__.py"):
            return True
        if owner in self.of_class:
            return self.is_class_member(owner, name)
        if name in self.of_module.get(owner, ()):
            return True
        if "_" in owner and owner in self.functions:
            return False
        is_variable = owner in self.of_file[file] and (owner not in self.of_module or name in self.of_file[file])
        return is_variable and name in self.everywhere

    def is_class_member(self, owner: str, name: str) -> bool:
        """Whether a class or one of its bases has a member; what libraries' classes have is not known."""
        if name in self.of_class.get(owner, ()):
            return True
        return any(base not in self.of_class or self.is_class_member(base, name) for base in self.bases[owner])


def list_bound_names(statement: ast.AST) -> Iterator[str]:
    """The names that a statement binds, without those within its block."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def find_unknown_names(source: Source, names: Names) -> Iterator[str]:
    """What docstrings and comments name although it does not exist."""
    for first, text in [(line, text) for line, text, _ in source.docstrings] + source.comments:
        for found in BACKTICKS.finditer(text):
            if not names.exists(found[1], source.file):
                line = first + text.count("\n", 0, found.start())
                yield f"{source.file}:{line}: `{found[1]}` does not exist"
        for name in list_names_without_backticks(BACKTICKS.sub("", text), source, names):
            yield f"{source.file}:{first}: {name} does not exist"


def list_names_without_backticks(text: str, source: Source, names: Names) -> Iterator[str]:
    """Constants, errors, files, imports and calls of the own package that a text names although they do not exist."""
    yield from (name for name in CONSTANT.findall(text) if name not in names.everywhere and name not in ALLOWED)
    yield from (name for name in ERROR.findall(text) if name not in names.everywhere)
    if not source.file.startswith("ensemble/cli/"):  # whose help has the names of values in capitals
        loud = {word for word in LOUD_WORD.findall(text.split("Source:")[0]) if word.lower() in names.prose}
        loud -= CAPITALS
        if loud:
            yield from sorted(loud - names.list_near_names(source.file))
    if ".py" in text or ".md" in text:
        yield from (name for name in FILE.findall(text) if not names.is_file(name))
    for module, imported in IMPORT.findall(text):
        for name in imported.split(", "):
            if not names.is_member(module.split("."), name, source.file):
                yield f"{module}.{name}"
    if source.file.endswith("/__init__.py"):
        package = PurePosixPath(source.file).parent.name
        for name in re.findall(rf"(?<![\w./]){package}\.(\w+)", text):
            if name not in names.of_module[package]:
                yield f"{package}.{name}"


def list_entries(docstring: str, section: str) -> list[str]:
    """The names that a section of a docstring documents."""
    found: list[str] = []
    outer: int | None = None  # the section's indentation, once it has begun
    inner = 0
    for line in docstring.splitlines():
        indent = len(line) - len(line.lstrip())
        if head := SECTION.fullmatch(line):
            outer, inner = (indent, 0) if head[2] == section else (None, 0)
        elif outer is not None and line.strip():
            inner = inner or indent
            if indent <= outer:
                outer = None
            elif indent == inner and (entry := ENTRY.match(line.strip())):
                found += [name.lstrip("*") for name in entry[1].split(", ")]
    return found


def find_wrong_entries(source: Source, names: Names) -> Iterator[str]:
    """Arguments and attributes that are documented but do not exist, or are documented twice."""
    for line, text, node in source.docstrings:
        if isinstance(node, ast.Module) or ":" not in text:
            continue
        for section, list_known in (("Args", list_arguments), ("Attributes", list_attributes)):
            entries = list_entries(text, section)
            known = list_known(node) if entries else set()
            for name in sorted(set(entries)):
                if name not in known and not (section == "Attributes" and names.is_class_member(node.name, name)):
                    yield f"{source.file}:{line}: {node.name} has no {name!r}, which {section} lists"
                if entries.count(name) > 1:
                    yield f"{source.file}:{line}: {node.name} documents {name!r} twice"


def list_arguments(node: Any) -> set[str]:
    """The parameters of a function, or of those that create an instance of a class."""
    if isinstance(node, ast.ClassDef):
        constructors = [part for part in node.body if isinstance(part, FUNCTIONS) and part.name == "__init__"]
        return list_arguments(constructors[0]) if constructors else list_attributes(node)
    return {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}


def list_attributes(node: Any) -> set[str]:
    """A class's fields and properties, and what its methods set."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, FUNCTIONS):
            found.add(part.name)
        elif isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
            found.add(part.id if isinstance(part, ast.Name) else part.attr)
    return found


def read_sources() -> list[Source]:
    """Every source of the program."""
    paths = [path for top in SOURCES for path in ([REPO / top] if top.endswith(".py") else (REPO / top).rglob("*.py"))]
    return [Source(path.relative_to(REPO).as_posix(), path.read_text()) for path in sorted(paths)]


def list_files() -> set[str]:
    """The names of all files that a docstring may mention."""
    inner = {path.relative_to(REPO).as_posix() for folder in NAMED_FOLDERS for path in (REPO / folder).rglob("*")}
    return inner | {path.name for path in REPO.iterdir()}


@pytest.fixture(scope="module")
def sources(collector: None) -> list[Source]:
    """Every source of the program, parsed once."""
    return read_sources()


@pytest.fixture(scope="module")
def names(sources: list[Source]) -> Names:
    """Every name in them."""
    return Names(sources, list_files())


def test_names_in_docstrings_and_comments_exist(sources: list[Source], names: Names) -> None:
    found = [fault for source in sources for fault in find_unknown_names(source, names)]
    assert not found, "\n".join(found)


def test_documented_arguments_and_attributes_exist(sources: list[Source], names: Names) -> None:
    found = [fault for source in sources for fault in find_wrong_entries(source, names)]
    assert not found, "\n".join(found)


OTHER_MODULE = "MAX_SIZE = 3\n\n\nclass Box:\n    width: int\n\n\ndef measure_box(box, unit): ...\n"


def check_docstring(text: str, before: str = "", file: str = "ensemble/boxes/filling.py") -> list[str]:
    """The faults of one made-up function whose module lies beside another."""
    other = Source("ensemble/boxes/measures.py", OTHER_MODULE)
    source = Source(file, f'{before}\ndef fill_box(size, *names, **options):\n    """{text}"""\n')
    names = Names([other, source], {"ensemble/boxes/measures.py", "ensemble/boxes/filling.py", "docs/boxes.md"})
    return [*find_unknown_names(source, names), *find_wrong_entries(source, names)]


@pytest.mark.parametrize(
    "text",
    [
        "As `measure_box` or `measures.measure_box(box)` with `MAX_SIZE`, `size` and `unit`, or JSON.",
        "A `Box`, its `Box.width`, `boxes.measures`, `measures.py`, docs/boxes.md and boxes/filling.py.",
        "Any expression: `a + b`, `--option`, `/data`, `None`, `len`, `np.anything`, `x`.replace('x', 'size').",
        "See MAX_SIZE. from ensemble.boxes.measures import Box, measure_box",
        "Fill.\n\n    Args:\n      size: its size,\n        note: a second line.\n      names: all.\n",
        "Fill.\n\n    Args:\n      size, names: both.\n\n    Returns:\n      other: what is no argument.\n    ",
    ],
)
def test_existing_names_are_no_faults(text: str) -> None:
    assert check_docstring(text, before="import numpy as np\nx = 1\n") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("As `measure_boxes`.", "`measure_boxes` does not exist"),
        ("As `measure_boxes(box)`.", "`measure_boxes(box)` does not exist"),
        ("A `BigBox`.", "`BigBox` does not exist"),
        ("Its `Box.height`.", "`Box.height` does not exist"),
        ("As `measures.fill_box`.", "`measures.fill_box` does not exist"),
        ("As `measure_box.unit`.", "`measure_box.unit` does not exist"),
        ("Its `weight`.", "`weight` does not exist"),
        ("In `weights.json`.", "`weights.json` does not exist"),
        ("See weighing.py.", "weighing.py does not exist"),
        ("See MIN_SIZE.", "MIN_SIZE does not exist"),
        ("Fill.\n\n    Raises:\n      FullError: it is full.\n    ", "FullError does not exist"),
        ("At most LIMIT boxes: the limit.", "LIMIT does not exist"),
        ("from ensemble.boxes.measures import fill_box", "ensemble.boxes.measures.fill_box does not exist"),
        ("Fill.\n\n    Args:\n      weight: its own.\n    ", "fill_box has no 'weight', which Args lists"),
        ("Fill.\n\n    Args:\n      size: one.\n      size: two.\n    ", "fill_box documents 'size' twice"),
    ],
)
def test_faults_are_found(text: str, fault: str) -> None:
    assert [line.split(": ", 1)[1] for line in check_docstring(text)] == [fault]


def test_examples_of_a_package_call_what_it_has() -> None:
    text = "boxes.fill_box(3) or boxes.make_box(3)"
    faults = check_docstring(text, file="ensemble/boxes/__init__.py")
    assert faults == ["ensemble/boxes/__init__.py:3: boxes.make_box does not exist"]


def test_faults_in_comments_have_their_line() -> None:
    assert check_docstring("Fill.", before="size = 1\nsize = 2  # as `old_size`\n") == [
        "ensemble/boxes/filling.py:2: `old_size` does not exist"
    ]


def test_attributes_may_be_fields_properties_or_inherited() -> None:
    base = 'class Base:\n    """A base."""\n    kind: str\n\n\n'
    text = "A box.\n\n    Attributes:\n      kind: inherited.\n      area: a property.\n      {}: a field.\n    "
    body = "    size: int\n\n    @property\n    def area(self): ...\n"
    for field_name, faults in (("size", 0), ("depth", 1)):
        source = Source("ensemble/box.py", f'{base}class Box(Base):\n    """{text.format(field_name)}"""\n{body}')
        assert len(list(find_wrong_entries(source, Names([source], set())))) == faults
