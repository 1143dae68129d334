"""The program that answers, as its users see it, and those who run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Product:
    """The program that answers.

    Attributes:
        name: its name in answers and spans, and the prefix of its metrics: letters, digits and underscores.
        hint: the end of the line that counts the warnings that do not fit into an answer, such as a command that
            shows them; empty if there is none.
    """

    name: str
    hint: str = ""


#: The product of a program that has not named one.
NAMELESS: Final = Product("webhook")
