"""What is to be done next, for what is seen.

Level: injected clock; nothing is called.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from certs import (
    Blocked,
    Generation,
    RotationSettings,
    Stage,
    StoredCertificates,
    Target,
    Trust,
    Wait,
    issue_generation,
)
from certs.bundle import fingerprint, read_certificates
from certs.generation import issuing_number, marked_name, number_of
from certs.places import TargetEntry
from certs.plan import RotationSnapshot, plan
from certs.steps import Note, Promote, Retire, Verify
from certs.validity import renewal, validity_from
from tests.certs.moments import NOW
from tests.certs.world import NAMES, SETTINGS

GENERATIONS = [issue_generation(NAMES, NOW, authority_name=marked_name(number)) for number in range(5)]
FOREIGN = issue_generation(NAMES, NOW, authority_name="another CA").ca_certificate


def bundle(*numbers: int) -> bytes:
    return b"".join(GENERATIONS[number].ca_certificate for number in numbers)


def under(generation: Generation, number: int, prefix: str = "") -> dict[str, bytes]:
    return {
        f"{prefix}tls.crt": generation.certificate,
        f"{prefix}tls.key": generation.key,
        f"{prefix}ca.crt": generation.ca_certificate,
        f"{prefix}generation": str(number).encode(),
    }


def stored(current: int, staged: int | None = None, previous: int | None = None, **stamps: Any) -> StoredCertificates:
    contents = under(GENERATIONS[current], current)
    if staged is not None:
        contents |= under(GENERATIONS[staged], staged, "next.")
    if previous is not None:
        contents["previous.ca.crt"] = bundle(previous)
    contents["bundle.crt"] = bundle(*(number for number in (previous, current, staged) if number is not None))
    return StoredCertificates(True, contents, {name.replace("_", "-"): value for name, value in stamps.items()})


def verified(number: int, at: datetime = NOW) -> dict[str, Any]:
    leaf = read_certificates(GENERATIONS[number].certificate)[0]
    return {"verified": fingerprint(leaf).hex(), "verified_at": at.isoformat()}


def seen(
    held: StoredCertificates, *bundles: bytes, now: datetime = NOW, skew: float = 0.0, fault: str = ""
) -> RotationSnapshot:
    targets = [
        Target("configurations", f"c{place}", "1", (TargetEntry("jobs", one),), fault=fault if place == 0 else "")
        for place, one in enumerate(bundles)
    ]
    return RotationSnapshot(held, tuple(targets), now, timedelta(seconds=skew))


TOGETHER = bundle(1, 2)
NOTED = plan(seen(stored(1, 2), TOGETHER), SETTINGS)
assert isinstance(NOTED, Note)
TRUSTED = NOTED.changes.stamps["trusted"] or ""
SOAKING = stored(1, 2, trusted=TRUSTED, trusted_at=NOW.isoformat())
LATER = NOW + timedelta(seconds=301)

STEPS = {
    "nothing is stored": (seen(StoredCertificates(found=False)), Stage),
    "an empty Secret": (seen(StoredCertificates(True, {"tls.crt": b"", "tls.key": b""})), Stage),
    "a CA is not trusted": (seen(stored(1), b""), Trust),
    "what is staged is not trusted": (seen(stored(1, 2), bundle(1)), Trust),
    "the former CA is not trusted": (seen(stored(2, previous=1, **verified(2)), bundle(2)), Trust),
    "all is trusted for the first time": (seen(stored(1, 2), TOGETHER), Note),
    "all is trusted, and soaks": (seen(SOAKING, TOGETHER, now=NOW + timedelta(seconds=299)), Wait),
    "all has soaked": (seen(SOAKING, TOGETHER, now=LATER), Promote),
    "another target came while it soaked": (seen(SOAKING, TOGETHER, TOGETHER, now=LATER), Note),
    "the stamp is of a time to come": (
        seen(stored(1, 2, trusted=TRUSTED, trusted_at=(NOW + timedelta(days=9)).isoformat()), TOGETHER),
        Note,
    ),
    "it was promoted": (seen(stored(2, previous=1), TOGETHER), Verify),
    "all serve it": (seen(stored(2, previous=1, **verified(2)), bundle(0, 1, 2)), Wait),
    "all serve it for long": (seen(stored(2, previous=1, **verified(2)), bundle(0, 1, 2), now=LATER), Retire),
    "revoked, all serve it": (seen(stored(2, previous=1, revoked="1", **verified(2)), TOGETHER), Retire),
    "revoked, and retired": (seen(stored(2, previous=1, revoked="1", **verified(2)), bundle(2)), Note),
    "settled": (seen(stored(2, previous=1, **verified(2)), TOGETHER, now=LATER), Wait),
    "due": (seen(stored(2, previous=1, **verified(2)), TOGETHER, now=NOW + timedelta(days=60)), Stage),
    "the store was put back": (seen(stored(1, **verified(1)), bundle(1, 3)), Stage),
    "a fault in a target": (seen(SOAKING, TOGETHER, now=LATER, fault="no right"), Blocked),
    "a fault in another target": (seen(stored(1, 2), TOGETHER, bundle(1), fault="no right"), Trust),
    "a clock is wrong": (seen(SOAKING, TOGETHER, now=LATER, skew=301), Blocked),
    "a clock is wrong, and a bundle wiped": (seen(SOAKING, b"", now=LATER, skew=-9999), Trust),
    "a clock is a little wrong": (seen(SOAKING, TOGETHER, now=LATER, skew=-299), Promote),
    "another keeps the Secret": (seen(replace(stored(1), keeper="cert-manager"), b""), Blocked),
}


@pytest.mark.parametrize("case", STEPS)
def test_the_next_step(case: str) -> None:
    observed, expected = STEPS[case]
    assert isinstance(plan(observed, SETTINGS), expected)


def test_an_emergency_soaks_for_seconds_only() -> None:
    held = replace(SOAKING, stamps={**SOAKING.stamps, "emergency": "true"})
    soon = plan(seen(held, TOGETHER, now=NOW + timedelta(seconds=4)), SETTINGS)
    assert isinstance(soon, Wait)
    assert soon.until == NOW + timedelta(seconds=5)
    assert isinstance(plan(seen(held, TOGETHER, now=NOW + timedelta(seconds=5)), SETTINGS), Promote)


def test_trust_adds_behind_what_is_there_and_takes_nothing_away() -> None:
    step = plan(seen(stored(1, 2), FOREIGN + bundle(0)), SETTINGS)
    assert isinstance(step, Trust)
    assert step.bundles == (FOREIGN + bundle(0, 1, 2),)


def test_retirement_leaves_what_is_foreign_and_holds() -> None:
    expired = issue_generation(NAMES, NOW - timedelta(days=100), authority_name="expired").ca_certificate
    held = stored(2, previous=1, **verified(2))
    step = plan(seen(held, expired + FOREIGN + bundle(0, 1, 2), now=LATER), SETTINGS)
    assert isinstance(step, Retire)
    assert step.bundles == (FOREIGN + bundle(1, 2),)


def test_what_expired_within_the_hour_is_left_for_those_whose_clock_is_behind() -> None:
    expiring = issue_generation(NAMES, NOW, authority_name="expiring", lifetime=timedelta(seconds=300)).ca_certificate
    step = plan(seen(stored(2, previous=1, **verified(2)), expiring + TOGETHER, now=LATER), SETTINGS)
    assert isinstance(step, Wait)
    assert step.settled


def test_promotion_makes_what_is_staged_current_in_one_write() -> None:
    step = plan(seen(SOAKING, TOGETHER, now=LATER), SETTINGS)
    assert isinstance(step, Promote)
    contents = step.changes.contents
    assert {key: contents[key] for key in under(GENERATIONS[2], 2)} == under(GENERATIONS[2], 2)
    assert [contents[f"next.{key}"] for key in ("tls.crt", "tls.key", "ca.crt", "generation")] == [None] * 4
    assert contents["previous.ca.crt"] == bundle(1)
    assert contents["bundle.crt"] == TOGETHER


@pytest.mark.parametrize(
    "held, bundles, number",
    [
        (stored(2, **verified(2)), [bundle(4, 2)], 5),
        (StoredCertificates(found=False), [bundle(3)], 4),
        (stored(3), [b""], 4),
    ],
    ids=["higher in a target", "only in a target", "in the store"],
)
def test_numbers_only_grow(held: StoredCertificates, bundles: list[bytes], number: int) -> None:
    names = replace(NAMES, dns_names=(*NAMES.dns_names, "more.example.com"))
    observed = seen(held, *bundles)
    step = plan(observed, RotationSettings(names))
    if isinstance(step, Trust):
        step = plan(seen(held, *step.bundles), RotationSettings(names))
    assert isinstance(step, Stage)
    assert step.number == number


@pytest.mark.parametrize(
    "days, due", [(90, 60), (365, 365 * 2 / 3), (60, 30), (30, 15), (2, 1)], ids=lambda value: str(round(value))
)
def test_the_next_is_due_with_a_third_or_a_month_left_but_not_in_the_first_half(days: int, due: float) -> None:
    assert renewal(validity_from(NOW, timedelta(days=days))) == NOW + timedelta(days=due)


def test_a_generation_is_told_by_the_name_of_its_ca() -> None:
    for number, generation in enumerate(GENERATIONS):
        assert number_of(read_certificates(generation.ca_certificate)[0]) == number
        assert issuing_number(read_certificates(generation.certificate)[0]) == number


def test_somebody_elses_ca_and_a_leaf_are_not_ours() -> None:
    assert number_of(read_certificates(FOREIGN)[0]) is None
    assert number_of(read_certificates(GENERATIONS[1].certificate)[0]) is None


@pytest.mark.parametrize(
    "text, count",
    [
        (b"", 0),
        (b"placeholder", 0),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0),
        (bundle(1)[:-60], 0),
        (bundle(1)[:-60] + bundle(2), 1),
        (b"\xff\x00" + bundle(1) + b"\n\n# a comment\n" + bundle(2, 1), 2),
        (bundle(1).replace(b"\n", b"\r\n"), 1),
        (bundle(1) + b" " * 200_000, 0),
    ],
    ids=["empty", "a word", "no certificate", "cut off", "cut off before another", "between rubbish", "CRLF", "huge"],
)
def test_certificates_are_read_out_of_anything(text: bytes, count: int) -> None:
    assert len(read_certificates(text)) == count


def test_no_key_is_in_the_text_of_anything_that_might_be_logged() -> None:
    held = stored(1, 2)
    step = plan(seen(SOAKING, TOGETHER, now=LATER), SETTINGS)
    for text in (repr(held), repr(step), repr(seen(held, TOGETHER))):
        assert "PRIVATE" not in text
        assert GENERATIONS[2].key.decode()[40:80] not in text
