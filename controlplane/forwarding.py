"""Forwards connections from one address to another, as a Service does."""

import asyncio
from contextlib import suppress


async def carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: asyncio.StreamReader, forth: asyncio.StreamWriter
) -> None:
    """Copy bytes between two connections in both directions, until both are closed."""
    await asyncio.gather(_pump(reader, forth), _pump(back, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while content := await reader.read(65536):
                writer.write(content)
                await writer.drain()
    finally:  # also when a test ends and cancels this
        writer.close()
