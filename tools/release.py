"""Cuts a release, and publishes nothing: `make release VERSION=0.1.0 IMAGE=REGISTRY/jobgate:v0.1.0`.

Writes the version and the date to all files that name them and commits that, checks that the commands that pages,
action and hooks name exist, and builds from the commit: wheels and source distribution into `dist/`; chart, SBOM,
image, checksums and provenance into `build/release/`. The chart names the image by which it will be published.
`python -m tools.release --check` only checks. The provenance is not signed: the release workflow signs its own.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import yaml

REPOSITORY = "https://github.com/jobgate/jobgate"
BUILD = Path("build/release")
CHART = Path("manifests/chart/jobgate")
#: What names the version, as patterns whose first group is it. The chart and the manifests are generated.
PLACES = {
    "jobgate/__init__.py": [r'^__version__ = "(.*)"$'],
    "pyproject.toml": [r'^version = "(.*)"$', r"jobgate-crdgen==([\d.]+)", r"jobgate-crdgen\[cel\]==([\d.]+)"],
    "packages/crdgen/pyproject.toml": [r'^version = "(.*)"$'],
    "packages/testing/pyproject.toml": [r'^version = "(.*)"$', r"jobgate\[all\]==([\d.]+)"],
    "docs/how-to/check-repository.md": [r"rev: v([\d.]+)", r"jobgate/jobgate@v([\d.]+)"],
    "docs/how-to/get.md": [r"`@v([\d.]+)`", r"--tag jobgate:([\d.]+)"],
    "docs/tutorials/writing-a-kind.md": [r"jobgate>=([\d.]+)"],
    "examples/own-kind/pyproject.toml": [r"jobgate>=([\d.]+)", r"jobgate-testing>=([\d.]+)"],
    "examples/own-kind/Dockerfile": [r"JOBGATE=jobgate:([\d.]+)"],
    "examples/own-kind/.github/workflows/test.yaml": [r"controlplane-([\d.]+)"],
}
GENERATED = {
    "manifests/chart/jobgate/Chart.yaml": [r'^version: "(.*)"$', r'^appVersion: "(.*)"$'],
    "manifests/base/server.yaml": [r'image: "jobgate:(.*)"$'],
}
#: Programs that packages install, by their folders of programs.
PROGRAMS = Path(sys.executable).parent


def write_version(root: Path, version: str) -> None:
    """Write the version to all files that name it by hand."""
    for file, patterns in PLACES.items():
        text = (root / file).read_text(encoding="utf-8")
        for pattern in patterns:
            text = re.sub(pattern, lambda found: found[0].replace(found[1], version), text, flags=re.MULTILINE)
        (root / file).write_text(text, encoding="utf-8")


def write_changelog(text: str, version: str, day: str) -> str:
    """Return the changelog with what is unreleased as the section of this version."""
    if re.search(rf"^## {re.escape(version)} - ", text, re.MULTILINE):
        return text
    before, title, after = text.partition("\n## Unreleased\n")
    if not title or not after.partition("\n## ")[0].strip():
        raise SystemExit(f"CHANGELOG.md: the section Unreleased is empty: there is nothing to release as {version}")
    return f"{before}{title}\n## {version} - {day}\n{after}"


def other_versions(root: Path, version: str) -> Iterator[str]:
    """Yield each place that names another version, or none."""
    for file, patterns in (PLACES | GENERATED).items():
        text = (root / file).read_text(encoding="utf-8")
        for pattern in patterns:
            found = set(re.findall(pattern, text, re.MULTILINE))
            if found != {version}:
                yield f"{file}: names version {', '.join(sorted(found)) or 'none'} ({pattern}), not {version}"


def missing_names(root: Path) -> Iterator[str]:
    """Yield each command, hook, input and target that README, action, hooks or pages name, and that does not exist."""
    hooks = {hook["id"]: hook for hook in yaml.safe_load(_text(root, ".pre-commit-hooks.yaml"))}
    action = yaml.safe_load(_text(root, "action.yml"))
    page, readme = _text(root, "docs/how-to/check-repository.md"), _text(root, "README.md")
    commands = {f"hook {name}": hook["entry"].partition(" --")[0] for name, hook in hooks.items()}
    listed = action["inputs"]["command"]["description"].partition(": ")[2].rstrip(".")
    commands |= {f"action.yml: {name}": f"jobgate {name}" for name in listed.split(", ")}
    in_readme = sorted(set(re.findall(r"`(jobgate (?:crdgen )?[a-z]+)[ `]", readme)))
    commands |= {f"README.md: {command}": command for command in in_readme}
    yield from (
        f"{where}: there is no command `{command}`" for where, command in commands.items() if not _runs(command)
    )
    packages = {name: package for name, hook in hooks.items() for package in hook.get("additional_dependencies", ())}
    for name, package in packages.items():
        if not (root / package.partition("[")[0] / "pyproject.toml").exists():
            yield f"hook {name}: {package} is no package of this repository"
    inputs = re.findall(
        r"^    ([\w-]+):", "".join(re.findall(r"^  with:\n((?:    .*\n)+)", page, re.MULTILINE)), re.MULTILINE
    )
    targets = re.findall(r"^([a-z-]+):", _text(root, "Makefile"), re.MULTILINE)
    named = "".join(f"{line} " for line in re.findall(r"`make ([a-z -]+)`", readme)).split()
    yield from (
        f"check-repository.md: no hook {name}" for name in re.findall(r"- id: (\S+)", page) if name not in hooks
    )
    yield from (
        f"check-repository.md: the action has no input {name}" for name in inputs if name not in action["inputs"]
    )
    yield from (f"README.md: there is no target `make {name}`" for name in named if name not in targets)


def _text(root: Path, file: str) -> str:
    return (root / file).read_text(encoding="utf-8")


@cache
def _runs(command: str) -> bool:
    program, *words = command.split()
    if not (PROGRAMS / program).exists():
        return False
    return not subprocess.run([PROGRAMS / program, *words, "--help"], capture_output=True, check=False).returncode


def package_chart(folder: Path, file: Path, epoch: int, image: str = "") -> None:
    """Write the archive of a chart as `helm package` does, but with the same bytes each time.

    Its default image is this one, or that of the folder, which is found on machines that built it only.
    """
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            text = path.read_bytes()
            if image and path == folder / "values.yaml":
                text = re.sub(rb"^image: .*$", f'image: "{image}"'.encode(), text, count=1, flags=re.MULTILINE)
            member = tarfile.TarInfo(f"jobgate/{path.relative_to(folder).as_posix()}")
            member.size, member.mtime, member.mode = len(text), epoch, 0o644
            archive.addfile(member, io.BytesIO(text))
    file.write_bytes(gzip.compress(content.getvalue(), mtime=epoch))


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def statement(file: Path, version: str, commit: str, lock: str, epoch: int) -> dict[str, object]:
    """Return the provenance of an artefact: a statement of in-toto with a predicate of SLSA."""
    sources = [
        {"uri": f"git+{REPOSITORY}", "digest": {"gitCommit": commit}},
        {"uri": f"git+{REPOSITORY}#requirements.lock", "digest": {"sha256": lock}},
    ]
    built = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": digest(file)}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{REPOSITORY}/blob/main/VERSIONING.md#releasing",
                "externalParameters": {"version": version},
                "internalParameters": {"SOURCE_DATE_EPOCH": epoch},
                "resolvedDependencies": sources,
            },
            "runDetails": {
                "builder": {"id": f"{REPOSITORY}/blob/main/tools/release.py"},
                "metadata": {"startedOn": built},
            },
        },
    }


def distributions(commit: str, epoch: int, to: Path) -> None:
    """Build the wheels and the source distribution from a commit, with nothing else of the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "--extract", "--directory", folder], input=archive, check=True)
        _make("dist", folder, {"SOURCE_DATE_EPOCH": str(epoch)}, DIST=str(to.resolve()))
    (to / ".gitignore").unlink(missing_ok=True)  # uv's


