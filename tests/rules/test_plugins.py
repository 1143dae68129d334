"""Plugins that a file requests and `kubectl` does not send; other findings about plugins."""

import json
from typing import Any

import pytest

from tests.kinds.dijob import jobs

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def reported(applied: Any, plugins: dict[str, Any] | None) -> list[str]:
    """Return the warnings on a job with such an annotation that speak of plugins."""
    document = jobs.job(jobs.task("learner"))
    if plugins is not None:
        document["spec"]["plugins"] = plugins
    text = applied if isinstance(applied, str) else json.dumps(applied)
    document["metadata"]["annotations"] = {APPLIED: text}
    response = jobs.validate(document)
    assert response.allowed
    return [str(notice) for notice in response.notices if str(notice.path).startswith("spec.plugins")]


def test_a_plugin_that_the_file_says_as_null_is_reported() -> None:
    applied: dict[str, Any] = {"spec": {"plugins": {"env": None, "svc": []}}}
    assert reported(applied, {"svc": []}) == ["spec.plugins[env]: kubectl drops null values: write `env: []`"]
    assert reported(applied, None) == ["spec.plugins[env]: kubectl drops null values: write `env: []`"]


@pytest.mark.parametrize(
    "applied",
    [
        {"spec": {"plugins": {"env": []}}},
        {"spec": {"plugins": None}},
        {"spec": {"plugins": "env"}},
        {"plugins": 1},
        '{"plugins": [',
        "[" * 100_000 + '"plugins"',
        '["plugins"]',
    ],
)
def test_nothing_is_reported_if_nothing_was_dropped(applied: Any) -> None:
    assert reported(applied, {"env": []}) == []


def test_what_arrives_as_null_was_not_dropped() -> None:
    assert reported({"spec": {"plugins": {"env": None}}}, {"env": None}) == []


@pytest.mark.parametrize(
    "before, after, reported",
    [
        ({"env": []}, {"env": {}}, []),
        ({"env": None}, {"env": []}, []),
        (None, {"env": []}, ["spec.plugins[env]: added"]),
        ({"env": [], "ssh": []}, {"env": []}, ["spec.plugins[ssh]: removed"]),
        ({"ssh": []}, {"ssh": ["--ssh-key-type=rsa"]}, ["spec.plugins[ssh]: changed"]),
    ],
)
def test_who_changes_plugins_is_told_what_follows(before: Any, after: Any, reported: list[str]) -> None:
    old, new = (
        jobs.job(jobs.task("learner"), **({} if each is None else {"plugins": each})) for each in (before, after)
    )
    notices = [str(notice) for notice in jobs.validate(new, old=old).notices if "for new pods only" in str(notice)]
    end = " for new pods only: existing pods and keys stay as they are"
    assert notices == [text + end for text in reported]


def test_nothing_is_reported_about_the_plugins_of_a_new_job() -> None:
    assert not [
        notice
        for notice in jobs.validate(jobs.job(jobs.task("learner"), plugins={"env": []})).notices
        if "now on" in str(notice)
    ]
