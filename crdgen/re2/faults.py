"""What Go has against a pattern, and what would be right."""

from typing import Final, NamedTuple


class Problem(NamedTuple):
    """What a pattern has that is not to be there, as words that follow `it has`, and what to do about it."""

    what: str
    fix: str


class InvalidPattern(ValueError):
    """A pattern that Go does not compile."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.problem = Problem(what, fix)


#: What other languages have: how it begins, what it is, what may be written instead.
GROUPS: Final = (
    ("(?=", "look-ahead", "write two patterns, or a rule"),
    ("(?!", "look-ahead", "write the excluded form as a rule"),
    ("(?<=", "look-behind", "match the whole text instead"),
    ("(?<!", "look-behind", "write the excluded form as a rule"),
    ("(?>", "an atomic group", "use `(?:…)`"),
    ("(?P=", "a back-reference", "write the part out, or a rule"),
    ("(?P>", "a recursive group", "write the part out"),
    ("(?(", "a condition", "write both forms with `|`"),
    ("(?#", "a comment", "leave it out"),
)
#: What follows a backslash in other languages, and in Go is not there or lacks something.
ESCAPES: Final = {
    "Z": ("`\\Z`", "use `$`, which in RE2 is the end of the text"),
    "G": ("`\\G`", "use `^`"),
    "k": ("a back-reference", "write the part out, or a rule"),
    "g": ("a back-reference", "write the part out, or a rule"),
    "u": ("`\\u`", "use `\\x{…}`"),
    "U": ("`\\U`", "use `\\x{…}`"),
    "N": ("`\\N`", "use the character itself"),
    "h": ("`\\h`", "use `[ \\t]`"),
    "R": ("`\\R`", "use `\\r?\\n`"),
    "": ("a backslash at its end", "write `\\\\`"),
    "x": ("an escape `\\x` without a character's number", "use `\\x{…}`"),
}
