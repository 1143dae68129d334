"""The next step for an observed state.

Level: injected clock, no API.
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


def contents_of(generation: Generation, number: int, prefix: str = "") -> dict[str, bytes]:
    return {
        f"{prefix}tls.crt": generation.certificate,
        f"{prefix}tls.key": generation.key,
        f"{prefix}ca.crt": generation.ca_certificate,
        f"{prefix}generation": str(number).encode(),
    }


def secret(current: int, staged: int | None = None, previous: int | None = None, **stamps: Any) -> StoredCertificates:
    contents = contents_of(GENERATIONS[current], current)
    if staged is not None:
        contents |= contents_of(GENERATIONS[staged], staged, "next.")
    if previous is not None:
        contents["previous.ca.crt"] = bundle(previous)
    contents["bundle.crt"] = bundle(*(number for number in (previous, current, staged) if number is not None))
    return StoredCertificates(True, contents, {name.replace("_", "-"): value for name, value in stamps.items()})


def verified(number: int, at: datetime = NOW) -> dict[str, Any]:
    leaf = read_certificates(GENERATIONS[number].certificate)[0]
    return {"verified": fingerprint(leaf).hex(), "verified_at": at.isoformat()}


def snapshot(
    stored: StoredCertificates, *bundles: bytes, now: datetime = NOW, skew: float = 0.0, fault: str = ""
) -> RotationSnapshot:
    targets = [
        Target("configurations", f"c{index}", "1", (TargetEntry("jobs", content),), fault=fault if index == 0 else "")
        for index, content in enumerate(bundles)
    ]
    return RotationSnapshot(stored, tuple(targets), now, timedelta(seconds=skew))


TOGETHER = bundle(1, 2)
NOTE = plan(snapshot(secret(1, 2), TOGETHER), SETTINGS)
assert isinstance(NOTE, Note)
TRUSTED = NOTE.changes.stamps["trusted"] or ""
SOAKING = secret(1, 2, trusted=TRUSTED, trusted_at=NOW.isoformat())
LATER = NOW + timedelta(seconds=301)

STEPS = {
    "nothing is stored": (snapshot(StoredCertificates(exists=False)), Stage),
    "an empty Secret": (snapshot(StoredCertificates(True, {"tls.crt": b"", "tls.key": b""})), Stage),
    "a CA is not trusted": (snapshot(secret(1), b""), Trust),
    "the staged CA is not trusted": (snapshot(secret(1, 2), bundle(1)), Trust),
    "the former CA is not trusted": (snapshot(secret(2, previous=1, **verified(2)), bundle(2)), Trust),
    "all targets trust it for the first time": (snapshot(secret(1, 2), TOGETHER), Note),
    "all targets trust it, and the soak goes on": (snapshot(SOAKING, TOGETHER, now=NOW + timedelta(seconds=299)), Wait),
    "the soak is over": (snapshot(SOAKING, TOGETHER, now=LATER), Promote),
    "another target was added during the soak": (snapshot(SOAKING, TOGETHER, TOGETHER, now=LATER), Note),
    "the stamp is in the future": (
        snapshot(secret(1, 2, trusted=TRUSTED, trusted_at=(NOW + timedelta(days=9)).isoformat()), TOGETHER),
        Note,
    ),
    "it was promoted": (snapshot(secret(2, previous=1), TOGETHER), Verify),
    "all servers serve it": (snapshot(secret(2, previous=1, **verified(2)), bundle(0, 1, 2)), Wait),
    "all servers have served it for long": (
        snapshot(secret(2, previous=1, **verified(2)), bundle(0, 1, 2), now=LATER),
        Retire,
    ),
    "revoked, all servers serve the next": (
        snapshot(secret(2, previous=1, revoked="1", **verified(2)), TOGETHER),
        Retire,
    ),
    "revoked, and retired": (snapshot(secret(2, previous=1, revoked="1", **verified(2)), bundle(2)), Note),
    "settled": (snapshot(secret(2, previous=1, **verified(2)), TOGETHER, now=LATER), Wait),
    "due": (snapshot(secret(2, previous=1, **verified(2)), TOGETHER, now=NOW + timedelta(days=60)), Stage),
    "the store was restored from a backup": (snapshot(secret(1, **verified(1)), bundle(1, 3)), Stage),
    "a fault in a target": (snapshot(SOAKING, TOGETHER, now=LATER, fault="no right"), Blocked),
    "a fault in another target": (snapshot(secret(1, 2), TOGETHER, bundle(1), fault="no right"), Trust),
    "a clock is wrong": (snapshot(SOAKING, TOGETHER, now=LATER, skew=301), Blocked),
    "a clock is wrong, and a bundle wiped": (snapshot(SOAKING, b"", now=LATER, skew=-9999), Trust),
    "a clock is a little wrong": (snapshot(SOAKING, TOGETHER, now=LATER, skew=-299), Promote),
    "another program manages the Secret": (snapshot(replace(secret(1), keeper="cert-manager"), b""), Blocked),
}


@pytest.mark.parametrize("case", STEPS)
def test_the_next_step(case: str) -> None:
    observed, expected = STEPS[case]
    assert isinstance(plan(observed, SETTINGS), expected)


def test_an_emergency_soaks_for_seconds_only() -> None:
    stored = replace(SOAKING, stamps={**SOAKING.stamps, "emergency": "true"})
    soon = plan(snapshot(stored, TOGETHER, now=NOW + timedelta(seconds=4)), SETTINGS)
    assert isinstance(soon, Wait)
    assert soon.until == NOW + timedelta(seconds=5)
    assert isinstance(plan(snapshot(stored, TOGETHER, now=NOW + timedelta(seconds=5)), SETTINGS), Promote)


def test_trust_appends_to_a_bundle_and_removes_nothing() -> None:
    step = plan(snapshot(secret(1, 2), FOREIGN + bundle(0)), SETTINGS)
    assert isinstance(step, Trust)
    assert step.bundles == (FOREIGN + bundle(0, 1, 2),)


def test_retirement_keeps_valid_cas_of_others() -> None:
    expired = issue_generation(NAMES, NOW - timedelta(days=100), authority_name="expired").ca_certificate
    stored = secret(2, previous=1, **verified(2))
    step = plan(snapshot(stored, expired + FOREIGN + bundle(0, 1, 2), now=LATER), SETTINGS)
    assert isinstance(step, Retire)
    assert step.bundles == (FOREIGN + bundle(1, 2),)


def test_a_ca_that_expired_within_the_hour_is_kept_for_slow_clocks() -> None:
    expiring = issue_generation(NAMES, NOW, authority_name="expiring", lifetime=timedelta(seconds=300)).ca_certificate
    step = plan(snapshot(secret(2, previous=1, **verified(2)), expiring + TOGETHER, now=LATER), SETTINGS)
    assert isinstance(step, Wait)
    assert step.settled


def test_promotion_is_one_write() -> None:
    step = plan(snapshot(SOAKING, TOGETHER, now=LATER), SETTINGS)
    assert isinstance(step, Promote)
    contents = step.changes.contents
    assert {key: contents[key] for key in contents_of(GENERATIONS[2], 2)} == contents_of(GENERATIONS[2], 2)
    assert [contents[f"next.{key}"] for key in ("tls.crt", "tls.key", "ca.crt", "generation")] == [None] * 4
    assert contents["previous.ca.crt"] == bundle(1)
    assert contents["bundle.crt"] == TOGETHER


@pytest.mark.parametrize(
    "stored, bundles, number",
    [
        (secret(2, **verified(2)), [bundle(4, 2)], 5),
        (StoredCertificates(exists=False), [bundle(3)], 4),
        (secret(3), [b""], 4),
    ],
    ids=["higher in a target", "only in a target", "in the store"],
)
def test_numbers_only_increase(stored: StoredCertificates, bundles: list[bytes], number: int) -> None:
    names = replace(NAMES, dns_names=(*NAMES.dns_names, "more.example.com"))
    observed = snapshot(stored, *bundles)
    step = plan(observed, RotationSettings(names))
    if isinstance(step, Trust):
        step = plan(snapshot(stored, *step.bundles), RotationSettings(names))
    assert isinstance(step, Stage)
    assert step.number == number


@pytest.mark.parametrize(
    "days, due", [(90, 60), (365, 365 * 2 / 3), (60, 30), (30, 15), (2, 1)], ids=lambda value: str(round(value))
)
def test_renewal_is_due_a_third_or_a_month_before_the_end_but_not_in_the_first_half(days: int, due: float) -> None:
    assert renewal(validity_from(NOW, timedelta(days=days))) == NOW + timedelta(days=due)


def test_the_name_of_a_ca_has_the_number_of_its_generation() -> None:
    for number, generation in enumerate(GENERATIONS):
        assert number_of(read_certificates(generation.ca_certificate)[0]) == number
        assert issuing_number(read_certificates(generation.certificate)[0]) == number


def test_a_leaf_and_the_ca_of_others_have_no_number() -> None:
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
    ids=[
        "empty",
        "a word",
        "no certificate",
        "cut off",
        "cut off before another",
        "between other text",
        "CRLF",
        "huge",
    ],
)
def test_certificates_are_read_from_any_bytes(text: bytes, count: int) -> None:
    assert len(read_certificates(text)) == count


def test_no_repr_contains_a_key() -> None:
    stored = secret(1, 2)
    step = plan(snapshot(SOAKING, TOGETHER, now=LATER), SETTINGS)
    for text in (repr(stored), repr(step), repr(snapshot(stored, TOGETHER))):
        assert "PRIVATE" not in text
        assert GENERATIONS[2].key.decode()[40:80] not in text
