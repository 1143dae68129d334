"""The rotation with every fault that can be injected, and all handshakes in between.

Level: fake API, injected clock.
"""

import asyncio
import random
from dataclasses import replace
from datetime import timedelta

import pytest

from certs import Blocked, Conflict, Refusal, Unavailable, Wait, issue_generation
from certs.bundle import read_certificates
from tests.certs.world import (
    CRD,
    MUTATING,
    NAMES,
    SETTINGS,
    VALIDATING,
    Killed,
    World,
    assert_healthy,
    inject,
    install,
    settle,
)

FOREIGN = issue_generation(NAMES, World().time, authority_name="someone else's CA").ca_certificate
DUE = timedelta(days=61)


async def test_an_empty_secret_becomes_a_generation_that_is_served_and_trusted() -> None:
    world = World()
    outcome = await settle(world)
    assert isinstance(outcome, Wait)
    assert outcome.settled
    assert world.number == 1
    assert world.writes[0] == "stage"
    assert world.writes.index("promote") > max(world.writes.index(name) for name in (MUTATING, VALIDATING, CRD))
    assert_healthy(world)


async def test_a_due_generation_is_replaced_and_no_handshake_fails() -> None:
    world = await install()
    world.time += DUE
    outcome = await settle(world)
    assert isinstance(outcome, Wait)
    assert world.number == 2
    assert_healthy(world)
    assert world.trusted() == [2, 2]


async def test_nothing_is_written_while_nothing_is_due() -> None:
    world = await install()
    world.time += timedelta(days=59)
    outcome = await settle(world)
    assert isinstance(outcome, Wait)
    assert outcome.settled
    assert world.writes == []


@pytest.mark.parametrize("when", ["write", "written"], ids=["before each write", "after each write"])
async def test_after_a_kill_at_any_write_another_process_continues(when: str) -> None:
    killed_at, soon = 0, replace(SETTINGS, soak=timedelta(seconds=3))
    while True:
        world = await install()
        await settle(world, replace(soon, beyond=1))
        world.writes.clear()
        remaining = killed_at

        def kill(verb: str, name: str) -> None:
            nonlocal remaining
            if verb == when:
                remaining -= 1
                if remaining < 0:
                    raise Killed

        with inject(world, kill):
            try:
                await settle(world, replace(soon, beyond=2))
            except Killed:
                pass
            else:
                break
        await settle(world, replace(soon, beyond=2))
        assert world.number == 3, f"killed at write {killed_at}"
        assert_healthy(world)
        killed_at += 1
    # stage, add the CA to three targets, note, promote, verify, remove the former CA from three targets, clean up
    assert killed_at == 11


async def test_kills_at_every_step_of_many_rotations() -> None:
    world = await install()
    for number in range(2, 14):
        world.time += DUE
        for survived in range(1, 14):
            remaining = survived

            def kill(verb: str, name: str) -> None:
                nonlocal remaining
                remaining -= verb == "written"
                if remaining <= 0:
                    raise Killed

            with inject(world, kill):
                try:
                    await settle(world)
                except Killed:
                    continue
            break
        assert world.number == number
        assert_healthy(world)


@pytest.mark.parametrize("rotators", [2, 10])
async def test_racing_rotators_make_one_generation(rotators: int) -> None:
    world = await install()
    world.time += DUE
    await asyncio.gather(*(settle(world) for _ in range(rotators)))
    assert world.number == 2
    assert world.writes.count("stage") == 1
    assert world.writes.count("promote") == 1
    assert_healthy(world)


async def test_racing_requests_to_rotate_make_one_generation() -> None:
    world = await install()
    settings = replace(SETTINGS, beyond=1)
    await asyncio.gather(*(settle(world, settings) for _ in range(10)))
    assert world.number == 2
    assert_healthy(world)


async def test_a_deleted_secret_is_created_again_while_servers_serve_from_memory() -> None:
    world = await install(lags=(0.0, 30.0))
    world.time += timedelta(minutes=1)
    world.delete_secret()
    await settle(world)
    assert world.number == 2, "servers that have seen generation 1 would refuse another one"
    assert world.writes[:1] == ["stage"]
    assert_healthy(world)


async def test_a_secret_that_is_lost_with_all_servers_is_soon_replaced() -> None:
    world = await install()
    world.delete_secret()
    for number in range(2):
        world.restart(number)
    await settle(world, patience=30)
    assert world.number == 2
    assert {server.number for server in world.servers} == {2}
    assert world.slept < 30 + 300 + 10


