"""The picture of a rotation's stages over time, from a rotation in memory: `python -m tests.certs.picture`."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from certs.bundle import read_certificates
from certs.generation import number_of
from certs.steps import Promote, Retire, Stage, Step, Verify, Wait
from tests.certs.world import World, assert_healthy, install, settle
from tools.pictures.svg import document, rectangle, text

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "rotation.svg"
TITLE = (
    "A rotation over time, with three generations: the new CA is trusted for five minutes before its certificate is served, the "
    "former one stays trusted, and the one before is removed five minutes after all servers serve the new certificate."
)
#: When each of two servers reads a changed Secret, in seconds: the kubelet takes up to a minute or so.
READS = (25, 70)
DUE = timedelta(days=61)
SECOND = timedelta(seconds=1)
#: Seconds that are shown before the rotation and after it.
MARGIN = 60
STEPS = {Stage: "stage, trust", Promote: "promote", Verify: "verify", Retire: "retire"}
WIDTH, HEIGHT, LEFT, TOP, ROW = 880, 312, 124, 84, 62


@dataclass
class Film:
    """A rotation, second by second, from some time before its first step to some time after its last.

    Attributes:
        at: when each type of step was first done.
        trusted: the generations that all targets trust.
        served: the generations that servers serve.
    """

    at: dict[type[Step], int] = field(default_factory=dict)
    trusted: list[set[int]] = field(default_factory=list)
    served: list[set[int]] = field(default_factory=list)

    def look(self, world: World, seconds: int = 1) -> None:
        """Add what is so for some seconds."""
        bundles = [bundle for target in world.objects.values() for bundle in target.bundles.values()]
        numbers = [{number_of(ca) or 0 for ca in read_certificates(bundle)} for bundle in bundles]
        self.trusted += [set.intersection(*numbers)] * seconds
        self.served += [{server.number for server in world.servers}] * seconds


async def film() -> Film:
    """Rotate in memory from the second generation to the third."""
    world = await install()
    world.time += DUE
    await settle(world)
    world.time += DUE
    world.watching = False
    rotation, filmed = world.rotation(), Film()
    filmed.look(world, MARGIN)
    while not (isinstance(step := await rotation.step(), Wait) and step.settled):
        if step is not None and not isinstance(step, Wait):
            filmed.at.setdefault(type(step), len(filmed.served))
            continue
        filmed.look(world)
        world.time += SECOND
        world.check("a second passed")
        for server, reads in zip(world.servers, READS, strict=True):
            if len(filmed.served) == filmed.at.get(Promote, 0) + reads:
                server.read(world.contents or {}, world.time)
    filmed.look(world, MARGIN)
    assert_healthy(world)
    return filmed


def drawn(filmed: Film) -> str:
    """Return the picture as SVG."""
    scale = (WIDTH - LEFT - 28) / len(filmed.served)

    def bar(seen: list[set[int]], number: int, y: int, height: int, kind: str, label: str) -> Iterator[str]:
        having = [second for second, numbers in enumerate(seen) if number in numbers]
        if having:
            start, width = LEFT + having[0] * scale, (having[-1] + 1 - having[0]) * scale
            yield rectangle(round(start, 1), y, round(width, 1), height, kind)
            yield text(round(start + 10, 1), y + height / 2 + 4.5, label, "soft" if kind == "own" else "inverse")

    parts = []
    for index, number in enumerate(sorted(set().union(*filmed.trusted))):
        y = TOP + ROW * index
        parts += [text(16, y + 26, f"generation {number}", "head")]
        parts += [*bar(filmed.trusted, number, y, 22, "own", "its CA is in every bundle")]
        parts += [*bar(filmed.served, number, y + 24, 22, "full", "its certificate is served")]
    for kind, label in STEPS.items():
        x, second = round(LEFT + filmed.at[kind] * scale, 1), filmed.at[kind] - MARGIN
        parts.append(f'<path d="M{x} {TOP - 14}V{HEIGHT - 38}" class="mark"/>')
        parts += [text(x, TOP - 40, label, "head", "middle")]
        parts += [text(x, TOP - 22, f"{second // 60}:{second % 60:02} min", "soft", "middle")]
    for since, until in ((Stage, Promote), (Verify, Retire)):
        middle = LEFT + (filmed.at[since] + filmed.at[until]) / 2 * scale
        parts.append(text(round(middle, 1), TOP - 22, "soak", "soft", "middle"))
    note = (
        "From a rotation in memory: in each second, every API server made a handshake with every server; none failed."
    )
    return document(WIDTH, HEIGHT, TITLE, [*parts, text(16, HEIGHT - 14, note, "soft")])


def picture() -> str:
    """Rotate, and return the picture."""
    return drawn(asyncio.run(film()))


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PICTURE.write_text(picture(), encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != picture():
        sys.exit(f"{PICTURE} is out of date; run `make pictures PICTURES=rotation`")
