"""Connections carried from one address to another, as a Service does."""

import asyncio
from contextlib import suppress


async def carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: asyncio.StreamReader, forth: asyncio.StreamWriter
) -> None:
    """Carry what comes at each end of two connections to the other one, until both are closed."""
    await asyncio.gather(_pump(reader, forth), _pump(back, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while content := await reader.read(65536):
                writer.write(content)
                await writer.drain()
    finally:  # at the end of a test, too, when this is cancelled
        writer.close()