def _make(target: str, folder: str = ".", environment: Mapping[str, str] | None = None, **variables: str) -> None:
    """Run a target in the environment of this Python, without installing it again."""
    words = [f"{name}={value}" for name, value in {"VENV": sys.prefix, **variables}.items()]
    command = ["make", "--silent", "--old-file=install", "-C", folder, target, *words]
    subprocess.run(command, check=True, env={**os.environ, **(environment or {})})


def build_image(version: str, epoch: int, file: Path) -> bool:
    """Build the image with the engine that is there; return whether there is one."""
    if shutil.which("docker") and not subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        output = ["--output", f"type=oci,dest={file},rewrite-timestamp=true"]
        command = ["docker", "buildx", "build", "--build-arg", f"SOURCE_DATE_EPOCH={epoch}", *output]
        subprocess.run([*command, "--tag", f"jobgate:{version}", "."], check=True)
    elif shutil.which("buildah"):
        command = ["buildah", "build", "--format", "oci", "--timestamp", str(epoch)]
        subprocess.run([*command, "--tag", f"oci-archive:{file}:jobgate:{version}", "."], check=True)
    return file.exists()


def build(version: str, image: str) -> list[Path]:
    """Build everything from the commit that is checked out, for an image of this name, and return the files."""
    commit, epoch = _git("rev-parse", "HEAD"), int(_git("log", "-1", "--format=%ct"))
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    distributions(commit, epoch, Path("dist"))
    with tempfile.TemporaryDirectory() as folder:
        distributions(commit, epoch, Path(folder))
        again = {file.name: digest(file) for file in Path(folder).iterdir()}
    built = sorted(Path("dist").iterdir())
    if again != {file.name: digest(file) for file in built}:
        raise SystemExit("the distributions of a second build differ: they are not reproducible")
    chart, sbom, archive = BUILD / f"jobgate-{version}.tgz", BUILD / "jobgate.cdx.json", BUILD / "image.oci.tar"
    package_chart(CHART, chart, epoch, image)
    _make("sbom")
    shutil.copy("build/jobgate.cdx.json", sbom)
    files = [*built, chart, sbom]
    if build_image(version, epoch, archive):
        files.append(archive)
    else:
        print("image: not built, because neither Docker nor buildah is there; the release workflow builds it")
    lock = digest(Path("requirements.lock"))
    for file in files:
        text = json.dumps(statement(file, version, commit, lock, epoch), indent=1)
        (BUILD / f"{file.name}.provenance.json").write_text(text + "\n", encoding="utf-8")
    (BUILD / "SHA256SUMS").write_text("".join(f"{digest(file)}  {file.name}\n" for file in files), encoding="utf-8")
    return files


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def prepare(version: str) -> None:
    """Commit the version and its section of the changelog, if the checkout does not have them."""
    if _git("status", "--porcelain"):
        raise SystemExit("the checkout has changes: commit or stash them")
    if _git("tag", "--list", f"v{version}") and _git("rev-parse", f"v{version}^{{commit}}") != _git(
        "rev-parse", "HEAD"
    ):
        raise SystemExit(f"the tag v{version} names another commit: choose another version")
    log = Path("CHANGELOG.md")
    text = write_changelog(log.read_text(encoding="utf-8"), version, datetime.now(UTC).date().isoformat())
    log.write_text(text, encoding="utf-8")
    write_version(Path(), version)
    subprocess.run([PROGRAMS / "jobgate", "manifests", "--output-dir", "manifests"], check=True)
    if _git("status", "--porcelain"):
        _git("commit", "--quiet", "--all", "--message", f"Release {version}")


