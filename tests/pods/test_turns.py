"""Whose turn it is to ask the cluster."""

import asyncio

import pytest

from jobgate.pods.turns import Turns


async def asked(turns: Turns, *namespaces: str) -> list[asyncio.Future[None] | None]:
    return [turns.ask(namespace) for namespace in namespaces]


@pytest.mark.parametrize(
    "namespaces, begun",
    [
        ("a", "a"),
        ("aa", "aa"),
        ("aaa", "aa"),
        ("aaab", "aab"),
        ("aaabbb", "aabb"),
        ("aaabbbc", "aabb"),
        ("abcdef", "abcd"),
    ],
)
async def test_a_namespace_has_its_share_and_no_more(namespaces: str, begun: str) -> None:
    turns = Turns(at_once=4, share=2, waiting=3)
    found = await asked(turns, *namespaces)
    assert [one for one, turn in zip(namespaces, found, strict=True) if turn and turn.done()] == list(begun)


async def test_what_is_given_back_goes_to_who_waits_in_turn() -> None:
    turns = Turns(at_once=2, share=2, waiting=3)
    begun = await asked(turns, *"aa")
    waiting = dict(zip(["a1", "a2", "b1", "b2", "c1"], await asked(turns, *"aabbc"), strict=True))
    assert all(turn and turn.done() for turn in begun)
    order = []
    for namespace in "aaabcc":
        turns.done(namespace if namespace != "c" else "a")
        order += [name for name, turn in waiting.items() if turn and turn.done() and name not in order]
    assert order[:3] == ["a1", "b1", "c1"]


async def test_so_many_of_a_namespace_wait() -> None:
    turns = Turns(at_once=1, share=1, waiting=2)
    found = await asked(turns, *"aaaab")
    assert [one is not None for one in found] == [True, True, True, False, True]


async def test_who_does_not_wait_any_longer_takes_no_turn() -> None:
    turns = Turns(at_once=1, share=1, waiting=2)
    first, second, third = await asked(turns, *"aab")
    assert second
    assert third
    second.cancel()
    turns.done("a")
    assert third.done()
    turns.done("b")
    assert (turns.ask("a") or asyncio.Future()).done()
    assert first
