"""Building into the cache, with a `go` that only pretends."""

import stat
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.controlplane import golang
from tests.controlplane.build import build
from tests.controlplane.cache import binaries_folder, cache_folder
from tests.controlplane.golang import build_environment, find_or_install_go, parse_go_version
from tests.controlplane.progress import clock_face, silent
from tests.controlplane.run import BuildError, run_with_news
from tests.controlplane.sources import HELM_SOURCE, KUBERNETES_SOURCE, KWOK_SOURCE, SOURCES, Source, built_as
from tests.controlplane.versions import HELM, KUBERNETES, KWOK

# Says its version, lists one package, and builds files named as the packages are; each build leaves a line in `calls`.
_FAKE_GO = """#!/bin/sh
case "$1" in
env) echo {version} ;;
list) echo one/package ;;
build)
    echo build >> {calls}
    {before}
    while [ "$1" != -o ]; do shift; done
    into=$2; shift 2
    for package in "$@"; do
        name=$(basename "$package"); [ "$name" = v3 ] && name=server
        printf '#!/bin/sh\\n' > "$into/$name"; chmod +x "$into/$name"
    done ;;
esac
"""


class Machine:
    """A made-up machine: a cache and a `go` on PATH."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.calls = folder / "calls"
        self.environment = {
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "JOBGATE_CACHE": str(folder),
            "HOME": str(folder),
        }
        self.binaries = binaries_folder(self.environment, KUBERNETES)

    def has_go(self, version: str = "go1.26.8", before: str = ":") -> Path:
        go = self._folder / "bin" / "go"
        go.parent.mkdir(exist_ok=True)
        go.write_text(_FAKE_GO.format(version=version, calls=self.calls, before=before), encoding="ascii")
        go.chmod(go.stat().st_mode | stat.S_IXUSR)
        return go

    def builds(self) -> int:
        return len(self.calls.read_text(encoding="ascii").splitlines()) if self.calls.exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("case", "environment", "expected"),
    [
        ("the project's own variable wins", {"JOBGATE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ("the user's cache is next", {"XDG_CACHE_HOME": "/b"}, Path("/b/jobgate")),
        ("a relative XDG folder is ignored", {"XDG_CACHE_HOME": "b"}, Path.home() / ".cache/jobgate"),
        ("an empty variable is none", {"JOBGATE_CACHE": "", "XDG_CACHE_HOME": ""}, Path.home() / ".cache/jobgate"),
    ],
)
def test_cache_folder(case: str, environment: Mapping[str, str], expected: Path) -> None:
    assert cache_folder(environment) == expected, case


def test_all_programs_are_built_at_once_under_their_own_names(machine: Machine) -> None:
    machine.has_go()
    built = build(["etcd", "kube-apiserver", "kubectl"], machine.environment, silent)
    assert built == {name: machine.binaries / name for name in ("etcd", "kube-apiserver", "kubectl")}
    assert sorted(path.name for path in machine.binaries.iterdir()) == sorted(built)
    assert machine.builds() == 1


def test_a_program_of_another_source_is_built_apart_and_kept_under_its_own_version(machine: Machine) -> None:
    machine.has_go()
    built = build(["kube-scheduler", "kwok", "kube-controller-manager"], machine.environment, silent)
    assert built["kwok"] == machine.binaries.parent / f"kwok-{KWOK}" / "kwok"
    assert built["kwok"].is_file()
    assert machine.builds() == 2


def test_what_is_built_is_not_built_again(machine: Machine) -> None:
    machine.has_go()
    for _ in range(2):
        build(["etcd"], machine.environment, silent)
    assert machine.builds() == 1


@pytest.mark.parametrize("half", ["empty", "not executable"])
def test_a_half_built_program_is_built_again(machine: Machine, half: str) -> None:
    machine.has_go()
    broken = machine.binaries / "etcd"
    broken.parent.mkdir(parents=True)
    broken.write_text("" if half == "empty" else "half", encoding="ascii")
    broken.chmod(0o755 if half == "empty" else 0o644)
    build(["etcd"], machine.environment, silent)
    assert broken.read_text(encoding="ascii") == "#!/bin/sh\n"


def test_what_an_interrupted_build_left_is_removed(machine: Machine) -> None:
    machine.has_go()
    left = machine.binaries.parent / f"{KUBERNETES}.build-abc" / "module"
    left.mkdir(parents=True)
    build(["etcd"], machine.environment, silent)
    assert sorted(path.name for path in machine.binaries.parent.iterdir()) == [KUBERNETES, f"{KUBERNETES}.lock"]


def test_two_builds_at_once_build_once(machine: Machine) -> None:
    machine.has_go(before="sleep 0.5")
    threads = [threading.Thread(target=build, args=(["etcd"], machine.environment, silent)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert machine.builds() == 1


def test_a_failed_build_says_what_go_said_and_what_to_do_and_leaves_nothing(machine: Machine) -> None:
    machine.has_go(before="echo 'no space left on device' >&2; exit 3")
    with pytest.raises(BuildError, match=r"(?s)code 3.*no space left on device.*To mend it: .*KUBEBUILDER_ASSETS"):
        build(["etcd"], machine.environment, silent)
    assert [path.name for path in machine.binaries.parent.iterdir()] == [f"{KUBERNETES}.lock"]


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver"),
        ("go.etcd.io/etcd/server/v3", "server"),
        ("example.com/v2x", "v2x"),
    ],
)
def test_go_calls_a_program_by_the_end_of_its_package(package: str, expected: str) -> None:
    assert built_as(package) == expected


def test_no_program_has_two_sources() -> None:
    programs = [name for source in SOURCES for name in source.packages]
    assert sorted(programs) == sorted(set(programs))


def test_the_version_is_stamped_into_the_programs() -> None:
    kubernetes, kwok, helm = (source.linker_flags().split() for source in SOURCES)
    for stamp in (f"gitVersion={KUBERNETES}", "gitMajor=1", "gitMinor=36"):
        assert f"k8s.io/component-base/version.{stamp}" in kubernetes
    assert f"sigs.k8s.io/kwok/pkg/consts.Version={KWOK.removeprefix('v')}" in kwok
    assert f"helm.sh/helm/v3/internal/version.version={HELM}" in helm


@pytest.mark.parametrize(
    ("source", "version"), [(KUBERNETES_SOURCE, KUBERNETES), (KWOK_SOURCE, KWOK), (HELM_SOURCE, HELM)]
)
def test_the_version_is_part_of_the_folder_in_the_cache(source: Source, version: str) -> None:
    assert source.cached_as.endswith(version)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("go1.26.8\n", (1, 26)),
        ("go1.27rc1", (1, 27)),
        ("devel go1.28-0a1b2c3", (1, 28)),
        ("go version unknown", None),
        ("", None),
    ],
)
def test_the_version_of_go_is_read(told: str, expected: tuple[int, int] | None) -> None:
    assert parse_go_version(told) == expected


def test_a_new_enough_go_on_path_is_used(machine: Machine) -> None:
    go = machine.has_go("go1.26.0")
    assert find_or_install_go(machine.environment, silent).command == go


@pytest.mark.parametrize("version", ["go1.25.9", "nonsense", None])
def test_go_is_installed_into_the_cache_where_it_is_missing_or_too_old(
    machine: Machine, version: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version:
        machine.has_go(version)
    else:
        machine.environment["PATH"] = "/nowhere"
    monkeypatch.setattr(golang, "_install_go", lambda environment, progress, missing: Path("/installed"))
    go = find_or_install_go(machine.environment, silent)
    assert go.command == Path("/installed/bin/go")
    assert go.environment["GOROOT"] == "/installed"


def test_the_users_go_settings_that_change_a_build_are_dropped_and_those_of_the_network_kept() -> None:
    environment = {"HOME": "/h", "GOFLAGS": "-mod=vendor", "GOWORK": "/w", "GOOS": "plan9", "GOPROXY": "file:///p"}
    environment |= {"GOTOOLCHAIN": "auto"}
    assert build_environment(environment) == {
        "HOME": "/h",
        "GOFLAGS": "",
        "GOWORK": "off",
        "GOTOOLCHAIN": "local",
        "GOPROXY": "file:///p",
        "CGO_ENABLED": "0",
    }


def test_go_keeps_its_files_in_our_cache_where_there_is_no_home() -> None:
    environment = build_environment({"JOBGATE_CACHE": "/cache"})
    assert environment["GOPATH"] == "/cache/go/path"
    assert environment["GOCACHE"] == "/cache/go/objects"


def test_a_long_step_is_told_again_and_again(tmp_path: Path) -> None:
    lines: list[str] = []
    command = ["sh", "-c", "echo k8s.io/api >&2; sleep 1; echo done"]
    told = run_with_news(
        command, step="waiting", folder=tmp_path, environment={}, progress=lines.append, remedy="", news_every=0.2
    )
    assert told == "done\n"
    assert lines[0] == "waiting"
    assert "waiting: 1 lines, k8s.io/api" in lines
    assert lines[-1].startswith("waiting: done in")


def test_a_command_that_does_not_start_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"(?s)step: /nowhere does not start.*To mend it: look\."):
        run_with_news(["/nowhere"], step="step", folder=tmp_path, environment={}, progress=silent, remedy="look")


@pytest.mark.parametrize(("seconds", "expected"), [(0, " 0:00"), (62.9, " 1:02"), (600, "10:00")])
def test_the_elapsed_time_is_aligned(seconds: float, expected: str) -> None:
    assert clock_face(seconds) == expected
