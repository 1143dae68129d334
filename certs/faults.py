"""What store, targets and probe may fail with; each means another thing to do."""


class Conflict(Exception):
    """The object changed since it was read: read it again."""


class Refusal(Exception):
    """What was asked is refused until a person changes something; the text says what."""


class Unavailable(Exception):
    """There is no answer, or not now. The write may have been done all the same.

    Attributes:
        after: so many seconds later it may be tried again, by the word of who was asked; None where it said none.
    """

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after
