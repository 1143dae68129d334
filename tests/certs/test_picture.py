"""The picture of a rotation shows what the rotation does."""

from certs.steps import Promote, Retire, Stage, Verify
from tests.certs.picture import MARGIN, PICTURE, film, picture


def test_the_picture_in_the_documentation_is_what_the_rotation_gives() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture()


async def test_a_generation_is_trusted_for_a_soak_before_it_is_served() -> None:
    filmed = await film()
    at = filmed.at
    assert at[Stage] == MARGIN
    assert at[Promote] - at[Stage] == at[Retire] - at[Verify] == 300
    assert all(served <= trusted for served, trusted in zip(filmed.served, filmed.trusted, strict=True))
    assert filmed.trusted[at[Stage] - 1] == {1, 2}
    assert filmed.trusted[-1] == {2, 3}
    assert [filmed.served[second] for second in (0, at[Verify] - 1, at[Verify])] == [{2}, {2, 3}, {3}]
