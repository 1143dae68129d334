"""The image: what its Dockerfile says, and its steps carried out in a folder: an engine is not needed."""

import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from controlplane.plane import reserve_port
from controlplane.waiting import wait_for
from controlplane.webhook import jobgate
from jobgate.installation.installation import USER
from tests.installation.wheels import locked_wheels, pip

#: Starts a command as the kubelet starts the container: everything is read-only, and the user is another one. Takes the
#: folder of the packages, that of Python, one more to read, the user, and the command; root alone may mount.
START = """
set -e
app=$1 python=$2 more=$3 user=$4
shift 4
mount -t tmpfs tmpfs /mnt
mkdir /mnt/app /mnt/python /mnt/more
mount --bind "$app" /mnt/app
mount --bind "$python" /mnt/python
mount --bind "$more" /mnt/more
for place in /mnt/app /mnt/python /mnt/more; do mount -o remount,bind,ro $place; done
mount -o remount,ro /mnt
for place in / /tmp /var; do mount --bind $place $place; mount -o remount,bind,ro $place; done
exec setpriv --reuid $user --regid $user --clear-groups --no-new-privs -- env -i "$@"
"""


def stages() -> list[list[tuple[str, str]]]:
    """Return the instructions of each stage, with those before the first stage as a stage of their own."""
    found: list[list[tuple[str, str]]] = [[]]
    for line in Path("Dockerfile").read_text().replace("\\\n", " ").splitlines():
        if line and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            if word == "FROM":
                found.append([])
            found[-1].append((word, rest.strip()))
    return found


def said(stage: list[tuple[str, str]], word: str) -> list[str]:
    """Return what a stage says with an instruction."""
    return [rest for found, rest in stage if found == word]


def test_the_image_is_made_in_two_stages_and_the_last_has_no_shell() -> None:
    _, build, final = stages()
    assert said(build, "FROM") == ["${PYTHON} AS build"]
    assert said(final, "FROM") == ["${DISTROLESS}"]
    assert not said(final, "RUN")
    assert said(final, "COPY") == ["--from=build /app /app"]


def test_both_stages_have_one_python_and_versions_are_named() -> None:
    arguments = dict(rest.split("=") for rest in said(stages()[0], "ARG"))
    # Debian 13, trixie, has Python 3.13: compiled packages of another would not load.
    distroless = "gcr.io/distroless/python3-debian13:nonroot"
    assert arguments == {"PYTHON": "python:3.13-slim-trixie", "DISTROLESS": distroless}


def test_the_command_runs_without_a_shell_as_nobody() -> None:
    final = stages()[-1]
    (command,) = said(final, "ENTRYPOINT")
    assert json.loads(command) == ["/usr/bin/python3", "/app/bin/jobgate"]
    assert said(final, "USER") == [f"{USER}:{USER}"]
    assert not said(final, "CMD")


def test_what_is_installed_is_checked_by_its_hash() -> None:
    download, install, _ = said(stages()[1], "RUN")
    assert "--require-hashes" in download
    assert {"--no-index", "--find-links"} <= set(install.split())


