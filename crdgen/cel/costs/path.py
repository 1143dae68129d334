"""Where a value is, as the API server keeps it while it estimates."""

from typing import Final

#: Steps into maps and lists: their keys, indices and values.
KEYS: Final = "@keys"
INDICES: Final = "@indices"
INNER: Final = "@items"


class Path:
    """A variable, and the steps from there: names of fields, and the marks above.

    The API server keeps the steps in slices of Go, which grow in place where there is room. A second path made of the
    same one then overwrites the last step of the first: in `rules.all(r, r.ports.all(p, p != r.name))` it takes
    `r.ports` for as long as `r.name`. What it refuses depends on that, so they do it here, too.
    """

    __slots__ = ("_kept", "_length", "_room")

    def __init__(self, kept: list[str], length: int, room: int) -> None:
        self._kept, self._length, self._room = kept, length, room

    @property
    def steps(self) -> list[str]:
        """All steps; the first is the variable."""
        return self._kept[: self._length]

    def to(self, step: str) -> "Path":
        """Return the path one step further."""
        if self._length < self._room:
            self._kept[self._length : self._length + 1] = [step]
            return Path(self._kept, self._length + 1, self._room)
        return Path([*self.steps, step], self._length + 1, max(1, 2 * self._room))


def variable(name: str) -> Path:
    """Return the path of a variable."""
    return Path([name], 1, 1)


def nowhere() -> Path:
    """Return the path of a value that was computed."""
    return Path([], 0, 0)
