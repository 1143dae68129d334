"""The report on the rotation.

Level: fake API, injected clock.
"""

from datetime import timedelta
from typing import Any

from certs import RotationSettings, issue_generation, report
from certs.rotation import Rotation
from tests.certs.test_rotation import DUE, FOREIGN
from tests.certs.world import CRD, MUTATING, NAMES, SETTINGS, World, install


async def read_report(world: World, settings: RotationSettings = SETTINGS) -> dict[str, Any]:
    observed = await Rotation(world.places(), settings).observe()
    return report(observed, await world.look(), settings)


async def test_nothing_is_wrong_after_an_installation() -> None:
    world = await install()
    world.edit(MUTATING, {name: bundle + FOREIGN for name, bundle in world.objects[MUTATING].bundles.items()})
    status = await read_report(world)
    assert status["problems"] == []
    assert status["generation"] == 1
    assert [(target["trustsGenerations"], target["foreignCAs"]) for target in status["targets"]] == [
        ([1], 1),
        ([1], 0),
        ([1], 0),
    ]
    assert (status["next"]["step"], status["staged"]) == ("wait", None)
    assert status["notAfter"] > status["renewal"]


async def test_before_the_first_generation_missing_parts_are_reported() -> None:
    status = await read_report(World())
    assert status["generation"] is None
    assert status["next"]["step"] == "stage"
    assert status["problems"] == ["the Secret contains no certificate"]
    assert status["served"][0] == {"address": "10.0.0.1:9443", "generation": None, "fault": "connection refused"}


async def test_a_bundle_that_does_not_trust_the_generation_is_a_problem() -> None:
    world = await install()
    world.wipe(CRD, FOREIGN)
    status = await read_report(world)
    assert status["problems"] == ["crds/dijobs: conversion does not trust generation 1"]
    assert status["next"]["step"] == "trust"


async def test_a_bundle_that_does_not_trust_a_certificate_without_its_ca_is_a_problem() -> None:
    provided = issue_generation(NAMES, World().time, authority_name="the company's CA")
    world = await install()
    world.put(tls_crt=provided.certificate, tls_key=provided.key, ca_crt=b"")
    problems = (await read_report(world))["problems"]
    assert "crds/dijobs: conversion does not trust the stored certificate" in problems


async def test_the_stages_are_those_of_one_rotation() -> None:
    world = await install()
    before = {stage["name"]: stage["time"] for stage in (await read_report(world))["stages"]}
    world.time += DUE
    await world.rotation().run(timedelta(0))
    status = await read_report(world)
    assert (before["promoted"] is not None, status["staged"]) == (True, 2)
    assert [stage["name"] for stage in status["stages"] if stage["time"]] == ["trusted"]


async def test_a_server_with_another_certificate_is_a_problem() -> None:
    world = await install()
    world.servers[0].reloads = False
    world.time += DUE
    await world.rotation().run(timedelta(seconds=320))
    status = await read_report(world)
    assert status["generation"] == 2
    assert [(each["number"], each["state"]) for each in status["generations"]] == [(2, "served")]
    assert [(stage["name"], stage["time"] is not None) for stage in status["stages"]] == [
        ("trusted", False),  # the stamp is removed when the generation is promoted
        ("promoted", True),
        ("verified", False),
    ]
    unreached = report(await Rotation(world.places(), SETTINGS).observe(), None, SETTINGS)
    assert (unreached["problems"], unreached["served"]) == ([], [])
    assert status["problems"] == [
        "1 of 2 servers do not serve the current certificate: 10.0.0.1:9443 (another certificate)"
    ]


async def test_an_expired_certificate_is_a_problem() -> None:
    world = await install()
    world.time += timedelta(days=100)
    assert any("tls.crt or its CA expired at" in problem for problem in (await read_report(world))["problems"])


async def test_a_missing_target_and_a_wrong_clock_are_problems() -> None:
    world = await install()
    del world.objects[CRD]
    world.own_ahead = timedelta(days=-1)
    problems = (await read_report(world))["problems"]
    assert problems[0] == "crds/dijobs does not exist"
    assert "this machine's clock is 86400s behind the API server's" in problems[1]
