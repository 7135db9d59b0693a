"""The native half of the package (crates/py). Not for users: the modules around it are."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, final, overload

import numpy.typing as npt
from typing_extensions import disjoint_base

__version__: str

_Failure = tuple[str, str, int | None, str | None]
_Buffer = bytes | bytearray | memoryview | npt.NDArray[Any]
_Request = _Buffer | str
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

@disjoint_base
class RawDevice:
    address: str
    closed: bool
    _last: tuple[int, int, int, int]
    _unit: int
    def __new__(
        cls,
        address: str,
        framing: tuple[str, bytes, int, bool, bool] | None,
        queries: tuple[str, bytes | None, int | None, str | None, int | None, int] | None,
        timeout_ns: int,
        wait: str,
        baud: int | None,
        quick_ack: bool,
        line: str | None,
    ) -> Self: ...
    @overload
    def exchange(self, request: _Request, reply_bytes: int | None = None, *, into: None = None) -> bytes: ...
    @overload
    def exchange(self, request: _Request, reply_bytes: int | None = None, *, into: _Buffer) -> int: ...
    def close(self) -> None: ...
    def _exchange_rows(
        self,
        requests: _Buffer,
        ends: _Buffer,
        replies: _Buffer,
        row_bytes: int,
        lengths: _Buffer,
        timings: _Buffer,
        depth: int,
    ) -> None: ...
    def _submit(self, request: _Request, reply_bytes: int | None, depth: int) -> bytes | None: ...
    def _next_reply(self) -> bytes: ...
    def _outstanding(self) -> int: ...
    def _control(
        self,
        step: object,
        request: bytes,
        period_ns: int,
        depth: int,
        reply_bytes: int | None,
        priority: int | None,
        pin: int | None,
        cycles: _Buffer,
    ) -> int: ...
    def _read_stream(self, into: _Buffer, transfer_bytes: int, queue: int) -> int: ...
    def _write_stream(self, source: _Buffer, transfer_bytes: int, queue: int) -> int: ...
    def _about(self) -> dict[str, Any]: ...
    def _write(self, request: _Request) -> None: ...
    def _read(self, reply_bytes: int | None) -> bytes: ...
    def _read_registers(self, table: str, address: int, into: _Buffer, unit: int | None) -> None: ...
    def _read_bits(self, table: str, address: int, into: _Buffer, unit: int | None) -> None: ...
    def _write_registers(self, address: int, values: _Buffer, unit: int | None) -> None: ...
    def _write_coils(self, address: int, values: _Buffer, unit: int | None) -> None: ...
    def _set_unit(self, unit: int) -> None: ...

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
class RunTables:
    json: str
    state: Literal["running", "complete", "interrupted", "failed"]
    heading: list[str]
    answer: str | None
    tables: list[tuple[str, list[str], list[list[str]]]]
    notes: list[str]
    warnings: list[str]
    ending: str | None
    failed: str | None
    command: str
    csv: str

def call(
    words: _Words,
    program: _Words,
    report: Callable[[float, str, Path | None, list[tuple[int, float, dict[str, float]]]], object] | None,
    slice_time: float | None = None,
) -> Called: ...
def main(words: _Words, program: _Words) -> int: ...
def declared() -> str: ...
def find(name: str) -> Path: ...
def runs_home() -> Path: ...
def samples(dir: PathLike[str], point: int | None = None) -> Rows: ...  # noqa: A002
def answers(dir: PathLike[str], point: int) -> list[bytes]: ...  # noqa: A002
def layout(kind: str) -> tuple[int, list[tuple[str, str, int]]]: ...
def names(kind: str, field: str) -> list[str]: ...
def run_tables(dir: PathLike[str]) -> RunTables: ...  # noqa: A002
def figures(dirs: Sequence[PathLike[str]]) -> list[Figure]: ...
