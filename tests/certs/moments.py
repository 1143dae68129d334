"""Times and names of the certificates in these tests."""

from datetime import UTC, datetime
from functools import cache

from certs import Generation, KeyType, issue_generation, service_names

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
# For clients that read the machine's clock.
TODAY = datetime.now(UTC)
NAMES = service_names(
    "jobgate-webhook",
    "jobgate-system",
    extra_names=["webhook.example.com", "*.example.org", "127.0.0.1", "fd00::1"],
)


@cache
def generation_of(key_type: KeyType, now: datetime) -> Generation:
    """Issue one generation per key type and time for all tests: a pair of RSA keys takes a second."""
    return issue_generation(NAMES, now, key_type=key_type)
