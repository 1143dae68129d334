"""Linux namespaces: the network of a node, and those of each pod."""

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from controlplane.processes.content import PodContent
from controlplane.system import System, message
from controlplane.waiting import wait_for

#: The node's own address in its network, 10.88.0.0/16.
NODE_ADDRESS = "10.88.0.1"
#: The bridge has a MAC address of its own. Otherwise it has the lowest of its ports, which changes as pods come and go;
#: a pod that knows the old address would not reach the node for up to minutes.
_BRIDGE = " && ".join(
    [
        "ip link set lo up",
        "ip link add br0 address 02:00:0a:58:00:01 type bridge",
        f"ip addr add {NODE_ADDRESS}/16 dev br0",
        "ip link set br0 up",
    ]
)
#: Default number of seconds after which a node ends itself and its pods, in case a test does not.
LIFE = 1800.0
#: Folders of this machine that a pod must not write to: it gets empty ones.
_EMPTY = ("/root", "/home", "/opt", "/run", "/tmp")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


#: Programs that a node needs; it also needs root.
NEEDS = ("ip", "mount", "nsenter", "unshare")


class MissingError(RuntimeError):
    """This process may not create namespaces, or programs are missing."""


class Holder:
    """A process that holds namespaces; when it ends, all processes in them end."""

    def __init__(self, setup: str, *spaces: str, life: float = LIFE, within: "Holder | None" = None) -> None:
        """Create the namespaces for `life` seconds, inside `within` if given, and run the setup in them."""
        self.life = life
        entered = within.enter("--net") if within else []
        script = f"{setup} && echo ready && exec sleep {life:.0f}"
        unshare = ["unshare", *spaces, "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc"]
        self._process = subprocess.Popen(
            [*entered, *unshare, "sh", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        output = ""
        for line in self._process.stdout:
            if line == "ready\n":
                break
            output += line
        else:
            self.close()
            raise MissingError(f"no namespaces: {output or f'code {self._process.returncode}'}")
        self.pid = children_of(self._process.pid)[0]

    def enter(self, *spaces: str) -> list[str]:
        """Return the prefix of a command that runs in these namespaces."""
        return ["nsenter", f"--target={self.pid}", *spaces]

    def has_link(self, name: str) -> bool:
        """Whether a network link transmits."""
        shown = subprocess.run(
            [*self.enter("--net"), "ip", "link", "show", "dev", name], capture_output=True, check=False
        )
        return b" state UP " in shown.stdout

    def close(self) -> None:
        """End it, and all processes in its namespaces."""
        self._process.kill()
        self._process.communicate()


def node_network(life: float = LIFE) -> Holder:
    """Create the network of a node: a bridge that is reached only by its own pods."""
    if missing := System().lacks(NEEDS, root=True):
        raise MissingError(message(missing))
    return Holder(_BRIDGE, "--mount", "--net", life=life)


class Sandbox:
    """The namespaces, volumes and shared files of a pod."""

    def __init__(self, folder: Path, network: Holder, pod: Mapping[str, Any], address: str) -> None:
        self._life = network.life
        folder.mkdir(parents=True)
        self.folder = folder
        self._claims = [
            (volume["name"], folder.parent / "claims" / pod["metadata"]["namespace"] / claim["claimName"])
            for volume in pod["spec"].get("volumes") or ()
            if (claim := volume.get("persistentVolumeClaim"))
        ]
        self.hostname = pod["spec"].get("hostname") or pod["metadata"]["name"]
        self._security = pod["spec"].get("securityContext") or {}
        self._own = f"127.0.0.1 localhost\n{address} {self.hostname}\n"
        self.hosts = folder / "hosts"
        self.set_hosts("")
        self.set_up(network, address)

    def set_up(self, network: Holder, address: str) -> None:
        """Create the namespaces, and join the network of the node."""
        empty = " && ".join(f"mount -t tmpfs -o mode={'1777' if at == '/tmp' else '0755'} tmpfs {at}" for at in _EMPTY)
        steps = [
            "ip link set lo up",
            # The pod's folder may be in /tmp, which is replaced below: mount it at /mnt first.
            f"mount --bind {self.folder} /mnt",
            *self._mounted_claims(),
            empty,
            "mkdir -p /run/sshd && chmod 0700 /root",
            "mount --bind /mnt/hosts /etc/hosts",
            # A copy, because volumes may be mounted below.
            "if [ -d /etc/ssh ]; then cp -a /etc/ssh /mnt/ssh && mount --bind /mnt/ssh /etc/ssh; fi",
            f"hostname {shlex.quote(self.hostname)}",
        ]
        self.holder = Holder(" && ".join(steps), "--mount", "--net", "--uts", "--ipc", life=self._life)
        link = f"p{address.rpartition('10.88.')[2].replace('.', 'x')}"
        inside = f"ip addr add {address}/16 dev eth0 && ip link set eth0 up"
        commands = (
            [*network.enter("--net"), "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns",
             str(self.holder.pid)],
            [*network.enter("--net"), "ip", "link", "set", link, "master", "br0", "up"],
            [*self.holder.enter("--net"), "sh", "-c", inside],
        )  # fmt: skip
        for command in commands:
            process = subprocess.run(command, capture_output=True, text=True, check=False)
            if process.returncode != 0:
                self.holder.close()
                raise MissingError(f"{' '.join(command)}: {process.stderr}")
        # The kernel enables a link some time after its setup, up to a second later; until then, packets are lost.
        for space, name in ((self.holder, "eth0"), (network, link), (network, "br0")):
            try:
                wait_for(partial(space.has_link, name), what=f"link {name} is up")
            except TimeoutError as error:
                self.holder.close()
                raise MissingError(str(error)) from None

    def _mounted_claims(self) -> Iterator[str]:
        """Yield commands that mount the volumes of claims. All pods of the node share the folder of a claim."""
        for volume, claim in self._claims:
            claim.mkdir(parents=True, exist_ok=True)
            claim.chmod(0o777)
            place = shlex.quote(f"/mnt/volumes/{volume}")
            yield f"mkdir -p {place} && mount --bind {shlex.quote(str(claim))} {place}"

    def set_hosts(self, lines: str) -> None:
        """Write `/etc/hosts`, which is mounted from a file."""
        text = self._own + lines
        if not self.hosts.exists() or self.hosts.read_text() != text:
            self.hosts.write_text(text)

    def add_volumes(self, volumes: Sequence[Mapping[str, Any]], content: PodContent, fs_group: int | None) -> None:
        """Write the files of the pod's volumes, as the kubelet does.

        Raises:
            NotThereError: a ConfigMap or Secret is missing.
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
        """Start a container in its own mount namespace; its output goes to its log."""
        steps = ["set -e", *map(self._mounted, container.get("volumeMounts") or ())]
        steps.append(f"cd {shlex.quote(container.get('workingDir') or '/')}")
        security = {**self._security, **(container.get("securityContext") or {})}
        groups = f"--groups={security['fsGroup']}" if "fsGroup" in security else "--clear-groups"
        user = (
            f"setpriv --reuid={security['runAsUser']} --regid={security['runAsUser']} {groups} "
            if security.get("runAsUser")
            else ""
        )
        script = "\n".join([*steps, f'exec {user}"$@"'])
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
        """The log file of a container."""
        return self.folder / f"{container}.log"

    def _mounted(self, mount: Mapping[str, Any]) -> str:
        source = Path("/mnt/volumes") / mount["name"] / mount.get("subPath", "")
        here = self.folder / "volumes" / mount["name"] / mount.get("subPath", "")
        place, origin = shlex.quote(mount["mountPath"]), shlex.quote(str(source))
        create = (
            f"mkdir -p $(dirname {place}) && [ -e {place} ] || : > {place}" if here.is_file() else f"mkdir -p {place}"
        )
        only = f"\nmount -o remount,bind,ro {place}" if mount.get("readOnly") else ""
        return f"{create}\nmount --bind {origin} {place}{only}"

    def close(self) -> None:
        """End all processes of the pod. Its logs stay."""
        self.holder.close()


def children_of(pid: int) -> list[int]:
    """Return the child processes of a process."""
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def send(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a container's first process, the child of `nsenter`."""
    for child in children_of(process.pid):
        with suppress(ProcessLookupError):
            os.kill(child, number)
