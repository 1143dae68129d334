r"""Classes with a name: of POSIX in `[[:alpha:]]`, of Perl as `\d`, and of Unicode in `\p{…}`, as Go 1.26 has them.

Scripts whose name has two words are missing on purpose: Go 1.26 does not find them (`Old_Italic`, `SignWriting`).
"""

from collections.abc import Mapping
from typing import Final

#: Perl's classes, which in Go are of ASCII.
PERL: Final = {"d": "0-9", "s": "\\t\\n\\f\\r ", "w": "0-9A-Za-z_"}

#: As ranges of a class of Python.
POSIX: Final[Mapping[str, str]] = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


def is_unicode_class(name: str) -> bool:
    """Tell whether Unicode has the category or script, as Go knows it."""
    plain = _canonical(name)
    return plain in _CATEGORIES or plain in _ALIASES or plain in _SCRIPTS


def category(name: str) -> str | None:
    """Return the category's own short name, as `Lu`, or None where the name is one of a script."""
    plain = _canonical(name)
    return _CATEGORIES.get(_ALIASES.get(plain, plain))


def _canonical(name: str) -> str:
    """Go looks a name up whatever its case, its blanks, dashes and underscores."""
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


# By the form in which names are compared.
_CATEGORIES: Final = {
    name.lower(): name
    for name in (
        *("C", "Cc", "Cf", "Cn", "Co", "Cs", "L", "LC", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd"),
        *("Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp"),
        *("Zs", "Any", "Assigned", "ASCII"),
    )
}

_ALIASES: Final = {
    "casedletter": "lc",
    "closepunctuation": "pe",
    "combiningmark": "m",
    "connectorpunctuation": "pc",
    "control": "cc",
    "currencysymbol": "sc",
    "dashpunctuation": "pd",
    "decimalnumber": "nd",
    "enclosingmark": "me",
    "finalpunctuation": "pf",
    "format": "cf",
    "initialpunctuation": "pi",
    "letter": "l",
    "letternumber": "nl",
    "lineseparator": "zl",
    "lowercaseletter": "ll",
    "mark": "m",
    "mathsymbol": "sm",
    "modifierletter": "lm",
    "modifiersymbol": "sk",
    "nonspacingmark": "mn",
    "number": "n",
    "openpunctuation": "ps",
    "other": "c",
    "otherletter": "lo",
    "othernumber": "no",
    "otherpunctuation": "po",
    "othersymbol": "so",
    "paragraphseparator": "zp",
    "privateuse": "co",
    "punctuation": "p",
    "separator": "z",
    "spaceseparator": "zs",
    "spacingmark": "mc",
    "surrogate": "cs",
    "symbol": "s",
    "titlecaseletter": "lt",
    "unassigned": "cn",
    "uppercaseletter": "lu",
    "cntrl": "cc",
    "digit": "nd",
    "punct": "p",
}

_SCRIPT_NAMES: Final = """
Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid
Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra
Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo
Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao
Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao
Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene
Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac
Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai
Vithkuqi Wancho Yezidi Yi
"""
_SCRIPTS: Final = frozenset(map(_canonical, _SCRIPT_NAMES.split()))
