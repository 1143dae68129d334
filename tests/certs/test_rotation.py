"""The rotation against an API in memory, with an injected clock: every fault, and every handshake in between.

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
    fault,
    installed,
    settled,
    sound,
)

FOREIGN = issue_generation(NAMES, World().time, authority_name="someone else's CA").ca_certificate
DUE = timedelta(days=61)


async def test_an_empty_secret_becomes_a_generation_that_is_served_and_trusted() -> None:
    world = World()
    done = await settled(world)
    assert isinstance(done, Wait)
    assert done.settled
    assert world.number == 1
    assert world.writes[0] == "stage"
    assert world.writes.index("promote") > max(world.writes.index(name) for name in (MUTATING, VALIDATING, CRD))
    sound(world)


async def test_a_due_generation_is_followed_by_the_next_and_no_handshake_fails() -> None:
    world = await installed()
    world.time += DUE
    done = await settled(world)
    assert isinstance(done, Wait)
    assert world.number == 2
    sound(world)
    assert world.trusted() == [2, 2]


async def test_nothing_is_written_while_nothing_is_due() -> None:
    world = await installed()
    world.time += timedelta(days=59)
    done = await settled(world)
    assert isinstance(done, Wait)
    assert done.settled
    assert world.writes == []


@pytest.mark.parametrize("when", ["write", "written"], ids=["before each write", "after each write"])
async def test_killed_at_any_write_the_next_one_goes_on(when: str) -> None:
    killed_at, soon = 0, replace(SETTINGS, soak=timedelta(seconds=3))
    while True:
        world = await installed()
        await settled(world, replace(soon, beyond=1))
        world.writes.clear()
        left = killed_at

        def kill(verb: str, name: str) -> None:
            nonlocal left
            if verb == when:
                left -= 1
                if left < 0:
                    raise Killed

        with fault(world, kill):
            try:
                await settled(world, replace(soon, beyond=2))
            except Killed:
                pass
            else:
                break
        await settled(world, replace(soon, beyond=2))
        assert world.number == 3, f"killed at write {killed_at}"
        sound(world)
        killed_at += 1
    # stage, trust three targets, note it, promote, note who serves, take the first out of three targets, tidy
    assert killed_at == 11


async def test_killed_at_every_step_of_a_long_life() -> None:
    world = await installed()
    for number in range(2, 14):
        world.time += DUE
        for survived in range(1, 14):
            left = survived

            def kill(verb: str, name: str) -> None:
                nonlocal left
                left -= verb == "written"
                if left <= 0:
                    raise Killed

            with fault(world, kill):
                try:
                    await settled(world)
                except Killed:
                    continue
            break
        assert world.number == number
        sound(world)


@pytest.mark.parametrize("rotators", [2, 10])
async def test_racing_rotators_make_one_generation(rotators: int) -> None:
    world = await installed()
    world.time += DUE
    await asyncio.gather(*(settled(world) for _ in range(rotators)))
    assert world.number == 2
    assert world.writes.count("stage") == 1
    assert world.writes.count("promote") == 1
    sound(world)


async def test_racing_rotators_that_were_told_to_rotate_make_one_generation() -> None:
    world = await installed()
    asked = replace(SETTINGS, beyond=1)
    await asyncio.gather(*(settled(world, asked) for _ in range(10)))
    assert world.number == 2
    sound(world)


async def test_a_deleted_secret_is_made_anew_while_servers_serve_on_from_memory() -> None:
    world = await installed(lags=(0.0, 30.0))
    world.time += timedelta(minutes=1)
    world.delete_secret()
    await settled(world)
    assert world.number == 2, "servers that have seen generation 1 would refuse another one"
    assert world.writes[:1] == ["stage"]
    sound(world)


async def test_a_secret_that_is_lost_with_all_its_servers_is_back_soon() -> None:
    world = await installed()
    world.delete_secret()
    for number in range(2):
        world.restart(number)
    await settled(world, patience=30)
    assert world.number == 2
    assert {server.number for server in world.servers} == {2}
    assert world.slept < 30 + 300 + 10


async def test_a_missing_secret_that_may_not_be_made_is_told() -> None:
    world = World()
    world.delete_secret()

    def forbidden(verb: str, name: str) -> None:
        if (verb, name) == ("write", "secret"):
            raise Refusal("the right to create secrets jobgate-webhook-tls is missing")

    world.faults.append(forbidden)
    with pytest.raises(Refusal, match="create secrets"):
        await settled(world)


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
async def test_garbage_in_the_secret_is_replaced_and_servers_serve_on(case: str) -> None:
    world = await installed()
    world.put(**garbage(world)[case])
    await settled(world)
    assert world.number == 2
    assert sum(map(len, (world.contents or {}).values())) < 20_000
    assert world.failures == []
    assert {server.number for server in world.servers} == {2}


@pytest.mark.parametrize("text", [b"7", b"-1", b"one", b"", b"9" * 400])
async def test_a_wrong_number_is_put_right_from_the_name_of_the_ca(text: bytes) -> None:
    world = await installed()
    world.put(generation=text)
    await settled(world)
    assert (world.contents or {})["generation"] == b"1"
    assert world.writes == ["note"]
    sound(world)


async def test_a_staged_pair_that_is_garbage_is_staged_anew() -> None:
    world = await installed()
    world.time += DUE
    await world.rotation().run()
    world.put(next_tls_key=b"garbage")
    await settled(world)
    assert world.number == 3
    sound(world)


async def test_a_secret_from_a_backup_is_still_trusted_and_followed_by_a_new_generation() -> None:
    world = await installed()
    backup = dict(world.contents or {})
    world.time += DUE
    await settled(world)
    assert world.number == 2
    world._store(dict(backup), {})
    world.restart(0)
    await settled(world)
    assert world.number == 3
    sound(world)


async def test_a_server_that_does_not_reload_blocks_retirement_and_is_told() -> None:
    world = await installed()
    for _ in range(2):
        world.servers[0].reloads = False
        world.time += timedelta(days=61)
        done = await settled(world, patience=1500)
        assert isinstance(done, Wait)
        assert done.overdue
        assert "10.0.0.1:9443 (another certificate)" in done.why
        assert min(world.trusted()) >= 2
        assert world.failures == []
        world.servers[0].reloads = True
        world.restart(0)
        await settled(world)
        sound(world)


async def test_what_a_server_began_to_serve_after_it_was_looked_at_is_not_retired() -> None:
    world = await installed()
    backup = dict(world.contents or {})
    for _ in range(2):
        world.time += DUE
        await settled(world, patience=400)
    world.servers[0].chain = read_certificates(backup["tls.crt"])
    world.wipe(MUTATING, world.objects[MUTATING].bundles["a"] + backup["ca.crt"])
    done = await settled(world, patience=1500)
    assert isinstance(done, Wait)
    assert done.overdue
    assert world.trusted()[0] >= 3


@pytest.mark.parametrize("late", [False, True], ids=["from the Secret", "from an old mount"])
@pytest.mark.parametrize("write", range(1, 12))
async def test_a_server_that_starts_at_any_step_is_trusted(write: int, late: bool) -> None:
    world = await installed()
    await settled(world, replace(SETTINGS, beyond=1))
    asked, left = replace(SETTINGS, beyond=2), write

    def start(verb: str, name: str) -> None:
        nonlocal left
        left -= verb == "written"
        if not left and verb == "written":
            world.restart(0, late=late)

    with fault(world, start):
        await settled(world, asked, patience=1200)
    assert left <= 0
    # Whoever started from an old mount sees the Secret of today in the end, as all do.
    world.servers[0].read(world.contents or {}, world.time)
    await settled(world, asked)
    assert world.number == 3
    sound(world)


async def test_without_servers_nothing_is_retired() -> None:
    world = await installed(servers=0)
    world.time += DUE
    done = await settled(world, patience=1500)
    assert isinstance(done, Wait)
    assert "there are no servers" in done.why


@pytest.mark.parametrize("day", [91, 500], ids=["just expired", "long expired"])
async def test_an_expired_generation_is_replaced_at_once(day: int) -> None:
    world = await installed()
    world.time += timedelta(days=day)
    before = world.slept
    promoted: list[float] = []

    def note(verb: str, name: str) -> None:
        if world.number == 2 and not promoted:
            promoted.append(world.slept - before)

    with fault(world, note):
        await settled(world)
    assert promoted[0] < 10
    assert world.number == 2
    world.failures.clear()
    await settled(world)
    sound(world)


async def test_an_expired_generation_is_not_stripped_before_the_next_is_served() -> None:
    world = await installed()
    world.wipe(CRD, world.objects[CRD].bundles["conversion"] + FOREIGN)
    world.time += timedelta(days=91)
    await world.rotation().run()
    assert world.trusted(CRD) == [3]


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(days=1), timedelta(days=365)], ids=str)
@pytest.mark.parametrize("sign", [1, -1], ids=["ahead", "behind"])
async def test_a_wrong_clock_changes_nothing_but_mends(ahead: timedelta, sign: int) -> None:
    world = await installed()
    world.time += DUE
    world.own_ahead = sign * ahead
    world.wipe(VALIDATING)
    world.failures.clear()
    done = await settled(world)
    assert isinstance(done, Blocked)
    assert "clock" in done.why
    assert world.writes == [VALIDATING]
    world.own_ahead = timedelta()
    await settled(world)
    sound(world)


async def test_a_clock_that_is_a_little_wrong_is_borne() -> None:
    world = await installed()
    world.time += DUE
    world.own_ahead = timedelta(minutes=4)
    await settled(world)
    assert world.number == 2
    sound(world)


@pytest.mark.parametrize("off", [timedelta(days=365), timedelta(days=-365), timedelta(hours=-3)], ids=str)
async def test_when_all_clocks_are_wrong_for_a_while_nothing_foreign_is_lost_and_all_comes_back(off: timedelta) -> None:
    world = await installed()
    true = issue_generation(NAMES, world.time, authority_name="someone else's CA", lifetime=timedelta(days=3650))
    for name in (MUTATING, CRD):
        bundles = world.objects[name].bundles
        world.edit(name, {entry: bundle + true.ca_certificate for entry, bundle in bundles.items()})
    world.time += off
    await settled(world)
    world.time -= off
    await settled(world)
    world.failures.clear()
    await world.sleep(100)
    assert world.failures == []
    assert true.ca_certificate in world.objects[MUTATING].bundles["a"]
    assert {server.number for server in world.servers} == {world.number}


async def test_a_sleep_beyond_expiry_is_made_good_in_the_first_pass() -> None:
    world = await installed()
    world.time += timedelta(days=200)
    await settled(world, patience=6)
    assert world.number == 2


@pytest.mark.parametrize("steps", range(12))
async def test_a_bundle_wiped_at_any_time_is_repaired_and_nothing_is_promoted_before(steps: int) -> None:
    world = await installed()
    world.time += DUE
    rotation = world.rotation()
    for _ in range(steps):
        done = await rotation.step()
        if isinstance(done, Wait) and not done.settled:
            await world.sleep(max(0.0, (done.until - world.time).total_seconds()) + 0.1)
    world.wipe(MUTATING, b"-----BEGIN CERTIFICATE-----\nplaceholder\n-----END CERTIFICATE-----\n" + FOREIGN)
    await rotation.step()
    assert min(world.trusted()) >= 1
    await world.sleep(3)
    world.failures.clear()  # the wiper's
    await settled(world)
    assert world.failures == []
    assert world.number == 2
    for bundle in world.objects[MUTATING].bundles.values():
        assert FOREIGN in bundle
        assert b"placeholder" not in bundle


async def test_time_that_passed_before_a_wipe_does_not_count_as_soak() -> None:
    world = await installed()
    world.time += DUE
    done = await world.rotation().run()
    assert isinstance(done, Wait)
    await world.sleep(290)
    world.wipe(VALIDATING)
    await world.rotation().run(timedelta(seconds=60))
    assert world.number == 1
    await world.sleep(200)
    await world.rotation().run(timedelta(seconds=60))
    assert world.number == 1
    await settled(world)
    assert world.number == 2


@pytest.mark.parametrize("broken", [("a",), ("b",)], ids=str)
async def test_a_target_that_is_patched_in_part_is_completed(broken: tuple[str, ...]) -> None:
    world = await installed()
    whole = world.objects[MUTATING].bundles
    world.edit(MUTATING, {entry: b"" if entry in broken else bundle for entry, bundle in whole.items()})
    await settled(world)
    assert world.writes == [MUTATING]
    assert world.objects[MUTATING].bundles == whole


async def test_a_fight_over_a_bundle_ends_in_words() -> None:
    world = await installed()

    def wiper(verb: str, name: str) -> None:
        if (verb, name) == ("written", MUTATING):
            world.wipe(MUTATING)

    world.wipe(MUTATING)
    world.faults.append(wiper)
    with pytest.raises(Conflict, match=r"gave up after repairing mutating/jobgate 12 times.*overwrites"):
        await settled(world)


@pytest.mark.parametrize(
    "error", [Conflict("changed"), Unavailable("429", 7.0), Unavailable("500"), Unavailable("no response")], ids=str
)
async def test_a_storm_of_errors_is_borne_and_makes_no_second_generation(error: Exception) -> None:
    world = await installed()
    chance = random.Random(4)

    def storm(verb: str, name: str) -> None:
        if chance.random() < 0.1:
            raise error

    with fault(world, storm):
        # The error may come after the write as well as before it.
        for number in (2, 3, 4):
            world.time += DUE
            await settled(world)
            assert world.number == number
    assert world.writes.count("stage") == 3
    sound(world)


async def test_an_api_server_that_asks_for_time_gets_it() -> None:
    world = World()
    answers = iter([Unavailable("429", 40.0)])

    def busy(verb: str, name: str) -> None:
        for error in answers:
            raise error

    world.faults.append(busy)
    await world.rotation().run()
    assert world.slept >= 40


async def test_an_api_server_that_is_gone_ends_a_pass_in_bounded_time() -> None:
    world = await installed()

    def gone(verb: str, name: str) -> None:
        raise Unavailable("no response")

    world.faults.append(gone)
    before = world.slept
    with pytest.raises(Unavailable):
        await settled(world)
    assert 5 < world.slept - before < 120


async def test_an_api_server_that_lags_by_half_a_minute_is_covered_by_the_soak() -> None:
    world = await installed(lags=(0.0, 0.5, 30.0))
    for number in (2, 3):
        world.time += DUE
        await settled(world)
        assert world.number == number
        sound(world)


async def test_an_entry_that_is_added_is_repaired() -> None:
    world = await installed()
    world.edit(MUTATING, {**world.objects[MUTATING].bundles, "c": b""})
    world.failures.clear()
    await settled(world)
    assert world.writes == [MUTATING]
    await world.sleep(5)
    sound(world)


async def test_an_entry_that_is_renamed_and_one_that_is_removed_are_no_trouble() -> None:
    world = await installed()
    world.edit(MUTATING, {"new": b""})
    world.failures.clear()
    world.time += DUE
    await settled(world)
    world.failures.clear()
    await settled(world)
    sound(world)
    assert world.trusted() == [2]


@pytest.mark.parametrize("steps", [0, 2, 4, 6])
async def test_a_configuration_that_is_made_anew_is_repaired_and_soaked_again(steps: int) -> None:
    world = await installed()
    world.time += DUE
    rotation = world.rotation()
    for _ in range(steps):
        await rotation.step()
    world.create(VALIDATING, {"a": b"", "b": b""})
    await rotation.step()
    await world.sleep(3)
    world.failures.clear()
    await settled(world)
    assert world.number == 2
    sound(world)


async def test_a_conversion_with_a_placeholder_gets_real_certificates() -> None:
    world = World()
    world.wipe(CRD, b"\n")
    await settled(world)
    assert world.trusted(CRD) == [1]
    sound(world)


async def test_a_right_that_is_missing_for_one_target_stops_promotion_and_is_named() -> None:
    world = await installed()
    world.time += DUE
    denial = "the right to patch crds dijobs is missing"

    def forbidden(verb: str, name: str) -> None:
        if (verb, name) == ("write", CRD):
            raise Refusal(denial)

    with fault(world, forbidden):
        done = await settled(world)
        assert done == Blocked((denial,))
        assert world.number == 1
        assert world.trusted(MUTATING) == world.trusted(VALIDATING) == [2, 2]
        assert world.failures == []
        # Others are repaired all the same.
        world.wipe(VALIDATING)
        await settled(world)
        assert world.trusted(VALIDATING) == [2, 2]
        await world.sleep(3)
        world.failures.clear()
    await settled(world)
    assert world.number == 2
    sound(world)


async def test_configurations_that_come_after_the_secret_are_repaired() -> None:
    world = World()
    world.objects.clear()
    await settled(world)
    assert world.number == 1
    world.create(MUTATING, {"a": b""})
    world.create(VALIDATING, {"a": b""})
    await settled(world)
    assert world.trusted() == [1]
    await world.sleep(5)
    world.failures.clear()  # of the time when nothing was trusted yet
    await world.sleep(5)
    sound(world)


async def test_a_further_name_makes_a_new_generation() -> None:
    world = await installed()
    more = replace(SETTINGS, names=replace(NAMES, dns_names=(*NAMES.dns_names, "webhook.example.com")))
    await settled(world, more)
    assert world.number == 2
    sound(world)
    await settled(world, more)
    assert world.number == 2


async def test_revoked_the_former_generation_is_trusted_no_longer_once_all_serve_the_next() -> None:
    world = await installed()
    former = (world.contents or {})["ca.crt"]
    await settled(world, replace(SETTINGS, beyond=1, revoke=True))
    assert world.number == 2
    for name in (MUTATING, VALIDATING, CRD):
        for bundle in world.objects[name].bundles.values():
            assert former not in bundle
            assert len(read_certificates(bundle)) == 1
    assert "previous.ca.crt" not in (world.contents or {})
    assert former not in (world.contents or {})["bundle.crt"]
    assert "revoked" not in world.stamps
    sound(world)


async def test_a_revocation_is_gone_on_with_by_who_knows_nothing_of_it() -> None:
    world = await installed()
    former = (world.contents or {})["ca.crt"]
    await world.rotation(replace(SETTINGS, beyond=1, revoke=True)).run()
    await settled(world)
    assert world.number == 2
    assert former not in world.objects[MUTATING].bundles["a"]
    sound(world)


async def test_a_revocation_while_another_generation_is_staged_takes_that_one() -> None:
    world = await installed()
    world.time += DUE
    await world.rotation().run()
    await settled(world, replace(SETTINGS, beyond=1, revoke=True))
    assert world.number == 2
    assert world.trusted() == [1, 1]
    sound(world)


async def test_a_certificate_that_somebody_brought_is_followed_by_ours_when_it_is_due() -> None:
    brought = issue_generation(NAMES, World().time, authority_name="the company's CA")
    world = World()
    world.put(tls_crt=brought.certificate, tls_key=brought.key, ca_crt=brought.ca_certificate)
    await settled(world)
    assert "generation" not in (world.contents or {})
    assert world.trusted() == [1, 1]
    await world.sleep(5)
    world.failures.clear()
    world.time += DUE
    await settled(world)
    assert world.number == 1
    assert world.failures == []


async def test_hundreds_of_rotations_leave_two_generations_and_nothing_else() -> None:
    world = await installed(lags=(0.0,), servers=1)
    del world.objects[VALIDATING], world.objects[CRD]
    sizes = []
    for _ in range(300):
        asked = replace(SETTINGS, beyond=world.number, soak=timedelta())
        await settled(world, asked)
        world.objects[MUTATING].past.clear()
        for target in world.objects.values():
            target.past[:] = [(world.time, target.bundles)]
        world._verified.clear()
        if world.number % 75 == 1:
            sizes.append((sum(map(len, (world.contents or {}).values())), len(world.stamps)))
    assert world.number == 301
    assert world.trusted() == [2, 2]
    sound(world)
    assert max(size for size, _ in sizes) - min(size for size, _ in sizes) < 100
    assert len({stamps for _, stamps in sizes}) == 1
