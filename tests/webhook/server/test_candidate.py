"""What may be served: everything that is offered is judged before a client sees it."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs import KeyType, Validity
from tests.webhook.server.offers import DAYS, NAME, NOW, encrypted, issued, issued_with, offered, without_authority
from webhook.server.candidate import LARGEST, BadCertificate, Candidate, Fault, ServingCertificate, judge

SOUND = issued()
OTHER = issued()
DAY = timedelta(days=1)


def judged(
    candidate: Candidate, *, name: str = NAME, now: datetime = NOW, served: ServingCertificate | None = None
) -> ServingCertificate:
    return judge(candidate, name, now.timestamp(), served)


def fault(
    candidate: Candidate, *, name: str = NAME, now: datetime = NOW, served: ServingCertificate | None = None
) -> Fault:
    with pytest.raises(BadCertificate) as error:
        judged(candidate, name=name, now=now, served=served)
    assert b"PRIVATE" not in str(error.value).encode()
    return error.value.fault


@pytest.mark.parametrize("key_type", KeyType)
def test_every_kind_of_key_that_we_issue_is_served(key_type: KeyType) -> None:
    served = judged(offered(issued(key_type=key_type), 3))
    assert served.generation == 3
    assert (served.not_before, served.not_after) == (
        (NOW - timedelta(hours=1)).timestamp(),
        (NOW + DAYS).timestamp(),
    )
    assert len(served.authority) == 16


@pytest.mark.parametrize(
    "candidate",
    [
        without_authority(SOUND),
        replace(offered(SOUND), authority=SOUND.ca_certificate + OTHER.ca_certificate),
        replace(offered(SOUND), authority=OTHER.ca_certificate + SOUND.ca_certificate),
        replace(offered(SOUND), generation=b""),
        replace(offered(SOUND), generation=b" 7\n"),
        replace(offered(SOUND), certificate=SOUND.certificate.replace(b"\n", b"\r\n")),
        issued_with(),
        issued_with(usage=None),
        issued_with(intermediate=True),
        issued_with(names=["other.example.com", NAME]),
    ],
    ids=[
        "the CA is not given",
        "a bundle, ours first",
        "a bundle, ours last",
        "no generation",
        "generation with blanks",
        "lines end as on Windows",
        "foreign",
        "no extended usage",
        "an intermediate",
        "several names",
    ],
)
def test_what_others_issue_is_served_too(candidate: Candidate) -> None:
    assert judged(candidate).context.cert_store_stats()["x509"] == 0


EARLIER = Validity(NOW - 9 * DAY, NOW - DAY)
LATER = Validity(NOW + DAY, NOW + 9 * DAY)


@pytest.mark.parametrize(
    "candidate, expected",
    [
        (Candidate(), Fault.MISSING),
        (replace(offered(SOUND), certificate=b""), Fault.MISSING),
        (replace(offered(SOUND), key=b" \n"), Fault.MISSING),
        (replace(offered(SOUND), certificate=SOUND.certificate[:300]), Fault.UNREADABLE),
        (replace(offered(SOUND), key=SOUND.key[:100]), Fault.UNREADABLE),
        (replace(offered(SOUND), key=SOUND.certificate), Fault.UNREADABLE),
        (replace(offered(SOUND), certificate=b"\xff\xfe\x00" * 30), Fault.UNREADABLE),
        (replace(offered(SOUND), key=encrypted(SOUND)), Fault.UNREADABLE),
        (replace(offered(SOUND), authority=b"\xff\xfe\x00" * 30), Fault.UNREADABLE),
        (replace(offered(SOUND), authority=SOUND.ca_certificate[:300]), Fault.UNREADABLE),
        (replace(offered(SOUND), certificate=SOUND.certificate + b"x" * LARGEST), Fault.UNREADABLE),
        (replace(offered(SOUND), key=SOUND.key + b"x" * LARGEST), Fault.UNREADABLE),
        (replace(offered(SOUND), authority=SOUND.ca_certificate + b"x" * LARGEST), Fault.UNREADABLE),
        (replace(offered(SOUND), key=OTHER.key), Fault.KEY),
        (replace(offered(SOUND), key=issued(key_type=KeyType.P384).key), Fault.KEY),
        (replace(offered(SOUND), key=issued(key_type=KeyType.RSA3072).key), Fault.KEY),
        (replace(offered(SOUND), authority=OTHER.ca_certificate), Fault.AUTHORITY),
        (replace(offered(SOUND), authority=SOUND.certificate), Fault.AUTHORITY),
        (offered(issued(namespace="elsewhere")), Fault.NAME),
        (issued_with(names=[], common_name=NAME), Fault.NAME),
        (issued_with(names=["*.svc"]), Fault.NAME),
        (replace(issued_with(names=["other.example.com"]), authority=b""), Fault.NAME),
        (issued_with(usage=ExtendedKeyUsageOID.CLIENT_AUTH), Fault.USAGE),
        (replace(issued_with(usage=ExtendedKeyUsageOID.CLIENT_AUTH), authority=b""), Fault.USAGE),
        (issued_with(leaf=EARLIER), Fault.EXPIRED),
        (issued_with(authority=EARLIER), Fault.EXPIRED),
        (replace(issued_with(leaf=EARLIER), authority=b""), Fault.EXPIRED),
        (issued_with(leaf=LATER), Fault.EARLY),
        (issued_with(authority=LATER), Fault.EARLY),
        (offered(SOUND, "one"), Fault.GENERATION),
        (offered(SOUND, "-1"), Fault.GENERATION),
        (offered(SOUND, "1.0"), Fault.GENERATION),
        (offered(SOUND, "9" * 5000), Fault.GENERATION),
        (replace(offered(SOUND), generation="²".encode()), Fault.GENERATION),
    ],
    ids=lambda value: "" if isinstance(value, Candidate) else str(value),
)
def test_what_no_client_would_take_is_rejected(candidate: Candidate, expected: Fault) -> None:
    assert fault(candidate) is expected


def test_a_key_with_a_password_is_rejected_without_asking_for_it() -> None:
    with pytest.raises(BadCertificate, match="must be a key without a password"):
        judged(replace(offered(SOUND), key=encrypted(SOUND)))


def test_any_name_is_accepted_without_an_expected_one() -> None:
    assert judged(offered(issued(namespace="elsewhere")), name="")


def test_time_is_that_of_the_server() -> None:
    candidate = offered(SOUND)
    assert fault(candidate, now=NOW - 2 * timedelta(hours=1)) is Fault.EARLY
    assert judged(candidate, now=NOW + DAYS - DAY)
    assert fault(candidate, now=NOW + DAYS) is Fault.EXPIRED


@pytest.mark.parametrize(
    "age, number, taken",
    [
        (timedelta(0), 7, True),
        (DAY, 8, True),
        (DAY, 7, True),
        (-DAY, 6, False),
        (timedelta(0), 6, False),
        (DAY, 1, True),
        (-DAY, 0, True),
    ],
    ids=[
        "the same once more",
        "the next",
        "issued again under the same number",
        "from a backup",
        "older by number, as old by time",
        "from a store that was lost and counts from 1 again",
        "brought by the user, who counts none",
    ],
)
def test_an_older_generation_is_rejected(age: timedelta, number: int, taken: bool) -> None:
    served = judged(offered(SOUND, 7))
    candidate = offered(issued(NOW + age), number)
    if taken:
        assert judged(candidate, now=NOW + DAY, served=served).generation == number
    else:
        assert fault(candidate, now=NOW, served=served) is Fault.OLDER


def test_an_older_generation_replaces_an_expired_one() -> None:
    served = judged(offered(issued(days=10 * DAY), 7))
    older = offered(issued(NOW - DAY, days=30 * DAY), 6)
    assert fault(older, now=NOW + 9 * DAY, served=served) is Fault.OLDER
    assert judged(older, now=NOW + 10 * DAY, served=served).generation == 6


def test_a_key_shows_in_no_text_of_a_candidate() -> None:
    assert "PRIVATE" not in repr(offered(SOUND))


def test_judging_leaves_no_file_open() -> None:
    folder = Path("/proc/self/fd")
    judged(offered(SOUND))
    before = len(list(folder.iterdir()))
    for _ in range(20):
        judged(offered(SOUND))
        fault(replace(offered(SOUND), key=OTHER.key))
    assert len(list(folder.iterdir())) == before


@pytest.mark.parametrize(
    "candidate", [replace(offered(SOUND), key=b"no key"), replace(offered(SOUND), certificate=b"no certificate")]
)
def test_what_is_not_pem_is_rejected_with_what_it_must_be(candidate: Candidate) -> None:
    with pytest.raises(BadCertificate, match=r"tls.crt and tls.key must be PEM"):
        judged(candidate)
