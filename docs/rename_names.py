"""Carry out the map of names: docs/renames.tsv, package by package.

    python docs/rename_names.py docs/renames.tsv ensemble/analysis [ensemble/storage ...]

Names are edited where they stand; nothing else of a file changes. Functions, classes and constants
of modules are found by Python's own rules of scope, through imports and re-exports; methods and
fields by the types that mypy infers. What cannot be told is printed, for a person to look at:

    unresolved  an attribute of an unknown type that could be meant
    collision   a new name that would hide, or be hidden by, another one
"""

# mypy: ignore-errors
import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOTS = ("ensemble", "pages", "tests", "benchmarks", "scripts")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (
    *FUNCTIONS,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def list_foreign_names() -> set[str]:
    """Attributes that things of others have as well: never guessed."""
    import datetime
    import threading

    import click
    import jax
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    import psutil
    import streamlit as st
    from PIL import Image
    from playwright.sync_api import Browser, Locator, Page, Request
    from streamlit.testing.v1 import AppTest, element_tree

    kinds = [str, bytes, list, dict, set, tuple, int, float, Path, re.Match, re.Pattern, ast, os]
    kinds += [np, np.ndarray, np.random.Generator, pd, pd.DataFrame, pd.Series, jax, jax.Array]
    kinds += [jax.lax, jax.numpy, go.Figure, psutil.Process, st, st.delta_generator.DeltaGenerator]
    kinds += [Image.Image, Browser, Locator, Page, Request, AppTest, subprocess.Popen, click]
    kinds += [click.Context, datetime.datetime, threading.Thread, threading.Event, subprocess]
    kinds += [one for one in vars(element_tree).values() if isinstance(one, type)]
    names = {name for one in kinds for name in dir(one)}
    return names | {"status", "step", "state", "url", "page", "args", "run", "name", "value"}


def module_name(path: str) -> str:
    name = path.removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


@dataclass
class Scope:
    """What a piece of code binds."""

    node: ast.AST
    parent: "Scope | None"
    bound: set[str] = field(default_factory=set)
    imports: dict[str, str] = field(default_factory=dict)  # name -> qualified name
    globals: set[str] = field(default_factory=set)
    functions: dict[str, ast.AST] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)


class File:
    """A module, its text, and the edits that it gets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = module_name(path.as_posix())
        self.is_package = path.name == "__init__.py"
        self.text = path.read_text()
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)
        self.edits: dict[tuple[int, int], tuple[str, str]] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self.module_scope = Scope(self.tree, None)
        self.scopes[self.tree] = self.module_scope
        Binder(self).visit(self.tree)

    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        base = self.package().split(".")
        base = base[: len(base) - node.level + 1]
        return ".".join([*base, *filter(None, [node.module])])

    def byte_to_char(self, line: int, col: int) -> int:
        return len(self.lines[line - 1].encode()[:col].decode())

    def edit(self, line: int, char: int, old: str, new: str) -> bool:
        """Note an edit; False where another text stands there."""
        if self.lines[line - 1][char : char + len(old)] != old:
            return False
        known = self.edits.get((line, char))
        if known and known != (old, new):
            print(f"conflict    {self.path}:{line}: {old} -> {known[1]} or {new}")
        self.edits[line, char] = (old, new)
        return True

    def apply(self) -> None:
        if not self.edits:
            return
        lines = list(self.lines)
        for (line, char), (old, new) in sorted(self.edits.items(), reverse=True):
            text = lines[line - 1]
            assert text[char : char + len(old)] == old, (self.path, line, char, old)
            lines[line - 1] = text[:char] + new + text[char + len(old) :]
        self.path.write_text("\n".join(lines))


class Binder(ast.NodeVisitor):
    """Notes which names each scope of a file binds."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.scope = file.module_scope

    def inside(self, node: ast.AST, visit: list) -> None:
        outer, self.scope = self.scope, Scope(node, self.scope)
        self.file.scopes[node] = self.scope
        for child in visit:
            self.visit(child)
        self.scope = outer

    def bind(self, name: str) -> None:
        if name not in self.scope.globals:
            self.scope.bound.add(name)

    def visit_function(self, node) -> None:
        self.bind(node.name)
        self.scope.functions[node.name] = node
        for one in [
            *node.decorator_list,
            *node.args.defaults,
            *filter(None, node.args.kw_defaults),
        ]:
            self.visit(one)
        a = node.args
        every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]
        for one in every:
            if one.annotation:
                self.visit(one.annotation)
        if node.returns:
            self.visit(node.returns)
        outer, self.scope = self.scope, Scope(node, self.scope)
        self.file.scopes[node] = self.scope
        self.scope.bound |= {one.arg for one in every}
        for one in node.body:
            self.visit(one)
        self.scope = outer

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function  # noqa: N815

    def visit_Lambda(self, node) -> None:
        a = node.args
        for one in [*a.defaults, *filter(None, a.kw_defaults)]:
            self.visit(one)
        outer, self.scope = self.scope, Scope(node, self.scope)
        self.file.scopes[node] = self.scope
        every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]
        self.scope.bound |= {one.arg for one in every}
        self.visit(node.body)
        self.scope = outer

    def visit_ClassDef(self, node) -> None:
        self.bind(node.name)
        for one in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(one)
        self.inside(node, node.body)

    def comprehension(self, node) -> None:
        first = node.generators[0]
        self.visit(first.iter)
        rest = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts = [first.target, *first.ifs]
        for one in node.generators[1:]:
            parts += [one.target, one.iter, *one.ifs]
        self.inside(node, [*parts, *rest])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension  # noqa: N815

    def visit_NamedExpr(self, node) -> None:
        self.visit(node.value)
        scope = self.scope
        while isinstance(scope.node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            scope = scope.parent
        scope.bound.add(node.target.id)

    def visit_Name(self, node) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.bind(node.id)

    def visit_Global(self, node) -> None:
        self.scope.globals |= set(node.names)

    visit_Nonlocal = visit_Global  # noqa: N815

    def visit_Import(self, node) -> None:
        for one in node.names:
            if one.asname:
                self.bind(one.asname)
                self.scope.imports[one.asname] = one.name
            else:
                top = one.name.partition(".")[0]
                self.bind(top)
                self.scope.imports[top] = top

    def visit_ImportFrom(self, node) -> None:
        base = self.file.absolute(node)
        for one in node.names:
            name = one.asname or one.name
            self.bind(name)
            self.scope.imports[name] = f"{base}.{one.name}"

    def visit_ExceptHandler(self, node) -> None:
        if node.name:
            self.bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node) -> None:
        if node.name:
            self.bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node) -> None:
        if node.name:
            self.bind(node.name)

    def visit_MatchMapping(self, node) -> None:
        if node.rest:
            self.bind(node.rest)
        self.generic_visit(node)


