"""A file of cases as Pydantic models. Its JSON Schema is for editors."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExpectedError(_Entry):
    """An error: its field, and words of its message."""

    field: str | None = Field(None, description="The path of the field, as in the message: `spec.tasks[0].replicas`.")
    words: str = Field("", description="Words that the message contains.")


class Case(_Entry):
    """A write of an object, and whether the API server accepts it."""

    name: str = Field(min_length=1, description="What the case shows, as a sentence.")
    object: dict[str, Any] | None = Field(None, description="The object, instead of that of the file.")
    patch: dict[str, Any] | None = Field(
        None,
        description="Changes of the object: null removes a field; in a list, an index such as 0 changes an item.",
    )
    stored: dict[str, Any] | None = Field(
        None,
        alias="from",
        description="The case is an update of the object with these changes; {} for the object as it is.",
    )
    delete: bool = Field(False, description="The case is the deletion of the object, which only policies see.")
    user: str = Field("", description="The name of the user, which policies and rules may read.")
    groups: tuple[str, ...] = Field((), description="The groups of the user.")
    rejected: list[ExpectedError] | None = Field(
        None,
        description="The write is rejected with these errors and no others; [] for any errors. By default, the write "
        "is accepted.",
    )
    warnings: list[str] = Field([], description="Words of warnings that the user gets.")

    @model_validator(mode="after")
    def _changes_no_deleted_object(self) -> "Case":
        if self.delete and self.patch is not None:
            raise ValueError("has both `delete` and `patch`: change the deleted object with `from`")
        return self


class CaseFile(_Entry):
    """Cases, and what judges them. Paths of files are relative to this file."""

    crds: list[str] = Field([], description="Files or directories of CRDs.")
    policies: list[str] = Field([], description="Files with ValidatingAdmissionPolicies and their bindings.")
    params: dict[str, Any] | list[dict[str, Any]] | None = Field(
        None, description="The object or objects among which bindings look up `params`."
    )
    namespace: dict[str, Any] | None = Field(
        None,
        description="The Namespace of objects that name it, or name none: `namespaceObject`. By default, one without "
        "labels.",
    )
    file: str | None = Field(None, description="File of the object that the cases change.")
    object: dict[str, Any] | None = Field(None, description="The object that the cases change, instead of a file.")
    cases: list[Case] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_complete(self) -> "CaseFile":
        if self.file is not None and self.object is not None:
            raise ValueError("has both `file` and `object`: remove one of them")
        names = [case.name for case in self.cases]
        for index, case in enumerate(self.cases):
            if case.name in names[:index]:
                raise ValueError(f"cases[{index}].name: {case.name!r} is the name of another case, too: rename one")
            if case.object is None and self.object is None and self.file is None:
                raise ValueError(f"cases[{index}]: has no object: add `object`, or `file` or `object` for all cases")
        return self


def patched(value: Any, patch: Any) -> Any:
    """Return a value with a JSON merge patch (RFC 7386) applied, in which indexes change the items of lists.

    Raises:
        ValueError: an index is beyond the end of a list.
    """
    if not isinstance(patch, dict):
        return patch
    if isinstance(value, list) and patch and all(str(key).isdecimal() for key in patch):
        items = list(value)
        for key, change in patch.items():
            if int(key) > len(items):
                raise ValueError(f"the list has {len(items)} items: there is no index {key}")
            items[int(key) : int(key) + 1] = [patched(value[int(key)] if int(key) < len(value) else None, change)]
        return items
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), change)
    return result