async def test_a_missing_right_to_create_the_secret_is_an_error() -> None:
    world = World()
    world.delete_secret()

    def forbidden(verb: str, name: str) -> None:
        if (verb, name) == ("write", "secret"):
            raise Refusal("the right to create secrets jobgate-webhook-tls is missing")

    world.faults.append(forbidden)
    with pytest.raises(Refusal, match="create secrets"):
        await settle(world)


def garbage(world: World) -> dict[str, dict[str, bytes]]:
    now, contents = world.time, world.contents or {}
    other = issue_generation(NAMES, now)
    past = issue_generation(NAMES, now - timedelta(days=200))
    future = issue_generation(NAMES, now + timedelta(days=200))
    return {
        "truncated PEM": {"tls_crt": contents["tls.crt"][:300]},
        "the key of another certificate": {"tls_key": other.key},
        "the leaf in ca.crt": {"ca_crt": contents["tls.crt"]},
        "another CA": {"ca_crt": other.ca_certificate},
        "expired": {"tls_crt": past.certificate, "tls_key": past.key, "ca_crt": past.ca_certificate},
        "not yet valid": {"tls_crt": future.certificate, "tls_key": future.key, "ca_crt": future.ca_certificate},
        "no text": {"tls_crt": b"\xff\xfe\x00" * 9, "tls_key": b"\x80", "ca_crt": b"\xc3("},
        "huge": {"tls_crt": b"-----BEGIN CERTIFICATE-----\n" + b"A" * 1_000_000, "ca_crt": b"A" * 40_000},
        "empty": {"tls_crt": b"", "tls_key": b"", "ca_crt": b"", "generation": b""},
        "a CA as the leaf": {"tls_crt": contents["ca.crt"]},
    }


GARBAGE = (
    "truncated PEM",
    "the key of another certificate",
    "the leaf in ca.crt",
    "another CA",
    "expired",
    "not yet valid",
    "no text",
    "huge",
    "empty",
    "a CA as the leaf",
)


@pytest.mark.parametrize("case", GARBAGE)
async def test_garbage_in_the_secret_is_replaced_while_servers_serve(case: str) -> None:
    world = await install()
    world.put(**garbage(world)[case])
    await settle(world)
    assert world.number == 2
    assert sum(map(len, (world.contents or {}).values())) < 20_000
    assert world.failures == []
    assert {server.number for server in world.servers} == {2}


@pytest.mark.parametrize("text", [b"7", b"-1", b"one", b"", b"9" * 400])
async def test_a_wrong_number_is_corrected_from_the_name_of_the_ca(text: bytes) -> None:
    world = await install()
    world.put(generation=text)
    await settle(world)
    assert (world.contents or {})["generation"] == b"1"
    assert world.writes == ["note"]
    assert_healthy(world)


async def test_garbage_in_the_staged_pair_is_replaced() -> None:
    world = await install()
    world.time += DUE
    await world.rotation().run()
    world.put(next_tls_key=b"garbage")
    await settle(world)
    assert world.number == 3
    assert_healthy(world)


async def test_a_secret_from_a_backup_is_still_trusted_and_then_replaced() -> None:
    world = await install()
    backup = dict(world.contents or {})
    world.time += DUE
    await settle(world)
    assert world.number == 2
    world._store(dict(backup), {})
    world.restart(0)
    await settle(world)
    assert world.number == 3
    assert_healthy(world)


async def test_a_server_that_does_not_reload_blocks_retirement_and_is_reported() -> None:
    world = await install()
    for _ in range(2):
        world.servers[0].reloads = False
        world.time += timedelta(days=61)
        outcome = await settle(world, patience=1500)
        assert isinstance(outcome, Wait)
        assert outcome.overdue
        assert "10.0.0.1:9443 (another certificate)" in outcome.why
        assert min(world.trusted()) >= 2
        assert world.failures == []
        world.servers[0].reloads = True
        world.restart(0)
        await settle(world)
        assert_healthy(world)


async def test_a_ca_is_not_retired_if_a_server_serves_it_again_after_the_check() -> None:
    world = await install()
    backup = dict(world.contents or {})
    for _ in range(2):
        world.time += DUE
        await settle(world, patience=400)
    world.servers[0].chain = read_certificates(backup["tls.crt"])
    world.wipe(MUTATING, world.objects[MUTATING].bundles["a"] + backup["ca.crt"])
    outcome = await settle(world, patience=1500)
    assert isinstance(outcome, Wait)
    assert outcome.overdue
    assert world.trusted()[0] >= 3


