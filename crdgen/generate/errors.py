"""Errors of the generator."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class SchemaError(ValueError):
    """A model, field or marker that has no structural schema.

    Where several fields are wrong, one error has a line for each; its own path, problem and fix are those of the first.

    Attributes:
        path: The field's place in the model, as `DIJob.spec.tasks[].replicas`.
        problem: What cannot be expressed there, and why.
        fix: What the author may write instead.
        errors: An error for each field, itself if there is one.
    """

    def __init__(self, path: str, problem: str, fix: str, errors: Iterable["SchemaError"] = ()) -> None:
        self.errors = tuple(errors) or (self,)
        lines = [f"{path}: {problem}; {fix}"] if self.errors == (self,) else map(str, self.errors)
        super().__init__("\n".join(lines))
        self.path = path
        self.problem = problem
        self.fix = fix


class SchemaErrors:
    """Collects errors of independent parts, to raise them together."""

    def __init__(self) -> None:
        self._found: dict[str, SchemaError] = {}

    def __len__(self) -> int:
        return len(self._found)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect the SchemaError that the block raises, without duplicates."""
        try:
            yield
        except SchemaError as error:
            self._found |= {str(one): one for one in error.errors}

    def raise_all(self) -> None:
        """Raise the collected errors, if any."""
        found = list(self._found.values())
        if len(found) == 1:
            raise found[0]
        if found:
            raise SchemaError(found[0].path, found[0].problem, found[0].fix, found)
