"""URLs as Go's url.ParseRequestURI takes them: the format `uri`, and CEL's `url`, `isURL` and `format.uri()`.

Go is lenient about paths and queries, and strict about hosts, ports, users and percent signs; urllib reads the parts.
"""

import re
from ipaddress import IPv6Address
from typing import Final

_ESCAPE: Final = "%[0-9A-Fa-f]{2}"
_SCHEME: Final = "[A-Za-z][A-Za-z0-9+.-]*:"
_USER: Final = rf"(?:(?:[A-Za-z0-9._:~!$&'()*+,;=@-]|{_ESCAPE})*@)?"
#: An address in brackets, or a name, which databases may write with several ports; then a port.
_HOST: Final = (
    r"(?:\[(?P<address>[0-9A-Fa-f:.]+)(?:%25[A-Za-z0-9._~-]+)?\]"
    r"|(?:[^\x00-\x20#/?@\\^`{|}%\x7f\[:]|%[89A-Fa-f][0-9A-Fa-f]|:[0-9]+,)*)(?::[0-9]*)?"
)
_PATH: Final = rf"(?:[^?%]|{_ESCAPE})*"
_URL: Final = re.compile(
    rf"\*|{_SCHEME}(?:[^/].*)?|(?:{_SCHEME})?/(?:(?!/){_PATH})?(?:\?.*)?|//{_PATH}(?:\?.*)?"
    rf"|{_SCHEME}//{_USER}{_HOST}(?:/{_PATH})?(?:\?.*)?",
    re.DOTALL,
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def is_uri(text: str) -> bool:
    """Return whether the text is what a request may ask for: an absolute URL, or an absolute path."""
    found = None if _CONTROL.search(text) else _URL.fullmatch(text)
    try:
        IPv6Address((found and found["address"]) or "::")
    except ValueError:
        return False
    return found is not None
