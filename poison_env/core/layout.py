"""ObservationLayout: the sections of an observation, declared once, read by everybody."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from poison_env.core.errors import UnknownNameError

_FEW_ROWS = 64  # below, one call counts for more than the bytes it moves

Observation = npt.NDArray[np.int16]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A named block of an observation: whole numbers from 0 to `high`, one bound or one for each number in order."""

    name: str
    shape: tuple[int, ...]
    high: int | tuple[int, ...]
    text: str
    along_seats: bool = False  # the first axis is the seat, own seat first: may be padded to serve several seat counts

    @property
    def size(self) -> int:
        """How many numbers the section has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class ObservationLayout:
    """The order, shapes and bounds of an observation's sections."""

    sections: tuple[Section, ...]

    @cached_property
    def slices(self) -> Mapping[str, slice]:
        """Where each section stands in the last axis of an observation."""
        found, start = {}, 0
        for section in self.sections:
            found[section.name] = slice(start, start + section.size)
            start += section.size
        return found

    @cached_property
    def size(self) -> int:
        """F, the numbers in one observation."""
        return sum(section.size for section in self.sections)

    @cached_property
    def high(self) -> Observation:
        """Upper bounds, (F,) int16; the lower bound is 0 everywhere. Read-only."""
        bounds = np.concatenate([np.broadcast_to(np.asarray(s.high, dtype=np.int16), (s.size,)) for s in self.sections])
        bounds.flags.writeable = False
        return bounds

    def section(self, name: str) -> Section:
        """Return the section called `name`.

        Raises:
            UnknownNameError: there is none.
        """
        for section in self.sections:
            if section.name == name:
                return section
        raise UnknownNameError(f"no section {name!r}; this layout has {', '.join(s.name for s in self.sections)}")

    def decode(self, observation: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
        """Return a section of observations (..., F) in its own shape, (..., *shape); a view if NumPy can."""
        section = self.section(name)
        return observation[..., self.slices[name]].reshape(*observation.shape[:-1], *section.shape)

    def encode(self, values: Mapping[str, npt.NDArray[Any]]) -> Observation:
        """Put sections of shape (B, *shape) together to observations (B, F).

        Raises:
            UnknownNameError: the names are not exactly the layout's.
        """
        if values.keys() != self.slices.keys():
            raise UnknownNameError(f"expected exactly the sections {', '.join(self.slices)}; got {', '.join(values)}")
        size = len(next(iter(values.values())))
        blocks = [values[name].reshape(size, width) for name, width in self._widths]
        if size < _FEW_ROWS:
            return np.concatenate(blocks, axis=1, dtype=np.int16, casting="unsafe")
        encoded = np.empty((size, self.size), np.int16)
        records = encoded.view(self._record_type)[:, 0]
        for (name, width), block in zip(self._widths, blocks, strict=True):
            records[name] = np.ascontiguousarray(block, dtype=np.int16).view(f"V{2 * width}")[:, 0]
        return encoded

    @cached_property
    def _widths(self) -> tuple[tuple[str, int], ...]:
        return tuple((section.name, section.size) for section in self.sections)

    @cached_property
    def _record_type(self) -> np.dtype[np.void]:
        """One observation as a record of opaque blocks, which NumPy copies two to three times as fast as columns."""
        return np.dtype(
            {
                "names": [s.name for s in self.sections],
                "formats": [f"V{2 * s.size}" for s in self.sections],
                "offsets": [2 * self.slices[s.name].start for s in self.sections],
                "itemsize": 2 * self.size,
            }
        )

    def scale(self, observation: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Return observations as float32 in [0, 1]: each number divided by its bound."""
        scaled: npt.NDArray[np.float32] = np.divide(observation, np.maximum(self.high, 1), dtype=np.float32)
        return scaled

    def box(self, *, scaled: bool = False) -> spaces.Box:
        """Return the Gymnasium space of one observation: int16 counts, or float32 in [0, 1]."""
        if scaled:
            return spaces.Box(np.float32(0), np.float32(1), (self.size,), np.float32)
        return spaces.Box(np.zeros(self.size, np.int16), self.high.copy(), (self.size,), np.int16)

    def table(self) -> str:
        """Return the layout as a Markdown table: columns, name, shape, bound, meaning."""
        lines = ["| columns | section | shape | at most | meaning |", "|---|---|---|---|---|"]
        for section in self.sections:
            place = self.slices[section.name]
            bound = section.high if isinstance(section.high, int) else max(section.high)
            shape = " × ".join(map(str, section.shape))
            lines.append(f"| {place.start}–{place.stop - 1} | `{section.name}` | {shape} | {bound} | {section.text} |")
        return "\n".join(lines)