@pytest.mark.parametrize(
    "package",
    [
        "crdgen",
        *tomllib.loads(Path("pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"],
    ],
)
def test_each_package_gets_into_the_image(package: str) -> None:
    assert f"{package} {package}" in said(stages()[1], "COPY")
    assert f"!{package}" in Path(".dockerignore").read_text().splitlines()


def test_all_that_is_copied_is_let_through_and_nothing_by_default() -> None:
    ignored = Path(".dockerignore").read_text().splitlines()
    assert "*" in ignored
    copied = {name for rest in said(stages()[1], "COPY") for name in rest.split()[:-1]}
    assert all(f"!{name}" in ignored for name in copied)
    assert all(Path(name).exists() for name in copied)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `/app` of the image, made by the commands of its first stage. Downloads are kept for the next time."""
    _, build, _ = stages()
    folder = tmp_path_factory.mktemp("image")
    _, install, compiling = said(build, "RUN")
    source = folder / "src"
    source.mkdir()
    for rest in said(build, "COPY"):
        *names, to = rest.split()
        for name in names:
            if Path(name).is_dir():
                shutil.copytree(name, source / to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(name, source / to)
    wheels = locked_wheels(folder / "wheels")
    _pip(install, folder, wheels)
    program, *arguments = shlex.split(compiling.replace("/app", str(folder / "app")))
    assert program == "python3"
    subprocess.run([sys.executable, *arguments], check=True, timeout=120)
    return folder / "app"


def test_bytecode_is_valid_whatever_the_times_of_files(app: Path) -> None:
    (compiled,) = (app / "jobgate" / "__pycache__").glob("__init__.*.pyc")
    # The flags of PEP 552: a hash of the source, which is not checked.
    assert compiled.read_bytes()[4:8] == (1).to_bytes(4, "little")
    assert list((app / "kubernetes" / "aio" / "config" / "__pycache__").iterdir())
    assert not (app / "kubernetes" / "aio" / "client" / "models" / "__pycache__").exists()


def _pip(command: str, folder: Path, wheels: Path) -> None:
    """Run a `RUN pip …` of the Dockerfile with its folders below another."""
    places = {"/wheels": str(wheels), "/app": str(folder / "app")}
    program, *arguments = (places.get(word, word) for word in shlex.split(command))
    assert program == "pip"
    pip(*arguments, folder=folder / "src")


@contextmanager
def container(app: Path, more: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """Start the image's command with arguments, as its user, with a root that is read-only."""
    final = stages()[-1]
    (entry,) = said(final, "ENTRYPOINT")
    (variables,) = said(final, "ENV")
    places = {"/usr/bin/python3": "/mnt/python/bin/python3", "/app/bin/jobgate": "/mnt/app/bin/jobgate"}
    command: Sequence[str] = [
        "HOME=/",  # which an engine sets
        "LD_LIBRARY_PATH=/mnt/python/lib",
        *(word.replace("=/app", "=/mnt/app") for word in variables.split()),
        *(places[word] for word in json.loads(entry)),
        *arguments,
    ]
    user = said(final, "USER")[0].split(":")[0]
    mounts = ["unshare", "--mount", "--propagation", "private", "sh", "-c", START, "sh"]
    folders = [str(app), sys.base_prefix, str(more)]
    with subprocess.Popen(
        [*mounts, *folders, user, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


needs_root = pytest.mark.needs("mount", "setpriv", "unshare", root=True)


@needs_root
@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--help"], "Usage: jobgate"),
        (["review", "/mnt/more/with-tasks.yaml"], "DIJob job-with-tasks: allowed"),
        (["manifests"], "kind: CustomResourceDefinition"),
        (["control"], "--lease-namespace"),
    ],
)
def test_a_command_runs_with_a_read_only_root_as_another_user(app: Path, arguments: list[str], said: str) -> None:
    with container(app, Path("examples/dijob").resolve(), *arguments) as process:
        output, _ = process.communicate(timeout=120)
    assert said in output
    assert "Traceback" not in output


@needs_root
def test_the_server_gets_ready_with_a_read_only_root_as_another_user(app: Path, tmp_path: Path) -> None:
    jobgate("certs", "issue", "--dir", str(tmp_path))
    tmp_path.chmod(0o755)
    for file in tmp_path.iterdir():
        file.chmod(0o644)
    sockets = reserve_port(), reserve_port()
    port, health = (one.getsockname()[1] for one in sockets)
    certificate = ["--tls-cert=/mnt/more/tls.crt", "--tls-key=/mnt/more/tls.key"]
    where = ["--bind=127.0.0.1", f"--port={port}", f"--health-port={health}"]

    def ready() -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{health}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except HTTPError as error:
            error.close()
            return False
        except OSError:
            return False

    with sockets[0], sockets[1], container(app, tmp_path, "serve", "--no-cluster", *certificate, *where):
        wait_for(ready, what="the server is ready")
