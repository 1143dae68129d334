r"""The names that may stand in `\p{…}` of a pattern: Unicode's general categories and scripts, as Go 1.26 has them.

Scripts whose name has two words are missing on purpose: Go 1.26 does not find them (`Old_Italic`, `SignWriting`).
"""

from typing import Final


def _names(text: str) -> frozenset[str]:
    """Go looks a name up whatever its case, its blanks, dashes and underscores."""
    return frozenset(canonical(name) for name in text.split())


def canonical(name: str) -> str:
    """Return the form in which names are compared."""
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


_CATEGORIES: Final = _names(
    """
    C Cc Cf Cn Co Cs L LC Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs Any
    Assigned ASCII
    """
)

_ALIASES: Final = _names(
    """
    Cased_Letter Close_Punctuation Combining_Mark Connector_Punctuation Control Currency_Symbol Dash_Punctuation
    Decimal_Number Enclosing_Mark Final_Punctuation Format Initial_Punctuation Letter Letter_Number Line_Separator
    Lowercase_Letter Mark Math_Symbol Modifier_Letter Modifier_Symbol Nonspacing_Mark Number Open_Punctuation Other
    Other_Letter Other_Number Other_Punctuation Other_Symbol Paragraph_Separator Private_Use Punctuation Separator
    Space_Separator Spacing_Mark Surrogate Symbol Titlecase_Letter Unassigned Uppercase_Letter cntrl digit punct
    """
)

_SCRIPTS: Final = _names(
    """
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
)

CLASSES: Final = _CATEGORIES | _ALIASES | _SCRIPTS
