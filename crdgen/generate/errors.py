"""Errors of the generator."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class SchemaError(ValueError):
    """A model, field or marker that has no structural schema.

    If several fields are wrong, the error has a line for each; `path`, `problem` and `fix` are those of the first.

    Attributes:
        path: The path of the field in the model, as `DIJob.spec.tasks[].replicas`.
        problem: What cannot be expressed there, and why.
        fix: What the author may write instead.
        errors: An error for each field; this error itself if there is only one.
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
        self._errors: dict[str, SchemaError] = {}

    def __len__(self) -> int:
        return len(self._errors)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect the SchemaError that the block raises, without duplicates."""
        try:
            yield
        except SchemaError as error:
            self._errors |= {str(each): each for each in error.errors}

    def raise_all(self) -> None:
        """Raise the collected errors, if any."""
        errors = list(self._errors.values())
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise SchemaError(errors[0].path, errors[0].problem, errors[0].fix, errors)
