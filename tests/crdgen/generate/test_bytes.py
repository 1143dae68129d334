"""Schemas accept the bytes that models write."""

import json
from typing import Annotated

import pytest
from pydantic import Base64Bytes, Base64UrlBytes, BaseModel, ConfigDict, Field, ValidationError

from crdgen import SchemaError, structural_schema
from crdgen.evaluate import Evaluator


class Blob(BaseModel):
    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    content: Base64Bytes = b"abc"
    url: Base64UrlBytes = b"\xff\xfe"
    plain: bytes = b"abc"


EVALUATOR = Evaluator(structural_schema(Blob))


@pytest.mark.parametrize("count", [1, 2, 3, 56, 57, 58, 200])
def test_bytes_are_written_without_line_breaks(count: int) -> None:
    content = bytes(range(count))
    written = json.loads(Blob.model_construct(content=content, url=content, plain=content).model_dump_json())
    assert EVALUATOR.validate(written) == []
    assert Blob.model_validate_json(json.dumps(written)).content == content


@pytest.mark.parametrize(
    "text",
    [
        *("", "A", "AA", "AA=", "AA==", "AB", "AAA", "AAA=", "AAA==", "AAB", "AAAA", "AAAA=", "AAAAA", "-_8=", "+/8="),
        *("-/8=", "-_8", "_-8A", "AAAA\n", "A A=", "=", "ä"),
    ],
)
def test_the_schema_accepts_the_bytes_that_the_model_reads(text: str) -> None:
    written = {"plain": text}
    try:
        Blob.model_validate_json(json.dumps(written))
    except ValidationError:
        assert EVALUATOR.validate(written)
    else:
        assert EVALUATOR.validate(written) == []


def test_the_length_of_bytes_becomes_a_length_in_characters() -> None:
    class Key(BaseModel):
        model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

        key: Annotated[bytes, Field(min_length=4, max_length=8)]

    evaluator = Evaluator(structural_schema(Key))
    for count, valid in ((1, False), (4, True), (8, True), (10, False)):
        written = Key.model_construct(key=b"a" * count).model_dump(mode="json")
        assert (evaluator.validate(written) == []) is valid, count
    assert evaluator.validate({"key": "YWFhYQ"}) == []


def test_empty_bytes_cannot_be_a_default() -> None:
    class Empty(BaseModel):
        content: Base64Bytes = b""

    with pytest.raises(SchemaError, match=r"^Empty\.content: the default '' is not valid for the schema of the field"):
        structural_schema(Empty)
