"""The native half of the package (crates/py). Not for users: the modules around it are."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, final

__version__: str

_Failure = tuple[str, str, int | None, str | None]
_Words = Sequence[str | PathLike[str]]

@final
class Called:
    outcome: Literal["done", "missed", "interrupted", "failed"]
    said: bytes
    remarks: str
    runs: list[Path]
    passing: bool
    missed: list[str]
    files: list[Path]
    failure: _Failure | None
    raised: BaseException | None

@final
class Responder:
    address: str | None
    remarks: str
    is_serving: bool
    failure: _Failure | None
    def __new__(cls, words: _Words, program: _Words) -> Responder: ...
    def end(self) -> None: ...

@final
class Rows:
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Figure:
    name: str
    title: str
    caption: str
    svg: str
    def png(self, scale: float) -> bytes: ...

@final
class Told:
    json: str
    state: Literal["running", "complete", "interrupted", "failed"]
    heading: list[str]
    tables: list[tuple[str, list[str], list[list[str]]]]
    notes: list[str]
    warnings: list[str]
    failed: str | None
    command: str
    csv: str

def call(
    words: _Words, program: _Words, tell: Callable[[float, str], object] | None
) -> Called: ...
def main(words: _Words, program: _Words) -> int: ...
def declared() -> str: ...
def find(name: str) -> Path: ...
def samples(dir: PathLike[str], point: int | None = None) -> Rows: ...  # noqa: A002
def layout(kind: str) -> tuple[int, list[tuple[str, str, int]]]: ...
def names(what: str) -> list[str]: ...
def tell(dir: PathLike[str]) -> Told: ...  # noqa: A002
def figures(dirs: Sequence[PathLike[str]]) -> list[Figure]: ...
def figures_of_comparison(
    before: Sequence[PathLike[str]], after: Sequence[PathLike[str]]
) -> list[Figure]: ...
