"""What `jobgate dev` shows of the lines of its server."""

import re

import pytest

from jobgate.dev.server import _shown

CALL = '{"time":"2026-11-27T12:00:01.500+00:00","level":"info","message":"request","path":"%s","milliseconds":0.93%s}'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("12:00:01 denied  validate CREATE Bucket a/b  0.9 ms", "12:00:01 denied  validate CREATE Bucket a/b  0.9 ms"),
        (CALL % ("/validate-a", ""), ""),
        ('12:00:01 denied  spec.log: not {"level":"info"}', '12:00:01 denied  spec.log: not {"level":"info"}'),
        ('{"level":"warning","message":"slow"}', '{"level":"warning","message":"slow"}'),
        ('{"level":"info","message":"a package counts","objects":3}', ""),
        ('["\\"level\\":\\"info\\"", {"level":"info"}]', ""),
        (
            CALL % ("/convert", ',"apiVersion":"a.example.com/v1","verdict":"converted","objects":1,"faults":0'),
            "convert to a.example.com/v1: converted  0.9 ms",
        ),
        (
            CALL % ("/convert", ',"apiVersion":"a.example.com/v1","verdict":"failed","objects":0,"faults":1'),
            "convert to a.example.com/v1: failed  0.9 ms",
        ),
    ],
)
def test_reviews_conversions_and_warnings_are_shown(text: str, shown: str) -> None:
    assert re.sub(r"^\d\d:\d\d:\d\d (?=convert)", "", _shown(text)) == shown
