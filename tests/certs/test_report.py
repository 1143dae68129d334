"""How things stand, for people.

Level: fake API, injected clock.
"""

from datetime import timedelta
from typing import Any

from certs import RotationSettings, issue_generation, report
from certs.rotation import Rotation
from tests.certs.test_rotation import DUE, FOREIGN
from tests.certs.world import CRD, MUTATING, NAMES, SETTINGS, World, installed


async def reported(world: World, settings: RotationSettings = SETTINGS) -> dict[str, Any]:
    observed = await Rotation(world.places(), settings).observe()
    return report(observed, await world.look(), settings)


async def test_nothing_is_wrong_after_an_installation() -> None:
    world = await installed()
    world.edit(MUTATING, {name: bundle + FOREIGN for name, bundle in world.objects[MUTATING].bundles.items()})
    found = await reported(world)
    assert found["problems"] == []
    assert found["generation"] == 1
    assert [(one["trustsGenerations"], one["foreignCAs"]) for one in found["targets"]] == [([1], 1), ([1], 0), ([1], 0)]
    assert (found["next"]["step"], found["staged"]) == ("wait", None)
    assert found["notAfter"] > found["renewal"]


async def test_before_the_first_generation_all_that_is_missing_is_told() -> None:
    found = await reported(World())
    assert found["generation"] is None
    assert found["next"]["step"] == "stage"
    assert found["problems"] == ["the Secret contains no certificate"]
    assert found["served"][0] == {"address": "10.0.0.1:9443", "generation": None, "fault": "connection refused"}


async def test_a_bundle_that_does_not_fit_what_is_served_is_a_problem() -> None:
    world = await installed()
    world.wipe(CRD, FOREIGN)
    found = await reported(world)
    assert found["problems"] == ["crds/dijobs: conversion does not trust generation 1"]
    assert found["next"]["step"] == "trust"


async def test_a_bundle_that_does_not_trust_a_certificate_without_its_ca_is_a_problem() -> None:
    brought = issue_generation(NAMES, World().time, authority_name="the company's CA")
    world = await installed()
    world.put(tls_crt=brought.certificate, tls_key=brought.key, ca_crt=b"")
    problems = (await reported(world))["problems"]
    assert "crds/dijobs: conversion does not trust the stored certificate" in problems


async def test_a_server_that_serves_something_else_is_told() -> None:
    world = await installed()
    world.servers[0].reloads = False
    world.time += DUE
    await world.rotation().run(timedelta(seconds=320))
    found = await reported(world)
    assert found["generation"] == 2
    assert found["problems"] == [
        "1 of 2 servers do not serve the current certificate: 10.0.0.1:9443 (another certificate)"
    ]


async def test_an_expired_certificate_is_a_problem() -> None:
    world = await installed()
    world.time += timedelta(days=100)
    assert any("tls.crt or its CA expired at" in problem for problem in (await reported(world))["problems"])


async def test_a_target_that_is_not_there_and_a_wrong_clock_are_told() -> None:
    world = await installed()
    del world.objects[CRD]
    world.own_ahead = timedelta(days=-1)
    problems = (await reported(world))["problems"]
    assert problems[0] == "crds/dijobs does not exist"
    assert "this machine's clock is 86400s behind the API server's" in problems[1]