@pytest.mark.parametrize("late", [False, True], ids=["from the Secret", "from an old mount"])
@pytest.mark.parametrize("write", range(1, 12))
async def test_a_server_that_starts_at_any_step_is_trusted(write: int, late: bool) -> None:
    world = await install()
    await settle(world, replace(SETTINGS, beyond=1))
    settings, remaining = replace(SETTINGS, beyond=2), write

    def start(verb: str, name: str) -> None:
        nonlocal remaining
        remaining -= verb == "written"
        if not remaining and verb == "written":
            world.restart(0, late=late)

    with inject(world, start):
        await settle(world, settings, patience=1200)
    assert remaining <= 0
    # Finally the kubelet updates the old mount.
    world.servers[0].read(world.contents or {}, world.time)
    await settle(world, settings)
    assert world.number == 3
    assert_healthy(world)


async def test_without_servers_nothing_is_retired() -> None:
    world = await install(servers=0)
    world.time += DUE
    outcome = await settle(world, patience=1500)
    assert isinstance(outcome, Wait)
    assert "there are no servers" in outcome.why


@pytest.mark.parametrize("day", [91, 500], ids=["just expired", "long expired"])
async def test_an_expired_generation_is_replaced_at_once(day: int) -> None:
    world = await install()
    world.time += timedelta(days=day)
    before = world.slept
    promoted: list[float] = []

    def note(verb: str, name: str) -> None:
        if world.number == 2 and not promoted:
            promoted.append(world.slept - before)

    with inject(world, note):
        await settle(world)
    assert promoted[0] < 10
    assert world.number == 2
    world.failures.clear()
    await settle(world)
    assert_healthy(world)


async def test_an_expired_ca_is_not_removed_before_the_next_generation_is_served() -> None:
    world = await install()
    world.wipe(CRD, world.objects[CRD].bundles["conversion"] + FOREIGN)
    world.time += timedelta(days=91)
    await world.rotation().run()
    assert world.trusted(CRD) == [3]


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(days=1), timedelta(days=365)], ids=str)
@pytest.mark.parametrize("sign", [1, -1], ids=["ahead", "behind"])
async def test_with_a_wrong_clock_bundles_are_repaired_and_nothing_else_changes(ahead: timedelta, sign: int) -> None:
    world = await install()
    world.time += DUE
    world.own_ahead = sign * ahead
    world.wipe(VALIDATING)
    world.failures.clear()
    outcome = await settle(world)
    assert isinstance(outcome, Blocked)
    assert "clock" in outcome.why
    assert world.writes == [VALIDATING]
    world.own_ahead = timedelta()
    await settle(world)
    assert_healthy(world)


async def test_a_small_clock_skew_is_tolerated() -> None:
    world = await install()
    world.time += DUE
    world.own_ahead = timedelta(minutes=4)
    await settle(world)
    assert world.number == 2
    assert_healthy(world)


@pytest.mark.parametrize("off", [timedelta(days=365), timedelta(days=-365), timedelta(hours=-3)], ids=str)
async def test_after_wrong_clocks_everything_recovers_and_cas_of_others_are_kept(off: timedelta) -> None:
    world = await install()
    foreign = issue_generation(NAMES, world.time, authority_name="someone else's CA", lifetime=timedelta(days=3650))
    for name in (MUTATING, CRD):
        bundles = world.objects[name].bundles
        world.edit(name, {entry: bundle + foreign.ca_certificate for entry, bundle in bundles.items()})
    world.time += off
    await settle(world)
    world.time -= off
    await settle(world)
    world.failures.clear()
    await world.sleep(100)
    assert world.failures == []
    assert foreign.ca_certificate in world.objects[MUTATING].bundles["a"]
    assert {server.number for server in world.servers} == {world.number}


async def test_after_a_sleep_beyond_expiry_the_first_pass_recovers() -> None:
    world = await install()
    world.time += timedelta(days=200)
    await settle(world, patience=6)
    assert world.number == 2


@pytest.mark.parametrize("steps", range(12))
async def test_a_bundle_wiped_at_any_time_is_repaired_and_nothing_is_promoted_before(steps: int) -> None:
    world = await install()
    world.time += DUE
    rotation = world.rotation()
    for _ in range(steps):
        outcome = await rotation.step()
        if isinstance(outcome, Wait) and not outcome.settled:
            await world.sleep(max(0.0, (outcome.until - world.time).total_seconds()) + 0.1)
    world.wipe(MUTATING, b"-----BEGIN CERTIFICATE-----\nplaceholder\n-----END CERTIFICATE-----\n" + FOREIGN)
    await rotation.step()
    assert min(world.trusted()) >= 1
    await world.sleep(3)
    world.failures.clear()  # caused by the wipe
    await settle(world)
    assert world.failures == []
    assert world.number == 2
    for bundle in world.objects[MUTATING].bundles.values():
        assert FOREIGN in bundle
        assert b"placeholder" not in bundle


