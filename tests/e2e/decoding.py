"""decoding.py - reads a profile's bytes with neither mprof's code nor Go's: gzip, and protobuf as profile.proto has it.

A thousand profiles are decoded this way in the time that `go tool pprof` takes for ten, and all that is in them can be looked at."""
from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Field numbers of Profile.
SAMPLE_TYPE, SAMPLE, LOCATION, FUNCTION, STRING, PERIOD, COMMENT, DEFAULT_TYPE = 1, 2, 4, 5, 6, 12, 13, 14


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that starts there, and where it ends."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return number, at
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of a message; ValueError or IndexError when it is cut off."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 not in (0, 2):
            raise ValueError(f"wire type {key & 7}")
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at, size = data[at:at + value], at + value, value
            if len(value) != size:
                raise ValueError("cut off")
        yield key >> 3, value


def numbers(value: int | bytes) -> list[int]:
    """A repeated field of signed numbers: packed, or one of them."""
    found = [value] if isinstance(value, int) else []
    at = 0
    while isinstance(value, bytes) and at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return [number - (1 << 64) if number >> 63 else number for number in found]


class Row(NamedTuple):
    """A sample: its values by type, its functions leaf first, its numeric labels."""
    values: dict[str, int]
    stack: list[str]
    labels: dict[str, int]


class Decoded:
    """A whole profile; making one of bytes that are none fails."""

    def __init__(self, data: bytes) -> None:
        self.parts: dict[int, list] = {}
        for number, value in fields(gzip.decompress(data)):
            self.parts.setdefault(number, []).append(value)
        self.strings = [text.decode() for text in self.parts[STRING]]
        self.types = [self.strings[dict(fields(one))[1]] for one in self.parts[SAMPLE_TYPE]]
        self.period = self.number(PERIOD)
        self.default_type = self.strings[self.number(DEFAULT_TYPE)]
        self.comments = [self.strings[number] for one in self.parts.get(COMMENT, []) for number in numbers(one)]
        self.sample_count = len(self.parts.get(SAMPLE, []))

    @classmethod
    def of(cls, path: Path) -> Decoded:
        return cls(path.read_bytes())

    def number(self, field: int) -> int:
        return self.parts.get(field, [0])[-1]

    def names(self) -> dict[int, list[str]]:
        """The functions of each location, innermost first."""
        functions = {}
        for one in self.parts.get(FUNCTION, []):
            found = dict(fields(one))
            functions[found[1]] = self.strings[found.get(2, 0)]
        found = {}
        for one in self.parts.get(LOCATION, []):
            parts = list(fields(one))
            found[dict(parts)[1]] = [functions[dict(fields(line))[1]] for number, line in parts if number == 4]
        return found

    def rows(self) -> Iterator[Row]:
        names = self.names()
        for one in self.parts.get(SAMPLE, []):
            stack, values, labels = [], [], {}
            for number, value in fields(one):
                if number == 1:
                    stack += [name for location in numbers(value) for name in names[location]]
                elif number == 2:
                    values += numbers(value)
                else:
                    label = dict(fields(value))
                    labels[self.strings[label[1]]] = label.get(3, 0)
            yield Row(dict(zip(self.types, values, strict=True)), stack, labels)

    def sum(self, value: str, function: str | None = None) -> int:
        """The total of one sample type, of all stacks or of those that this function is in."""
        return sum(row.values[value] for row in self.rows() if function is None or function in row.stack)
