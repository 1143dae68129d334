"""A process that reads all jobs of a cluster as the server does, and prints the most memory that it took, in MiB."""

import asyncio
import re
import sys
from pathlib import Path

from jobgate.kinds import installed
from jobgate.serving.cluster import ClusterView


async def main() -> None:
    """Read them."""
    cluster = ClusterView(installed(), reached=True, kubeconfig=Path(sys.argv[1]))
    running = asyncio.create_task(cluster.run())
    while cluster.waits_for():  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    running.cancel()


def peak() -> int:
    """Return the most memory that this process took: not `ru_maxrss`, which begins with what its parent took."""
    (result,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(result) // 1024


if __name__ == "__main__":
    asyncio.run(main())
    sys.stdout.write(str(peak()))