class Project:
    """All files, and where names come from."""

    def __init__(self) -> None:
        paths = [Path("app.py")] if Path("app.py").exists() else []
        for root in ROOTS:
            paths += sorted(Path(root).rglob("*.py"))
        self.files = [File(path) for path in paths]
        self.by_name = {file.name: file for file in self.files}

    def resolve(self, module: str, name: str, depth: int = 0) -> str:
        """The qualified name behind a module's attribute, through imports."""
        file = self.by_name.get(module)
        if file is None or depth > 12:
            return f"{module}.{name}"
        target = file.module_scope.imports.get(name)
        if target and target != f"{module}.{name}":
            return self.resolve_target(target, depth + 1)
        return f"{module}.{name}"

    def resolve_target(self, target: str, depth: int = 0) -> str:
        """The qualified name behind what an import names."""
        base, _, name = target.rpartition(".")
        if target in self.by_name:
            # A name that a package has imported hides its submodule of that name.
            file = self.by_name.get(base)
            inner = file.module_scope.imports.get(name) if file else None
            if inner and inner != target and depth < 12:
                return self.resolve_target(inner, depth + 1)
            return target
        if base in self.by_name:
            return self.resolve(base, name, depth)
        return target


@dataclass
class Map:
    """The part of the map that is carried out."""

    symbols: dict[str, str] = field(default_factory=dict)  # qualified -> new bare name
    members: dict[tuple[str, str], str] = field(default_factory=dict)  # (class, name) -> new
    nested: dict[str, str] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)  # old module -> new module
    paths: dict[str, str] = field(default_factory=dict)
    alias: set[str] = field(default_factory=set)


def read_map(path: Path, packages: list[str]) -> Map:
    found = Map()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        kind, old, new, note = [*line.split("\t"), "", ""][:4]
        file = old.partition("::")[0]
        if not any(file == one or file.startswith(one.rstrip("/") + "/") for one in packages):
            continue
        module, _, rest = module_name(file), "", old.partition("::")[2]
        if kind == "module":
            found.modules[module] = module_name(new)
            found.paths[old] = new
        elif kind in ("function", "class", "constant"):
            found.symbols[f"{module}.{rest}"] = new
            if note.startswith("alias"):
                found.alias.add(f"{module}.{rest}")
        elif kind in ("method", "field"):
            owner, _, name = rest.rpartition(".")
            found.members[f"{module}.{owner}", name] = new
        elif kind == "nested":
            found.nested[f"{module}.{rest}"] = new
        elif kind not in ("inline", "merge"):
            sys.exit(f"{path}:{number}: unknown kind {kind}")
    return found


