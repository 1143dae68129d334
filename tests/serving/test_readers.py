"""Which tokens may read kept reviews, and that guessing from one address locks out nobody else."""

from typing import Any

import pytest

from jobgate.serving.readers import AUDIENCE, HOLDS, RATE, Readers


class Cluster:
    """An API server that knows two tokens, of which one may read reviews."""

    def __init__(self) -> None:
        self.asked = 0

    async def create(self, resource: Any, manifest: Any) -> Any:
        self.asked += 1
        if manifest["kind"] == "TokenReview":
            token, user = manifest["spec"]["token"], {"username": manifest["spec"]["token"]}
            return {"status": {"authenticated": token in {"ann", "bob"}, "audiences": [AUDIENCE], "user": user}}
        return {"status": {"allowed": manifest["spec"]["user"] == "ann"}}


@pytest.mark.parametrize("token, status", [("ann", 200), ("bob", 403), ("eve", 401), ("caf\u00e9", 401)])
async def test_who_may_read(token: str, status: int) -> None:
    cluster: Any = Cluster()
    assert await Readers(lambda: cluster).may_read(token, "10.0.0.1") == status
    assert await Readers(lambda: None).may_read(token, "10.0.0.1") == 503


async def test_an_answer_is_asked_for_again_after_a_while() -> None:
    cluster, now = Cluster(), [0.0]
    readers = Readers(lambda: cluster, lambda: now[0])  # type: ignore[arg-type,return-value]
    for now[0] in (0.0, HOLDS - 1, HOLDS + 1):
        assert await readers.may_read("ann", "10.0.0.1") == 200
    assert cluster.asked == 4


async def test_who_guesses_tokens_locks_out_only_their_own_address() -> None:
    cluster: Any = Cluster()
    readers = Readers(lambda: cluster, lambda: 0.0)
    guessed = [await readers.may_read(f"guess-{number}", "10.0.0.1") for number in range(int(RATE[1]) + 1)]
    assert guessed == [401] * int(RATE[1]) + [429]
    assert await readers.may_read("ann", "10.0.0.1") == 429
    assert await readers.may_read("ann", "10.0.0.2") == 200
    assert await readers.may_read("ann", "10.0.0.1") == 200
