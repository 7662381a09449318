"""symbolizing.py - profiles of any addresses for `mprof symbolize`, what it made of them, and what llvm-symbolizer says of the same addresses."""
from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from decoding import Decoded, fields, numbers

# Field numbers of Profile.
SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, TIME, COMMENT = 1, 2, 3, 4, 5, 6, 9, 13
FLAGS = ("functions", "filenames", "line_numbers", "inline_frames")  # Mapping's fields 7 to 10


# --- making them --------------------------------------------------------------------------------------------------


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(key: int, value: int) -> bytes:
    return varint(key << 3) + varint(value)


def message(key: int, content: bytes) -> bytes:
    return varint(key << 3 | 2) + varint(len(content)) + content


@dataclass
class Mapping:
    """A mapping with the addresses that lie in it, and the (ELF) names that some of them have."""
    path: str
    build_id: str = ""
    start: int = 0x7F0000000000
    limit: int = 0
    offset: int = 0
    addresses: list[int] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)


def make_profile(mappings: Iterable[Mapping], time_ns: int = 0, comments: Iterable[str] = ()) -> bytes:
    """A profile with a sample per address; one in a mapping without a path is in none."""
    strings: dict[str, int] = {"": 0}
    functions: dict[str, int] = {}
    body = bytearray()
    location_id = 0

    def text(string: str) -> int:
        return strings.setdefault(string, len(strings))

    body += message(SAMPLE_TYPE, number(1, text("inuse_space")) + number(2, text("bytes")))
    for mapping_id, one in enumerate(mappings, 1):
        body += message(MAPPING, number(1, mapping_id) + number(2, one.start) + number(3, one.limit) + number(4, one.offset) +
                        number(5, text(one.path)) + number(6, text(one.build_id)) + number(7, bool(one.names)))
        for address in one.addresses:
            location_id += 1
            content = number(1, location_id) + number(2, mapping_id) + number(3, address)
            if name := one.names.get(address):
                function_id = functions.setdefault(name, len(functions) + 1)
                content += message(4, number(1, function_id))
            body += message(LOCATION, content)
            body += message(SAMPLE, number(1, location_id) + number(2, 1))
    for name, function_id in functions.items():
        body += message(FUNCTION, number(1, function_id) + number(2, text(name)) + number(3, text(name)))
    for one in comments:
        body += number(COMMENT, text(one))
    body += number(TIME, time_ns)
    for one in strings:
        body += message(STRING, one.encode())
    return gzip.compress(bytes(body), 1)


class Segment(NamedTuple):
    """A PT_LOAD of code."""
    offset: int
    address: int
    size: int


def segments(path: Path | str) -> list[Segment]:
    text = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) R[W ]E", text)
    return [Segment(*(int(one, 16) for one in parts)) for parts in found]


def build_id(path: Path | str) -> str:
    text = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Build ID: (\w+)", text)
    return found[1] if found else ""


def mapping_of(path: Path | str, vaddrs: Iterable[int], recorded: str | None = None, bias: int = 0x7F1234560000) -> Mapping:
    """The mapping of a file loaded at some bias, as mprof writes it, with these addresses of the file; `recorded` is its path then."""
    (code,) = segments(path)[:1]
    start = code.address + bias
    size = (code.size + 4095) // 4096 * 4096
    return Mapping(recorded or str(path), build_id(path), start, start + size, code.offset, [one + bias for one in vaddrs])


def code_addresses(path: Path | str, count: int, seed: int = 1) -> list[int]:
    """Some addresses inside the instructions of a file's functions, chosen evenly over .text, sorted."""
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    found = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", text)
    assert found, f"{path} has no .text"
    start, size = int(found[1], 16), int(found[2], 16)
    return sorted(random.Random(seed).sample(range(start, start + size), min(count, size)))


# --- reading them -------------------------------------------------------------------------------------------------


class Frame(NamedTuple):
    function: str  # its system name
    file: str
    line: int


class Symbolized:
    """What a profile says of its locations."""

    def __init__(self, path: Path) -> None:
        decoded = Decoded.of(path)
        strings = decoded.strings
        self.readable: dict[str, str] = {}  # names by system name
        self.start_lines: dict[tuple[str, str], int] = {}  # by system name and file
        self.frames: dict[int, list[Frame]] = {}  # by address, innermost first
        self.flags: dict[str, set[str]] = {}  # by the mapping's path
        functions = {}
        for one in decoded.parts.get(FUNCTION, []):
            found = dict(fields(one))
            functions[found[1]] = (strings[found.get(3, 0)], strings[found.get(4, 0)])
            self.readable[strings[found.get(3, 0)]] = strings[found.get(2, 0)]
            self.start_lines[functions[found[1]]] = found.get(5, 0)
        for one in decoded.parts.get(LOCATION, []):
            parts = list(fields(one))
            lines = [dict(fields(line)) for key, line in parts if key == 4]
            self.frames[dict(parts)[3]] = [Frame(*functions[line[1]], numbers(line.get(2, 0))[0]) for line in lines]
        for one in decoded.parts.get(MAPPING, []):
            found = dict(fields(one))
            self.flags[strings[found.get(5, 0)]] = {name for key, name in enumerate(FLAGS, 7) if found.get(key)}


def llvm_frames(path: Path | str, vaddrs: Iterable[int]) -> list[list[Frame]]:
    """llvm-symbolizer's frames of each address, innermost first; functions by their names in DWARF, mangled where there are such."""
    asked = "".join(f"0x{one:x}\n" for one in vaddrs)
    done = subprocess.run(["llvm-symbolizer", "--inlines", "--no-demangle", "--output-style=JSON", f"--obj={path}"],
                          input=asked, capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        found.append([Frame(one["FunctionName"], one["FileName"], one["Line"]) for one in json.loads(line)["Symbol"]])
    return found
