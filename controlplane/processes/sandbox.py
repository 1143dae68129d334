"""Namespaces: those of a node, in which its pods have a network, and those of each pod."""

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from controlplane.processes.content import PodContent
from controlplane.system import System, message

#: What the node's network is: 10.88.0.1 is the node's own address.
NODE_ADDRESS = "10.88.0.1"
_BRIDGE = " && ".join(
    ["ip link set lo up", "ip link add br0 type bridge", f"ip addr add {NODE_ADDRESS}/16 dev br0", "ip link set br0 up"]
)
#: No pod lives longer, in seconds, whoever forgets it.
LIFE = 1800
#: What of this machine a pod must not write to: it gets empty ones.
_EMPTY = ("/root", "/home", "/opt", "/run", "/tmp")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


#: Programs of a node, beside root.
NEEDS = ("ip", "mount", "nsenter", "unshare")


class MissingError(RuntimeError):
    """This machine lets nobody make namespaces, or lacks the programs for it."""


class Holder:
    """A process that keeps namespaces: with it ends all that runs in them."""

    def __init__(self, setup: str, *spaces: str, within: "Holder | None" = None) -> None:
        """Make the namespaces, in those of another where one is given, and run the setup in them."""
        entered = within.enter("--net") if within else []
        script = f"{setup} && echo ready && exec sleep {LIFE}"
        unshare = ["unshare", *spaces, "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc"]
        self._process = subprocess.Popen(
            [*entered, *unshare, "sh", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            if line == "ready\n":
                break
            said += line
        else:
            self.close()
            raise MissingError(f"no namespaces: {said or f'code {self._process.returncode}'}")
        self.pid = children_of(self._process.pid)[0]

    def enter(self, *spaces: str) -> list[str]:
        """The command that runs another in these namespaces of it."""
        return ["nsenter", f"--target={self.pid}", *spaces]

    def close(self) -> None:
        """End it, and with it all others."""
        self._process.kill()
        self._process.communicate()


def node_network() -> Holder:
    """The network of a node: a bridge that no pod of another node, and nothing outside, reaches."""
    if missing := System().lacks(NEEDS, root=True):
        raise MissingError(message(missing))
    return Holder(_BRIDGE, "--mount", "--net")


class Sandbox:
    """The namespaces of a pod, its volumes, and the files that every container of it sees."""

    def __init__(self, folder: Path, network: Holder, pod: Mapping[str, Any], address: str) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.hostname = pod["spec"].get("hostname") or pod["metadata"]["name"]
        self._own = f"127.0.0.1 localhost\n{address} {self.hostname}\n"
        self.hosts = folder / "hosts"
        self.set_hosts("")
        self.set_up(network, address)

    def set_up(self, network: Holder, address: str) -> None:
        """Make the namespaces, and join the network of the node."""
        empty = " && ".join(f"mount -t tmpfs -o mode={'1777' if at == '/tmp' else '0755'} tmpfs {at}" for at in _EMPTY)
        steps = [
            "ip link set lo up",
            # What is in /tmp of this machine, as the pod's own folder may be, stays in reach at another place.
            f"mount --bind {self.folder} /mnt",
            empty,
            "mkdir -p /run/sshd && chmod 0700 /root",
            "mount --bind /mnt/hosts /etc/hosts",
            f"hostname {shlex.quote(self.hostname)}",
        ]
        self.holder = Holder(" && ".join(steps), "--mount", "--net", "--uts", "--ipc")
        link = f"p{address.rpartition('10.88.')[2].replace('.', 'x')}"
        inside = f"ip addr add {address}/16 dev eth0 && ip link set eth0 up"
        commands = (
            [*network.enter("--net"), "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns",
             str(self.holder.pid)],
            [*network.enter("--net"), "ip", "link", "set", link, "master", "br0", "up"],
            [*self.holder.enter("--net"), "sh", "-c", inside],
        )  # fmt: skip
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self.holder.close()
                raise MissingError(f"{' '.join(command)}: {done.stderr}")

    def set_hosts(self, lines: str) -> None:
        """Write `/etc/hosts`, into the file that is mounted."""
        text = self._own + lines
        if not self.hosts.exists() or self.hosts.read_text() != text:
            self.hosts.write_text(text)

    def add_volumes(self, volumes: Sequence[Mapping[str, Any]], content: PodContent, fs_group: int | None) -> None:
        """Write the files of the pod's volumes, as the kubelet does.

        Raises:
            NotThereError: of what they are made something is not there.
        """
        written = [(volume["name"], list(content.files(volume) or ())) for volume in volumes]
        for name, files in written:
            folder = self.folder / "volumes" / name
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o777)
            for file in files:
                place = folder / file.path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.content)
                os.chown(place, 0, fs_group or 0)
                place.chmod(file.mode if fs_group is None else file.mode | 0o440)

    def start(
        self, container: Mapping[str, Any], command: Sequence[str], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a container, in a mount namespace of its own; what it says goes to its log."""
        steps = ["set -e", *map(self._mounted, container.get("volumeMounts") or ())]
        steps.append(f"cd {shlex.quote(container.get('workingDir') or '/')}")
        script = "\n".join([*steps, 'exec "$@"'])
        entered = self.holder.enter("--mount", "--net", "--uts", "--ipc", "--pid")
        unshared = ["unshare", "--mount", "--propagation=private", "sh", "-c", script, "sh", *command]
        with self.log(container["name"]).open("ab") as log:
            return subprocess.Popen(
                [*entered, *unshared],
                env={"PATH": _PATH, "HOME": "/root", "HOSTNAME": self.hostname, **variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log(self, container: str) -> Path:
        """The file of what a container has said."""
        return self.folder / f"{container}.log"

    def _mounted(self, mount: Mapping[str, Any]) -> str:
        source = Path("/mnt/volumes") / mount["name"] / mount.get("subPath", "")
        here = self.folder / "volumes" / mount["name"] / mount.get("subPath", "")
        place, origin = shlex.quote(mount["mountPath"]), shlex.quote(str(source))
        made = (
            f"mkdir -p $(dirname {place}) && [ -e {place} ] || : > {place}" if here.is_file() else f"mkdir -p {place}"
        )
        only = f"\nmount -o remount,bind,ro {place}" if mount.get("readOnly") else ""
        return f"{made}\nmount --bind {origin} {place}{only}"

    def close(self) -> None:
        """End all processes of the pod. Its logs stay."""
        self.holder.close()


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    with suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def send(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a container's first process, which `nsenter` waits for."""
    for child in children_of(process.pid):
        with suppress(ProcessLookupError):
            os.kill(child, number)