async def test_time_that_passed_before_a_wipe_does_not_count_as_soak() -> None:
    world = await install()
    world.time += DUE
    outcome = await world.rotation().run()
    assert isinstance(outcome, Wait)
    await world.sleep(290)
    world.wipe(VALIDATING)
    await world.rotation().run(timedelta(seconds=60))
    assert world.number == 1
    await world.sleep(200)
    await world.rotation().run(timedelta(seconds=60))
    assert world.number == 1
    await settle(world)
    assert world.number == 2


@pytest.mark.parametrize("broken", [("a",), ("b",)], ids=str)
async def test_a_partly_patched_target_is_completed(broken: tuple[str, ...]) -> None:
    world = await install()
    whole = world.objects[MUTATING].bundles
    world.edit(MUTATING, {entry: b"" if entry in broken else bundle for entry, bundle in whole.items()})
    await settle(world)
    assert world.writes == [MUTATING]
    assert world.objects[MUTATING].bundles == whole


async def test_a_fight_over_a_bundle_ends_with_an_error() -> None:
    world = await install()

    def wiper(verb: str, name: str) -> None:
        if (verb, name) == ("written", MUTATING):
            world.wipe(MUTATING)

    world.wipe(MUTATING)
    world.faults.append(wiper)
    with pytest.raises(Conflict, match=r"gave up after repairing mutating/jobgate 12 times.*overwrites"):
        await settle(world)


@pytest.mark.parametrize(
    "error", [Conflict("changed"), Unavailable("429", 7.0), Unavailable("500"), Unavailable("no response")], ids=str
)
async def test_many_errors_are_tolerated_and_make_no_second_generation(error: Exception) -> None:
    world = await install()
    chance = random.Random(4)

    def storm(verb: str, name: str) -> None:
        if chance.random() < 0.1:
            raise error

    with inject(world, storm):
        # Errors occur before and after writes.
        for number in (2, 3, 4):
            world.time += DUE
            await settle(world)
            assert world.number == number
    assert world.writes.count("stage") == 3
    assert_healthy(world)


async def test_retry_after_is_respected() -> None:
    world = World()
    answers = iter([Unavailable("429", 40.0)])

    def busy(verb: str, name: str) -> None:
        for error in answers:
            raise error

    world.faults.append(busy)
    await world.rotation().run()
    assert world.slept >= 40


async def test_a_pass_without_an_api_server_ends_in_bounded_time() -> None:
    world = await install()

    def gone(verb: str, name: str) -> None:
        raise Unavailable("no response")

    world.faults.append(gone)
    before = world.slept
    with pytest.raises(Unavailable):
        await settle(world)
    assert 5 < world.slept - before < 120


async def test_the_soak_covers_api_servers_that_lag_by_half_a_minute() -> None:
    world = await install(lags=(0.0, 0.5, 30.0))
    for number in (2, 3):
        world.time += DUE
        await settle(world)
        assert world.number == number
        assert_healthy(world)


async def test_an_added_entry_is_repaired() -> None:
    world = await install()
    world.edit(MUTATING, {**world.objects[MUTATING].bundles, "c": b""})
    world.failures.clear()
    await settle(world)
    assert world.writes == [MUTATING]
    await world.sleep(5)
    assert_healthy(world)


async def test_renamed_and_removed_entries_do_no_harm() -> None:
    world = await install()
    world.edit(MUTATING, {"new": b""})
    world.failures.clear()
    world.time += DUE
    await settle(world)
    world.failures.clear()
    await settle(world)
    assert_healthy(world)
    assert world.trusted() == [2]


@pytest.mark.parametrize("steps", [0, 2, 4, 6])
async def test_a_recreated_configuration_is_repaired_and_soaked_again(steps: int) -> None:
    world = await install()
    world.time += DUE
    rotation = world.rotation()
    for _ in range(steps):
        await rotation.step()
    world.create(VALIDATING, {"a": b"", "b": b""})
    await rotation.step()
    await world.sleep(3)
    world.failures.clear()
    await settle(world)
    assert world.number == 2
    assert_healthy(world)


