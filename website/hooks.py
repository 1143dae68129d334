"""Hooks of MkDocs: add pages from outside docs/, and rewrite links to outside docs/."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website.commands import crdgen_page, jobgate_page

ROOT = Path(__file__).parents[1]
#: The page of each file at the root of the repository.
ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "VERSIONING.md": "project/versioning.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")
_FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of the patterns in `nav`."""
    config.nav = listed(config.nav, Path(config.docs_dir))
    return config


def listed(nav: Any, folder: Path) -> Any:
    """Return a part of `nav` in which each pattern, such as `reference/kinds/*.md`, is the pages that match.

    Raises:
        PluginError: no page matches a pattern.
    """
    if isinstance(nav, list):
        return [listed(item, folder) for item in nav]
    if isinstance(nav, dict):
        return {title: listed(item, folder) for title, item in nav.items()}
    if not isinstance(nav, str) or "*" not in nav:
        return nav
    if files := sorted(folder.glob(nav)):
        return [{_heading(file): file.relative_to(folder).as_posix()} for file in files]
    raise PluginError(f"nav: {nav}: no page matches")


def _heading(file: Path) -> str:
    """Return the heading of a page. MkDocs finds none below the comment of a generated page."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("# ")).removeprefix("# ").replace("`", "")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of commands and of files at the root."""
    generated = {"reference/commands/jobgate.md": jobgate_page(), "reference/commands/crdgen.md": crdgen_page()}
    generated |= {page: (ROOT / name).read_text(encoding="utf-8") for name, page in ROOT_PAGES.items()}
    for uri, content in generated.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs' own
    """Rewrite links to outside docs/ as links to other pages or to the repository."""
    at = page.file.src_uri
    source = next((name for name, uri in ROOT_PAGES.items() if uri == at), f"docs/{at}")
    texts = _FENCE.split(markdown)
    repository = str(config.repo_url)
    texts[::2] = [_LINK.sub(lambda link: relink(link[1], source, at, repository), text) for text in texts[::2]]
    return "".join(texts)


def relink(link: str, source: str, at: str, repository: str) -> str:
    """Rewrite a link in a file as a link in the file's page.

    Args:
        link: relative, without an anchor.
        source: the file that has it.
        at: the page.
        repository: the address of the repository.

    Raises:
        PluginError: the target does not exist.
    """
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if not (ROOT / target).exists():
        raise PluginError(f"{source}: {link}: no such file")
    if target in ROOT_PAGES:
        return posixpath.relpath(ROOT_PAGES[target], posixpath.dirname(at))
    if target.startswith("docs/") and (ROOT / target).is_file():
        return posixpath.relpath(target.removeprefix("docs/"), posixpath.dirname(at))
    return f"{repository}/{'tree' if (ROOT / target).is_dir() else 'blob'}/main/{target}"
