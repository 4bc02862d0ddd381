"""Frames: what a figure shows at every setting of its controls, packed into one block of bytes.

The block is a zlib stream of: the length of a header (4 bytes, little-endian), the header (JSON), and the frames one
after another. A frame is an array of unsigned integers; a code c stands for the number step·(offset + c − 1), and c = 0 for
−∞, the logarithm of an exact zero. Where the step is a resolution, the offset is a whole number, so that equal numbers come
back equal from every frame, and a number of a plain axis that is not 0 is kept as one step at least. frames.js reads
what this file writes.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from .source import Source

__all__ = ["Frames", "View", "pack"]

DTYPES: dict[int, np.dtype] = {1: np.dtype("<u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4")}  # by bytes a code


def encode(array: np.ndarray, resolution: float | None, apart: bool = False) -> tuple[np.ndarray, float, float]:
    """Return (codes, offset, step) such that step·(offset + codes − 1) is the array, rounded to the step.

    apart: what is not 0 is kept as a step at least.
    """
    finite = np.isfinite(array)
    values = array[finite].astype(np.float64)
    low, high = (values.min(), values.max()) if values.size else (0.0, 0.0)
    if array.dtype.kind in "biu":
        resolution = 1.0
    step = resolution or (high - low) / 4e9 or 1.0
    multiples = np.round(values / step) if resolution else values / step
    if resolution and apart:
        multiples = np.where(multiples == 0, np.sign(values), multiples)
    offset = multiples.min() if values.size else 0.0
    codes = np.zeros(array.shape)
    codes[finite] = np.round(multiples - offset) + 1
    for dtype in DTYPES.values():
        if codes.max(initial=0) <= np.iinfo(dtype).max:
            return codes.astype(dtype), float(offset), float(step)
    raise ValueError(f"a frame spans {high - low:g} in steps of {step:g}: more than {np.iinfo(dtype).max} codes")


def pack(sources: list[Source], slots: dict[str, Source], done: Callable[[], None] = lambda: None) -> bytes:
    """Compute everything that a figure shows and return it as one block. Equal frames are stored once.

    sources: functions that give arrays, for the panels.  slots: functions that give text or whole numbers, for the
    sentence.  done: called after every setting.
    """
    frames, known, tables, body = [], {}, [], bytearray()
    for source in sources:
        at = []
        for array in source.arrays():
            codes, offset, step = encode(array, source.resolution, source.apart)
            size, data = codes.dtype.itemsize, codes.tobytes()
            key = (data, size, codes.shape, offset, step)
            if key not in known:
                body += bytes(-len(body) % size)  # a typed array starts at a multiple of its item's size
                known[key] = len(frames)
                frames.append([len(body), size, list(codes.shape), offset, step])
                body += data
            at.append(known[key])
            done()
        tables.append({"controls": source.names, "at": at})
    texts = {}
    for name, slot in slots.items():
        said = []
        for text in slot.texts():
            said.append(text)
            done()
        words = sorted(set(said))
        texts[name] = {"controls": slot.names, "words": words, "at": [words.index(text) for text in said]}
    header = json.dumps({"frames": frames, "tables": tables, "slots": texts}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 4)
    return zlib.compress(struct.pack("<I", len(header)) + header + bytes(body), 9)


class Frames:
    """A packed block, unpacked: the arrays of source number i, and the words of a slot, at a setting.

    A setting is a dict from the name of each control to its number on the control's grid; ``sizes`` says how many
    values each grid has.
    """

    def __init__(self, block: bytes, sizes: dict[str, int]):
        data = zlib.decompress(block)
        (length,) = struct.unpack("<I", data[:4])
        self.header, self.body, self.sizes = json.loads(data[4 : 4 + length]), data[4 + length :], sizes

    def number(self, table: dict, setting: Mapping[str, int]) -> int:
        """Return which entry of a table belongs to a setting: the last control moves fastest."""
        entry = 0
        for name in table["controls"]:
            entry = entry * self.sizes[name] + setting[name]
        return table["at"][entry]

    def array(self, source: int, setting: Mapping[str, int]) -> np.ndarray:
        """Return the numbers that a source gave at a setting, as precise as they were kept."""
        start, size, shape, offset, step = self.header["frames"][self.number(self.header["tables"][source], setting)]
        codes = np.frombuffer(self.body, DTYPES[size], int(np.prod(shape)), start).reshape(shape).astype(np.float64)
        return np.where(codes == 0, -np.inf, step * (offset + codes - 1))

    def views(self, *parts: int | str) -> Iterator["View"]:
        """Yield a view at every setting of the controls that some sources and slots depend on."""
        tables = [self.header["tables" if isinstance(part, int) else "slots"][part] for part in parts]
        names = sorted({name for table in tables for name in table["controls"]})
        for numbers in product(*(range(self.sizes[name]) for name in names)):
            yield View(self, dict(zip(names, numbers)))

    def words(self, slot: str, setting: Mapping[str, int]) -> str:
        """Return the words that a slot gave at a setting."""
        table = self.header["slots"][slot]
        return table["words"][self.number(table, setting)]


@dataclass(frozen=True)
class View:
    """Frames at one setting of the controls. values: those of the controls, where they count."""

    frames: Frames
    setting: Mapping[str, int]
    values: Mapping[str, Any] = field(default_factory=dict)

    def array(self, source: int) -> np.ndarray:
        return self.frames.array(source, self.setting)

    def words(self, slot: str) -> str:
        return self.frames.words(slot, self.setting)

    def value(self, control: str) -> Any:
        return self.values[control]
