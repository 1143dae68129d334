"""What ends a command with status 2."""


class Unusable(Exception):
    """An input that cannot be used: where, what is wrong, what would be right; one line."""
