"""Random patterns, and texts for them to match."""

import random
from typing import Any, Final

_PARTS: Final = (
    *"aabbABcC01_- \n.^$|()[]{}*+?\\,:&~<>=!PiäÄ\u017fKk",
    *("(?:", "(?i)", "(?i:", "(?m)", "(?s)", "(?U)", "(?-i)", "(?i-s:", "(?P<n>", "(?<n>", "(?P<m>", "()"),
    *("(?=", "(?!", "(?<=", "(?>", "(?#", "\\d", "\\D", "\\s", "\\S", "\\w", "\\W", "\\b", "\\B", "\\A", "\\z", "\\Z"),
    *("\\pL", "\\PL", "\\p{Lu}", "\\p{^Lu}", "\\P{^Lu}", "\\p{Greek}", "\\p{Letter}", "\\p{foo}", "\\p", "\\Q", "\\E"),
    *("\\x41", "\\x{e4}", "\\x{110000}", "\\x{", "\\x", "\\101", "\\07", "\\0", "\\1", "\\8", "\\n", "\\t", "\\a"),
    *("\\v", "\\f", "\\.", "\\-", "\\]", "\\_", "\\ä", "\\y", "{2}", "{2,}", "{,2}", "{0}", "{0,1}", "{1,3}", "{3,1}"),
    *("{1000}", "{1001}", "{01}", "{99999999999}", "[a-z]", "[^a-z]", "[a-", "[^", "[]", "[[:alpha:]]"),
    *("[[:^digit:]]", "[[:foo:]]", "[:alpha:]", "[\\d-z]", "[a-\\d]", "[\\D\\s]", "[\\pL]", "[\\P{Lu}]", "[--a]"),
    *("[a\\-z]", "[\\x41-\\x43]", "&&", "--", "~~", "a?", "b*", "c+?", "(a|b)", "(?i)k", "[k-s]", "(?i:[k-s])"),
)
_CHARACTERS: Final = "aabbABcC01_- \n\t\v.äÄ\u017fKks{,2}^$()[]|é\u0301Ωω\x85\u2028z"


def corpus(seed: int, count: int) -> list[dict[str, Any]]:
    """Return `count` patterns, each with four texts."""
    generator = random.Random(seed)

    def join(parts: str | tuple[str, ...], minimum: int, maximum: int) -> str:
        return "".join(generator.choice(parts) for _ in range(generator.randint(minimum, maximum)))

    return [{"pattern": join(_PARTS, 1, 7), "texts": [join(_CHARACTERS, 0, 6) for _ in range(4)]} for _ in range(count)]