class Renamer(ast.NodeVisitor):
    """Edits the module-level names that one file uses."""

    def __init__(self, project: Project, file: File, names: Map) -> None:
        self.project, self.file, self.names = project, file, names
        self.chain = [file.module_scope]
        self.qualifier: list[str] = []
        self.unresolved: list[str] = []

    # Where a name comes from.

    def lookup(self, name: str) -> tuple[Scope | None, str | None]:
        """The scope that binds a name, and the qualified name when that is the module's."""
        innermost = True
        for scope in reversed(self.chain):
            if name in scope.globals:
                innermost = False
                continue
            if scope.is_class and not innermost:
                continue
            innermost = False
            if name in scope.bound:
                if name in scope.imports:
                    return scope, self.project.resolve_target(scope.imports[name])
                if scope is self.file.module_scope:
                    return scope, f"{self.file.name}.{name}"
                return scope, None
        return None, None

    def check_collision(self, node: ast.AST, home: Scope, old: str, new: str) -> None:
        for scope in reversed(self.chain):
            if new in scope.bound and not (scope is home and self.will_be(scope, new)):
                print(f"collision   {self.file.path}:{node.lineno}: {old} -> {new}")
                return
            if scope is home:
                return

    def will_be(self, scope: Scope, new: str) -> bool:
        """Whether what a scope binds by a new name is itself renamed."""
        if new in scope.imports:
            target = self.project.resolve_target(scope.imports[new])
            return target in self.names.symbols or target in self.names.modules
        return f"{self.file.name}.{new}" in self.names.symbols

    def new_name(self, qualified: str | None) -> str | None:
        """The new bare name of a module-level thing or of a module."""
        if qualified is None:
            return None
        if qualified in self.names.symbols:
            return self.names.symbols[qualified]
        if qualified in self.names.modules:
            return self.names.modules[qualified].rpartition(".")[2]
        return None

    # Walking with scopes.

    def enter(self, node: ast.AST, children: list) -> None:
        self.chain.append(self.file.scopes[node])
        for child in children:
            self.visit(child)
        self.chain.pop()

    def edit_definition(self, node, new: str) -> None:
        line = node.lineno
        text = self.file.lines[line - 1]
        found = re.compile(rf"\b(?:def|class)\s+({re.escape(node.name)})\b").search(text)
        if found:
            self.file.edit(line, found.start(1), node.name, new)
        else:
            print(f"definition  {self.file.path}:{line}: {node.name}")

    def visit_function(self, node) -> None:
        for one in node.decorator_list:
            self.visit(one)
        a = node.args
        for one in [*a.defaults, *filter(None, a.kw_defaults)]:
            self.visit(one)
        for one in [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]:
            if one.annotation:
                self.annotation(one.annotation)
        if node.returns:
            self.annotation(node.returns)
        qualified = ".".join([self.file.name, *self.qualifier, node.name])
        if len(self.chain) == 1:
            if new := self.names.symbols.get(qualified):
                self.check_collision(node, self.file.module_scope, node.name, new)
                self.edit_definition(node, new)
        elif new := self.names.nested.get(qualified):
            self.edit_definition(node, new)
        self.qualifier.append(node.name)
        self.enter(node, node.body)
        self.qualifier.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function  # noqa: N815

    def visit_Lambda(self, node) -> None:
        for one in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(one)
        self.enter(node, [node.body])

    def visit_ClassDef(self, node) -> None:
        for one in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(one)
        qualified = ".".join([self.file.name, *self.qualifier, node.name])
        if len(self.chain) == 1 and (new := self.names.symbols.get(qualified)):
            self.check_collision(node, self.file.module_scope, node.name, new)
            self.edit_definition(node, new)
        self.qualifier.append(node.name)
        self.enter(node, node.body)
        self.qualifier.pop()

    def comprehension(self, node) -> None:
        first = node.generators[0]
        self.visit(first.iter)
        rest = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts = [first.target, *first.ifs]
        for one in node.generators[1:]:
            parts += [one.target, one.iter, *one.ifs]
        self.enter(node, [*parts, *rest])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension  # noqa: N815

    def visit_AnnAssign(self, node) -> None:
        self.visit(node.target)
        self.annotation(node.annotation)
        if node.value:
            self.visit(node.value)

    def visit_arg(self, node) -> None:
        if node.annotation:
            self.annotation(node.annotation)

    def annotation(self, node: ast.AST) -> None:
        """An annotation; a text in it is one, too, unless it stands in Literal."""
        for text in strings_of(node):
            self.annotation_text(text)
        self.visit(node)

    def annotation_text(self, node: ast.Constant) -> None:
        line = node.lineno
        char = self.file.byte_to_char(line, node.col_offset)
        quote = self.file.lines[line - 1][char]
        if quote not in "\"'" or self.file.lines[line - 1][char : char + 3] == quote * 3:
            return
        try:
            tree = ast.parse(node.value, mode="eval")
        except SyntaxError:
            return
        for name in ast.walk(tree):
            if isinstance(name, ast.Name):
                _, qualified = self.lookup(name.id)
                if new := self.new_name(qualified):
                    self.file.edit(line, char + 1 + name.col_offset, name.id, new)
            if isinstance(name, ast.Attribute):
                base = self.dotted(name.value)
                if base in self.project.by_name and (
                    new := self.new_name(self.project.resolve(base, name.attr))
                ):
                    at = char + 1 + name.end_col_offset - len(name.attr)
                    self.file.edit(line, at, name.attr, new)

    def visit_Name(self, node) -> None:
        home, qualified = self.lookup(node.id)
        if home is not None and qualified is None:
            self.nested_name(node, home)
            return
        if new := self.new_name(qualified):
            if node.id != qualified.rpartition(".")[2]:
                return  # imported by another name
            char = self.file.byte_to_char(node.lineno, node.col_offset)
            assert home is not None
            self.check_collision(node, home, node.id, new)
            self.file.edit(node.lineno, char, node.id, new)

    def nested_name(self, node: ast.Name, home: Scope) -> None:
        if node.id not in home.functions:
            return
        place: list[str] = []
        for scope in self.chain[1:]:
            place.append(getattr(scope.node, "name", ""))
            if scope is home:
                break
        qualified = ".".join([self.file.name, *filter(None, place), node.id])
        if new := self.names.nested.get(qualified):
            char = self.file.byte_to_char(node.lineno, node.col_offset)
            self.check_collision(node, home, node.id, new)
            self.file.edit(node.lineno, char, node.id, new)

    def dotted(self, node: ast.AST) -> str | None:
        """The qualified name of a dotted expression, when it is a module's."""
        if isinstance(node, ast.Name):
            _, qualified = self.lookup(node.id)
            return qualified
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            if base in self.project.by_name:
                return self.project.resolve_target(f"{base}.{node.attr}")
        return None

    def visit_Attribute(self, node) -> None:
        self.visit(node.value)
        base = self.dotted(node.value)
        if base in self.project.by_name:
            inner = self.dotted(node)
            if inner and (new := self.new_name(inner)) and inner.rpartition(".")[2] == node.attr:
                self.edit_attribute(node, new)

    def edit_attribute(self, node: ast.Attribute, new: str) -> bool:
        char = self.file.byte_to_char(node.end_lineno, node.end_col_offset) - len(node.attr)
        return self.file.edit(node.end_lineno, char, node.attr, new)

    def visit_Assign(self, node) -> None:
        """The names of `__all__` are texts."""
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id == "__all__":
            for one in getattr(node.value, "elts", []):
                if isinstance(one, ast.Constant):
                    self.edit_text(one, self.project.resolve(self.file.name, one.value))

    def visit_Call(self, node) -> None:
        """`monkeypatch.setattr(module, "name", …)`, and `getattr` likewise."""
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in ("setattr", "delattr", "getattr", "hasattr") or len(node.args) < 2:
            return
        owner, text = node.args[:2]
        base = self.dotted(owner)
        if base in self.project.by_name and isinstance(text, ast.Constant):
            self.edit_text(text, self.project.resolve(base, str(text.value)))

    def edit_text(self, node: ast.Constant, qualified: str) -> None:
        """A name in quotes."""
        new = self.names.symbols.get(qualified)
        if new and qualified.rpartition(".")[2] == node.value:
            char = self.file.byte_to_char(node.lineno, node.col_offset) + 1
            self.file.edit(node.lineno, char, node.value, new)

    def visit_Import(self, node) -> None:
        for one in node.names:
            new = self.moved(one.name)
            if new != one.name:
                char = self.file.byte_to_char(one.lineno, one.col_offset)
                self.file.edit(one.lineno, char, one.name, new)

    def moved(self, module: str) -> str:
        return self.names.modules.get(module, module)

    def visit_ImportFrom(self, node) -> None:
        base = self.file.absolute(node)
        if not node.level and self.moved(base) != base:
            text = self.file.lines[node.lineno - 1]
            at = text.index(base, self.file.byte_to_char(node.lineno, node.col_offset))
            self.file.edit(node.lineno, at, base, self.moved(base))
        elif node.level and self.moved(base) != base:
            print(f"relative    {self.file.path}:{node.lineno}")
        home = self.chain[-1]
        for one in node.names:
            target = self.project.resolve_target(f"{base}.{one.name}")
            new = self.new_name(target)
            if new is None or target.rpartition(".")[2] != one.name:
                continue
            char = self.file.byte_to_char(one.lineno, one.col_offset)
            if not one.asname:
                self.check_collision(node, home, one.name, new)
            self.file.edit(one.lineno, char, one.name, new)

    def visit_Constant(self, node) -> None:
        if not isinstance(node.value, str):
            return
        value = node.value
        if not re.fullmatch(
            r"(?:ensemble|pages|tests|benchmarks)(?:[.][A-Za-z_]\w*)+(?::\w+)?", value
        ):
            return
        if node.lineno != node.end_lineno:
            return
        new = self.new_dotted(value)
        if new != value:
            char = self.file.byte_to_char(node.lineno, node.col_offset)
            at = self.file.lines[node.lineno - 1].find(value, char)
            if at >= 0:
                self.file.edit(node.lineno, at, value, new)

    def new_dotted(self, value: str) -> str:
        """A dotted text after renaming: a module, or a module's attribute after "." or ":"."""
        dotted, colon, attribute = value.partition(":")
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if module in self.project.by_name:
                rest = [*parts[length:], *([attribute] if attribute else [])]
                fresh = self.moved(module)
                if not rest:
                    return fresh
                qualified = self.project.resolve(module, rest[0])
                owner = qualified
                new_first = self.names.symbols.get(qualified, rest[0])
                out = [new_first]
                for one in rest[1:]:
                    out.append(self.names.members.get((owner, one), one))
                if colon:
                    return ".".join([fresh, *out[:-1]]) + ":" + out[-1] if len(out) == 1 else value
                return ".".join([fresh, *out])
        return value