def main() -> int:
    """Check, or cut a release; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("version", nargs="?", help="for example 0.1.0")
    parser.add_argument("--image", default="", help="what the chart installs: the image's name in its registry")
    parser.add_argument("--check", action="store_true", help="only check versions and names")
    options = parser.parse_args()
    version = (
        options.version
        or re.findall(PLACES["jobgate/__init__.py"][0], Path("jobgate/__init__.py").read_text(), re.MULTILINE)[0]
    )
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        parser.error(f"{version!r} must be a version such as 0.1.0")
    if not options.check:
        if not options.version:
            parser.error("which version? For example: make release VERSION=0.1.0")
        prepare(version)
    faults = [*other_versions(Path(), version), *missing_names(Path())]
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults or options.check:
        return 1 if faults else 0
    files = build(version, options.image)
    for file in files:
        print(f"{digest(file)}  {file}")
    print(f"""Nothing is published yet. The workflow publishes what it builds from the tag, after approval:
  git tag --sign v{version} && git push origin HEAD v{version}
By hand: helm push {BUILD}/jobgate-{version}.tgz oci://REGISTRY/charts""")
    if (archive := BUILD / "image.oci.tar") in files:
        print(f"         skopeo copy oci-archive:{archive} docker://{options.image or f'REGISTRY/jobgate:v{version}'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
