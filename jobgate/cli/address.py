"""HOST:PORT on a command line."""

from __future__ import annotations

import re
from typing import Final

import click


class Address(click.ParamType["tuple[str, int]"]):
    """A host and a port. An IPv6 address is written in brackets."""

    name = "HOST:PORT"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the host, without brackets, and the port."""
        host, _, port = str(value).rpartition(":")
        if not host or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
            self.fail(f"{value!r} must be HOST:PORT, for example 10.0.0.1:9443 or [fd00::1]:9443", param, ctx)
        return host.strip("[]"), int(port)


ADDRESS: Final = Address()
