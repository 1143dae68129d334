"""A pod, as far as OpenSSH can tell: its own file systems, network and processes, and a volume as the kubelet makes it.

All of it is gone when the machine is, at the latest after `LIFE` seconds.
"""

import os
import subprocess
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: Longest time that a machine is there, and that one program on it runs, in seconds.
LIFE = 600
PATIENCE = 120

NEEDS = ("/usr/sbin/sshd", "ssh", "ip", "unshare", "nsenter", "setpriv", "mount")

PASSWD = """\
root:x:0:0::/root:/bin/sh
me:x:1000:1000::/home/me:/bin/sh
nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin
sshd:x:100:65534::/run/sshd:/usr/sbin/nologin
"""
GROUP = "root:x:0:\nme:x:1000:\nnogroup:x:65534:\n"

#: The folders of an image: its own home folders, what sshd needs, and the image's own host keys.
HOMES = """
mount -t tmpfs -o mode=0755 tmpfs /run && mkdir /run/sshd &&
mount -t tmpfs -o mode=0700 tmpfs /root &&
mount -t tmpfs -o mode=0755 tmpfs /home && mkdir /home/me && chown 1000:1000 /home/me &&
mount -t tmpfs -o mode=0755 tmpfs /opt &&
mount -t tmpfs -o mode=0755 tmpfs /etc/ssh && touch /etc/ssh/sshd_config /etc/ssh/ssh_config &&
for type in ecdsa ed25519; do ssh-keygen -q -t $type -N '' -f /etc/ssh/ssh_host_${type}_key || exit; done
"""


@dataclass(frozen=True)
class User:
    """Who runs a container's processes.

    Attributes:
        uid: the user.
        fs_group: the group of the pod's volumes, or None.
    """

    uid: int
    fs_group: int | None = None

    @property
    def prefix(self) -> list[str]:
        groups = ["--clear-groups"] if self.fs_group is None else [f"--groups={self.fs_group}"]
        home = "/root" if self.uid == 0 else "/home/me"
        return [
            "setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", *groups,
            "env", "-i", f"HOME={home}", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        ]  # fmt: skip


class Machine:
    """A machine of its own."""

    def __init__(self, folder: Path, hosts: Sequence[str]) -> None:
        """Prepare a machine on which these hosts are itself; `folder` keeps its files."""
        self._folder = folder
        files = {
            "/etc/hosts": f"127.0.0.1 localhost {' '.join(hosts)}\n",
            "/etc/passwd": PASSWD,
            "/etc/group": GROUP,
            "/etc/ssh/sshd_config": "",
            "/etc/ssh/ssh_config": "",
        }
        steps = [HOMES.strip()]
        for place, text in files.items():
            source = folder / place.strip("/").replace("/", "-")
            source.write_text(text)
            source.chmod(0o644)
            steps.append(f"mount --bind {source} {place}")
        self._setup = " &&\n".join(["ip link set lo up", *steps, "echo ready", f"exec sleep {LIFE}"])
        self._pid = 0
        self._sshd: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        spaces = ["--mount", "--net", "--pid", "--uts", "--propagation=private"]
        self._holder = subprocess.Popen(
            ["unshare", *spaces, "--fork", "--kill-child", "--mount-proc", "sh", "-c", self._setup],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n"
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text()
        self._pid = int(children.split()[0])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the machine's first process, and with it all others."""
        self._holder.kill()
        self._holder.communicate()
        if self._sshd is not None:
            self._sshd.communicate(timeout=PATIENCE)

    def run(self, *argv: str, user: User = User(0)) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._inside(user, argv), capture_output=True, text=True, check=False, timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def sshd(self, *argv: str, user: User) -> str:
        """Start sshd; return its output until it listens, or all of it if it does not."""
        self._sshd = subprocess.Popen(self._inside(user, argv), stderr=subprocess.PIPE, text=True)
        assert self._sshd.stderr is not None
        output = ""
        for line in self._sshd.stderr:
            output += line
            if "Server listening on 0.0.0.0" in line:
                break
        return output

    def mount(self, pod: Mapping[str, Any], secrets: Mapping[str, Mapping[str, str]], fs_group: int | None) -> None:
        """Make the volumes of a pod as the kubelet does, and mount them into its first container as the runtime does.

        The kubelet writes the files of a projected volume into a folder of root's with the modes that they are asked
        for. Where the pod has an fsGroup, it gives them to that group, which may then read them (0440). A mount by
        `subPath` is that of the one file; the folders to it that the image lacks are made, 0755 and root's.
        """
        (volume,) = pod["spec"]["volumes"]
        source = self._folder / volume["name"]
        source.mkdir()
        for each in volume["projected"]["sources"]:
            for item in each["secret"]["items"]:
                file = source / item["path"]
                file.write_bytes(b64decode(secrets[each["secret"]["name"]][item["key"]]))
                self._own(file, item["mode"], fs_group)
        for mount in pod["spec"]["containers"][0]["volumeMounts"]:
            place = mount["mountPath"]
            parent = place.rpartition("/")[0]
            script = (
                f"mkdir -p -m 0755 {parent} && touch {place} && mount --bind {source}/{mount['subPath']} {place} && "
                f"mount -o remount,bind,ro {place}"
            )
            done = self.run("sh", "-c", script)
            assert done.returncode == 0, done.stderr

    @staticmethod
    def _own(file: Path, mode: int, fs_group: int | None) -> None:
        os.chown(file, 0, fs_group or 0)
        file.chmod(mode if fs_group is None else mode | 0o440)

    def _inside(self, user: User, argv: Sequence[str]) -> list[str]:
        target = ["nsenter", f"--target={self._pid}", "--mount", "--net", "--pid", "--uts"]
        return [*target, *user.prefix, *argv]