def strings_of(node: ast.AST):
    """Constant texts in an annotation that are annotations themselves."""
    if isinstance(node, ast.Subscript):
        base = node.value
        name = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
        if name == "Literal":
            return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from strings_of(child)


def rename_definitions_of_members(project: Project, names: Map, family: dict) -> None:
    """Edits `def`, and `name: type` and `name = value` in classes."""
    for file in project.files:
        for owner, node in classes_of(file):
            for child in node.body:
                if isinstance(child, FUNCTIONS) and (new := family.get((owner, child.name))):
                    text = file.lines[child.lineno - 1]
                    found = re.search(rf"\bdef\s+({re.escape(child.name)})\b", text)
                    file.edit(child.lineno, found.start(1), child.name, new)
                targets = []
                if isinstance(child, ast.AnnAssign):
                    targets = [child.target]
                elif isinstance(child, ast.Assign):
                    targets = child.targets
                for target in targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name) and (new := family.get((owner, name.id))):
                            char = file.byte_to_char(name.lineno, name.col_offset)
                            file.edit(name.lineno, char, name.id, new)
            rename_in_docstring(file, node, owner, family)
            for line in range(node.lineno, node.end_lineno + 1):
                for found in re.finditer(r"`(\w+)(\(\))?`", file.lines[line - 1]):
                    if new := family.get((owner, found[1])):
                        file.edit(line, found.start(1), found[1], new)