async def test_a_conversion_with_a_placeholder_gets_real_certificates() -> None:
    world = World()
    world.wipe(CRD, b"\n")
    await settle(world)
    assert world.trusted(CRD) == [1]
    assert_healthy(world)


async def test_a_missing_right_for_one_target_stops_promotion_and_is_reported() -> None:
    world = await install()
    world.time += DUE
    denial = "the right to patch crds dijobs is missing"

    def forbidden(verb: str, name: str) -> None:
        if (verb, name) == ("write", CRD):
            raise Refusal(denial)

    with inject(world, forbidden):
        outcome = await settle(world)
        assert outcome == Blocked((denial,))
        assert world.number == 1
        assert world.trusted(MUTATING) == world.trusted(VALIDATING) == [2, 2]
        assert world.failures == []
        # Other targets are repaired nevertheless.
        world.wipe(VALIDATING)
        await settle(world)
        assert world.trusted(VALIDATING) == [2, 2]
        await world.sleep(3)
        world.failures.clear()
    await settle(world)
    assert world.number == 2
    assert_healthy(world)


async def test_configurations_that_are_created_after_the_secret_are_repaired() -> None:
    world = World()
    world.objects.clear()
    await settle(world)
    assert world.number == 1
    world.create(MUTATING, {"a": b""})
    world.create(VALIDATING, {"a": b""})
    await settle(world)
    assert world.trusted() == [1]
    await world.sleep(5)
    world.failures.clear()  # before the first generation was trusted
    await world.sleep(5)
    assert_healthy(world)


async def test_another_name_makes_a_new_generation() -> None:
    world = await install()
    more = replace(SETTINGS, names=replace(NAMES, dns_names=(*NAMES.dns_names, "webhook.example.com")))
    await settle(world, more)
    assert world.number == 2
    assert_healthy(world)
    await settle(world, more)
    assert world.number == 2


async def test_a_revoked_generation_loses_trust_when_all_servers_serve_the_next() -> None:
    world = await install()
    former = (world.contents or {})["ca.crt"]
    await settle(world, replace(SETTINGS, beyond=1, revoke=True))
    assert world.number == 2
    for name in (MUTATING, VALIDATING, CRD):
        for bundle in world.objects[name].bundles.values():
            assert former not in bundle
            assert len(read_certificates(bundle)) == 1
    assert "previous.ca.crt" not in (world.contents or {})
    assert former not in (world.contents or {})["bundle.crt"]
    assert "revoked" not in world.stamps
    assert_healthy(world)


async def test_a_process_without_the_option_continues_a_revocation() -> None:
    world = await install()
    former = (world.contents or {})["ca.crt"]
    await world.rotation(replace(SETTINGS, beyond=1, revoke=True)).run()
    await settle(world)
    assert world.number == 2
    assert former not in world.objects[MUTATING].bundles["a"]
    assert_healthy(world)


async def test_a_revocation_uses_a_staged_generation() -> None:
    world = await install()
    world.time += DUE
    await world.rotation().run()
    await settle(world, replace(SETTINGS, beyond=1, revoke=True))
    assert world.number == 2
    assert world.trusted() == [1, 1]
    assert_healthy(world)


async def test_a_certificate_of_the_user_is_replaced_when_it_is_due() -> None:
    provided = issue_generation(NAMES, World().time, authority_name="the company's CA")
    world = World()
    world.put(tls_crt=provided.certificate, tls_key=provided.key, ca_crt=provided.ca_certificate)
    await settle(world)
    assert "generation" not in (world.contents or {})
    assert world.trusted() == [1, 1]
    await world.sleep(5)
    world.failures.clear()
    world.time += DUE
    await settle(world)
    assert world.number == 1
    assert world.failures == []


async def test_hundreds_of_rotations_leave_only_two_generations() -> None:
    world = await install(lags=(0.0,), servers=1)
    del world.objects[VALIDATING], world.objects[CRD]
    sizes = []
    for _ in range(300):
        settings = replace(SETTINGS, beyond=world.number, soak=timedelta())
        await settle(world, settings)
        world.objects[MUTATING].past.clear()
        for target in world.objects.values():
            target.past[:] = [(world.time, target.bundles)]
        world._verified.clear()
        if world.number % 75 == 1:
            sizes.append((sum(map(len, (world.contents or {}).values())), len(world.stamps)))
    assert world.number == 301
    assert world.trusted() == [2, 2]
    assert_healthy(world)
    assert max(size for size, _ in sizes) - min(size for size, _ in sizes) < 100
    assert len({stamps for _, stamps in sizes}) == 1
