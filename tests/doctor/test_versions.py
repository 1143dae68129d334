"""Versions from the tags of images."""

import pytest

from jobgate.doctor.workloads import version_of


@pytest.mark.parametrize(
    "image, version",
    [
        ("jobgate:0.1.0", "0.1.0"),
        ("registry.example:5000/team/jobgate:v1.2.3", "1.2.3"),
        ("jobgate:1.2.3-rc.1", "1.2.3-rc.1"),
        ("jobgate:1.2.3@sha256:" + 64 * "0", "1.2.3"),
        ("jobgate@sha256:" + 64 * "0", None),
        ("jobgate", None),
        ("jobgate:latest", None),
        ("registry.example:5000/jobgate", None),
    ],
)
def test_a_tag_tells_a_version_or_none(image: str, version: str | None) -> None:
    assert version_of(image) == version