def rename_in_docstring(file: File, node: ast.ClassDef, owner: str, family: dict) -> None:
    """Edits the names of attributes that a class's docstring explains: `  name: what it is`."""
    first = node.body[0]
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return
    for line in range(first.lineno, first.end_lineno + 1):
        text = file.lines[line - 1]
        found = re.match(r"(\s+)([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*):", text)
        if not found:
            continue
        at = found.start(2)
        for name in found[2].split(", "):
            if new := family.get((owner, name)):
                file.edit(line, at, name, new)
            at += len(name) + 2


def classes_of(file: File):
    def walk(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield f"{prefix}.{child.name}", child
                yield from walk(child, f"{prefix}.{child.name}")
            elif isinstance(child, (*FUNCTIONS, ast.If, ast.Try, ast.With)):
                inner = f"{prefix}.{child.name}" if isinstance(child, FUNCTIONS) else prefix
                yield from walk(child, inner)

    yield from walk(file.tree, file.name)


def rename_members(project: Project, names: Map) -> None:
    """Edits methods and fields: their definitions, and where mypy's types say they are meant."""
    if not names.members:
        return
    types = InferredTypes(project)
    family = types.families(names.members)
    for one in names.members:
        if one not in family:
            print(f"unknown     {'.'.join(one)}")
    rename_definitions_of_members(project, names, family)
    for file in project.files:
        types.edit_file(file, family)


class InferredTypes:
    """The project as mypy sees it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.foreign = list_foreign_names()
        from mypy import build
        from mypy.main import process_options

        sources, options = process_options([], require_targets=False)
        options.export_types = options.preserve_asts = True
        options.num_workers = 0
        # The types of others do not matter, and take most of the time.
        options.follow_imports = "skip"
        options.ignore_missing_imports = True
        options.incremental = False
        options.cache_dir = os.devnull
        result = build.build(sources, options)
        for line in [one for one in result.errors if "scripts/" not in one][:20]:
            print(f"mypy        {line}")
        self.types = result.types
        self.trees = result.files
        self.classes = {}
        for name, tree in self.trees.items():
            if name in project.by_name:
                self.collect(tree.names)
        self.owners = defaultdict(set)
        for qualified, info in self.classes.items():
            for name in info.names:
                self.owners[name].add(qualified)

    def collect(self, table) -> None:
        from mypy.nodes import TypeInfo

        for symbol in table.values():
            info = symbol.node
            if isinstance(info, TypeInfo) and info.fullname not in self.classes:
                self.classes[info.fullname] = info
                self.collect(info.names)

    def families(self, members: dict) -> dict:
        """All definitions that go together: those of the map, and what overrides them."""
        family = {}
        for (owner, name), new in members.items():
            base = self.classes.get(owner)
            if base is None or name not in base.names:
                continue
            for qualified, info in self.classes.items():
                if base in info.mro and name in info.names:
                    known = family.get((qualified, name), new)
                    if known != new:
                        print(f"override    {qualified}.{name}: {known} or {new}")
                    family[qualified, name] = new
            for one in base.mro[1:]:
                if name in one.names and (one.fullname, name) not in members:
                    print(f"overrides   {owner}.{name} -> {new}: {one.fullname} has it too")
        return family

    def infos(self, kind) -> list | None:
        """The classes of a type; None where it is not known."""
        from mypy import types as t

        kind = t.get_proper_type(kind)
        if kind is None or isinstance(kind, t.AnyType):
            return None
        if isinstance(kind, t.Instance):
            return [kind.type]
        if isinstance(kind, t.UnionType):
            found = []
            for one in kind.items:
                inner = self.infos(one)
                if inner is None:
                    return None
                found += inner
            return found
        if isinstance(kind, t.TupleType):
            return [kind.partial_fallback.type]
        if isinstance(kind, t.TypeType):
            return self.infos(kind.item)
        if isinstance(kind, (t.TypeVarType,)):
            return self.infos(kind.upper_bound)
        if isinstance(kind, t.CallableType):
            return [kind.type_object()] if kind.is_type_obj() else []
        if isinstance(kind, t.Overloaded):
            return [kind.type_object()] if kind.is_type_obj() else []
        return []

    def renamed(self, infos: list, name: str, family: dict) -> str | None:
        for info in infos:
            for one in info.mro:
                if name in one.names:
                    if new := family.get((one.fullname, name)):
                        return new
                    break
        return None

    def edit_file(self, file: File, family: dict) -> None:
        if file.name not in self.trees:
            print(f"no types    {file.path}")
            return
        of_modules = ModuleAttributes(self.project, file)
        of_modules.visit(file.tree)
        wanted = {name for _, name in family}
        visitor = Visitor(self, file, family, wanted)
        for node in walk_nodes(self.trees[file.name]):
            visitor.visit(node)
        keywords = {}
        seen = set(visitor.seen)
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call):
                for one in node.keywords:
                    if one.arg in wanted:
                        keywords[one.value.lineno, one.value.col_offset, one.arg] = one
            elif isinstance(node, ast.MatchClass):
                for one in node.kwd_attrs:
                    if one in wanted:
                        print(f"pattern     {file.path}:{node.lineno}: {one}")
            elif isinstance(node, ast.Attribute) and node.attr in wanted:
                place = (node.end_lineno, node.end_col_offset)
                if place not in seen and place not in of_modules.places:
                    self.guess(file, node.end_lineno, node.end_col_offset, node.attr, family)
        for place, new in visitor.keywords.items():
            if one := keywords.get(place):
                char = file.byte_to_char(one.lineno, one.col_offset)
                file.edit(one.lineno, char, one.arg, new)
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call) and len(node.args) >= 2:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                text = node.args[1]
                if name in ("getattr", "hasattr", "setattr", "delattr", "patch_attribute") and (
                    isinstance(text, ast.Constant) and text.value in wanted
                ):
                    print(f"string      {file.path}:{node.lineno}: {text.value}")

    def guess(self, file: File, line: int, end: int, name: str, family: dict) -> None:
        """An attribute of an unknown type: renamed where every class that has one is."""
        news = {family.get((one, name)) for one in self.owners[name]}
        if len(news) == 1 and None not in news and name not in self.foreign:
            char = file.byte_to_char(line, end) - len(name)
            if file.edit(line, char, name, news.pop()):
                print(f"guess       {file.path}:{line}: {name}")
        else:
            options = {one.rpartition(".")[2] for one in self.owners[name] if (one, name) in family}
            print(f"unresolved  {file.path}:{line}: .{name} ({', '.join(sorted(options))})")


# Where mypy's nodes have others below them. Its own visitors cannot be inherited from.
CHILDREN = [
    "defs",
    "body",
    "expr",
    "lvalues",
    "lvalue",
    "rvalue",
    "callee",
    "args",
    "left",
    "right",
    "operands",
    "base",
    "index",
    "items",
    "value",
    "cond",
    "if_expr",
    "else_expr",
    "else_body",
    "finally_body",
    "handlers",
    "vars",
    "types",
    "target",
    "key",
    "sequences",
    "condlists",
    "left_expr",
    "generator",
    "indices",
    "func",
    "decorators",
    "arguments",
    "initializer",
    "patterns",
    "guards",
    "subject",
    "bodies",
    "msg",
    "from_expr",
    "begin_index",
    "end_index",
    "stride",
    "class_ref",
    "positionals",
    "keyword_values",
    "pattern",
    "call",
    "base_type_exprs",
    "keywords",
    "unanalyzed_items",
    "impl",
    "analyzed",
]


def walk_nodes(node, seen: set[int] | None = None):
    """A node of mypy's and all below it."""
    from mypy.nodes import Node

    seen = set() if seen is None else seen
    if id(node) in seen:
        return
    seen.add(id(node))
    yield node
    for name in CHILDREN:
        below = getattr(node, name, None)
        if isinstance(below, dict):
            below = list(below.values())
        stack = [below]
        while stack:
            one = stack.pop()
            if isinstance(one, (list, tuple)):
                stack += one
            elif isinstance(one, Node):
                yield from walk_nodes(one, seen)


class ModuleAttributes(Renamer):
    """Notes which attributes of a file are those of modules, of the project or of others."""

    def __init__(self, project: Project, file: File) -> None:
        super().__init__(project, file, Map())
        self.places: set[tuple[int, int]] = set()

    def visit_Attribute(self, node) -> None:
        self.visit(node.value)
        base = self.dotted(node.value)
        if base is None and isinstance(node.value, ast.Name):
            return
        if base is not None:
            known = base in self.project.by_name
            foreign = not base.startswith(tuple(f"{root}." for root in ROOTS))
            if known or foreign:
                self.places.add((node.end_lineno, node.end_col_offset))


class Visitor:
    """Edits what is meant among a file's typed expressions."""

    def __init__(self, types: InferredTypes, file: File, family: dict, wanted: set) -> None:
        self.types, self.file, self.family, self.wanted = types, file, family, wanted
        self.seen: list[tuple[int, int]] = []
        self.keywords: dict[tuple[int, int, str], str] = {}

    def visit(self, node) -> None:
        from mypy.nodes import CallExpr, MemberExpr

        if isinstance(node, MemberExpr):
            self.visit_member(node)
        elif isinstance(node, CallExpr):
            self.visit_call(node)

    def visit_member(self, node) -> None:
        from mypy.nodes import RefExpr

        if node.name not in self.wanted:
            return
        types, file = self.types, self.file
        kind = types.types.get(node.expr)
        infos = None if kind is None else types.infos(kind)
        if infos is None and isinstance(node.expr, RefExpr):
            if node.expr.fullname in types.classes:
                infos = [types.classes[node.expr.fullname]]
            elif node.expr.fullname in types.trees:
                infos = []
        if infos is None:
            return
        self.seen.append((node.end_line, node.end_column))
        if new := types.renamed(infos, node.name, self.family):
            char = file.byte_to_char(node.end_line, node.end_column) - len(node.name)
            file.edit(node.end_line, char, node.name, new)

    def visit_call(self, node) -> None:
        from mypy.nodes import MemberExpr, RefExpr
        from mypy.types import CallableType, Overloaded, get_proper_type

        if not self.wanted.intersection(filter(None, node.arg_names)):
            return
        types, callee, infos = self.types, node.callee, []
        if isinstance(callee, RefExpr) and callee.fullname == "dataclasses.replace":
            infos = types.infos(types.types.get(node.args[0])) or []
        elif isinstance(callee, MemberExpr) and callee.name == "_replace":
            infos = types.infos(types.types.get(callee.expr)) or []
        elif isinstance(callee, RefExpr) and callee.fullname in types.classes:
            infos = [types.classes[callee.fullname]]
        else:
            kind = get_proper_type(types.types.get(callee))
            if isinstance(kind, (CallableType, Overloaded)) and kind.is_type_obj():
                infos = [kind.type_object()]
        for name, value in zip(node.arg_names, node.args, strict=True):
            if name in self.wanted and (new := types.renamed(infos, name, self.family)):
                self.keywords[value.line, value.column, name] = new


def rename_texts(project: Project, names: Map) -> None:
    """Edits names in backticks in comments and docstrings: of what the file itself knows."""
    tick = re.compile(r"`([A-Za-z_][\w.]*)(\(\))?`")
    for file in project.files:
        renamer = Renamer(project, file, names)
        for number, text in enumerate(file.lines, 1):
            for found in tick.finditer(text):
                parts = found[1].split(".")
                _, qualified = renamer.lookup(parts[0])
                out, at = [], qualified
                for place, part in enumerate(parts):
                    if place:
                        if at in project.by_name:
                            at = project.resolve(at, part)
                        else:
                            member = names.members.get((at, part)) if at else None
                            out.append(member or part)
                            at = None
                            continue
                    new = renamer.new_name(at) if at else None
                    out.append(new if new and at.rpartition(".")[2] == part else part)
                if out != parts:
                    file.edit(number, found.start(1), found[1], ".".join(out))


def move_files(names: Map) -> None:
    """Renames files, their tests, and their paths in documents."""
    moves = dict(names.paths)
    for old, new in names.paths.items():
        inside = old.removeprefix("ensemble/")
        test = Path("tests") / Path(inside).parent / f"test_{Path(inside).name}"
        if test.exists():
            moves[test.as_posix()] = (test.parent / f"test_{Path(new).name}").as_posix()
    for old, new in moves.items():
        if Path(new).exists() and new not in moves:
            print(f"collision   {old} -> {new}: that file exists")
            continue
        subprocess.run(["git", "mv", old, f"{new}.moved"], check=True)
    for new in moves.values():
        if Path(f"{new}.moved").exists():
            subprocess.run(["git", "mv", f"{new}.moved", new], check=True)
    tests = {module_name(o): module_name(n) for o, n in moves.items() if o.startswith("tests/")}
    texts = subprocess.run(
        ["git", "ls-files", "*.md", "*.toml", "*.py", "*.css", "*.js", "scripts/*", ".ci/*"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    pattern = (
        re.compile(
            r"(?<![\w/])(?:ensemble/)?(?:"
            + "|".join(
                re.escape(old.removeprefix("ensemble/"))
                for old in sorted(moves, key=len, reverse=True)
            )
            + r")(?!\w)"
        )
        if moves
        else None
    )
    dotted = (
        re.compile(
            r"(?<![\w.])(?:"
            + "|".join(map(re.escape, sorted(tests, key=len, reverse=True)))
            + r")(?!\w)"
        )
        if tests
        else None
    )
    for name in texts:
        path = Path(name)
        if not path.is_file() or name.endswith("renames.tsv") or name == "CHANGELOG.md":
            continue
        text = path.read_text()
        new = text
        if pattern:

            def swap(found: re.Match[str]) -> str:
                word = found[0]
                full = word if word in moves else f"ensemble/{word}"
                if full not in moves:
                    return word
                fresh = moves[full]
                return fresh if word == full else fresh.removeprefix("ensemble/")

            new = pattern.sub(swap, new)
        if dotted:
            new = dotted.sub(lambda found: tests[found[0]], new)
        if new != text:
            path.write_text(new)


def main() -> None:
    sys.setrecursionlimit(10_000)
    path, *packages = sys.argv[1:]
    names = read_map(Path(path), packages)
    project = Project()
    qualified = {
        f"{file.name}.{name}" for file in project.files for name in file.module_scope.bound
    }
    for one in names.symbols:
        if one not in qualified:
            print(f"unknown     {one}")
    for file in project.files:
        Renamer(project, file, names).visit(file.tree)
    rename_members(project, names)
    rename_texts(project, names)
    for file in project.files:
        file.apply()
    move_files(names)


if __name__ == "__main__":
    main()
