"""The arguments of plugins: Volcano's flags or a mapping. A fault is reported at its place, without the value."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from jobgate.plugins import Arguments, Takes, parse
from jobgate.plugins.arguments import NoArguments
from jobgate.plugins.svc import SvcArguments
from webhook import Path

PLACE = Path("spec") / "plugins"


class Some(Arguments):
    """A plugin's arguments of each sort."""

    key_path: Annotated[str, Takes("an absolute path"), Field(pattern="^/")] = "/etc"
    port: Annotated[int, Takes("a port, from 1 to 65535"), Field(ge=1, le=65535)] = 22
    quiet: bool = False
    word: str = ""


def faults(written: Any, model: type[Arguments] = Some, plugin: str = "some") -> list[str]:
    arguments, causes = parse(model, plugin, written, PLACE.key(plugin))
    assert (arguments is None) is bool(causes)
    return [str(cause) for cause in causes]


@pytest.mark.parametrize(
    "written, expected",
    [
        (None, {}),
        ([], {}),
        ({}, {}),
        (["--key-path=/root/.ssh"], {"key_path": "/root/.ssh"}),
        (["-key-path=/root/.ssh"], {"key_path": "/root/.ssh"}),
        (["--key-path", "/root/.ssh", "--port", "2222"], {"key_path": "/root/.ssh", "port": 2222}),
        (["--port=1", "--port=2"], {"port": 2}),
        (["--quiet"], {"quiet": True}),
        (["--quiet=true"], {"quiet": True}),
        (["--quiet=0"], {}),
        (["--quiet", "--port=3"], {"quiet": True, "port": 3}),
        (["--word="], {}),
        (["--word=a=b"], {"word": "a=b"}),
        (["--quiet", "--"], {"quiet": True}),
        ({"key-path": "/x", "port": 2222, "quiet": True}, {"key_path": "/x", "port": 2222, "quiet": True}),
        ({"port": "2222", "quiet": "false"}, {"port": 2222}),
    ],
)  # fmt: skip
def test_flags_and_mappings_say_the_same(written: Any, expected: dict[str, Any]) -> None:
    assert parse(Some, "some", written, PLACE) == (Some.model_construct(**Some().model_dump() | expected), [])


@pytest.mark.parametrize(
    "written, expected",
    [
        (["--nope"], ['spec.plugins[some][0]: Unsupported value: "--nope": supported values: "--key-path", "--port", "--quiet", "--word"']),
        (["quiet"], ["spec.plugins[some][0]: Forbidden: some takes only flags: use --key-path=<value>, --port=<value>, --quiet, --word=<value>"]),
        (["--quiet", "--key-path"], ["spec.plugins[some][1]: Required value: --key-path takes an absolute path: use --key-path=<value>"]),
        (["--port=0"], ['spec.plugins[some][0]: Invalid value: "--port": its value must be a port, from 1 to 65535']),
        (["--port=65536"], ['spec.plugins[some][0]: Invalid value: "--port": its value must be a port, from 1 to 65535']),
        (["--port=ssh"], ['spec.plugins[some][0]: Invalid value: "--port": its value must be a port, from 1 to 65535']),
        (["--quiet=yes"], ['spec.plugins[some][0]: Invalid value: "--quiet": its value must be true or false']),
        (["--key-path=x", "--nope=1", "--port=x"],
         ['spec.plugins[some][1]: Unsupported value: "--nope": supported values: "--key-path", "--port", "--quiet", "--word"',
          'spec.plugins[some][0]: Invalid value: "--key-path": its value must be an absolute path',
          'spec.plugins[some][2]: Invalid value: "--port": its value must be a port, from 1 to 65535']),
        ([1, "--quiet", None], ['spec.plugins[some][0]: Invalid value: "int": must be a string',
                                'spec.plugins[some][2]: Invalid value: "NoneType": must be a string']),
        ({"nope": 1}, ['spec.plugins[some].nope: Unsupported value: "nope": supported values: "key-path", "port", "quiet", "word"']),
        ({"key_path": "/x"}, ['spec.plugins[some].key_path: Unsupported value: "key_path": supported values: "key-path", "port", "quiet", "word"']),
        ({"port": 0}, ['spec.plugins[some].port: Invalid value: "port": its value must be a port, from 1 to 65535']),
        ({"port": [22]}, ['spec.plugins[some].port: Invalid value: "port": its value must be a port, from 1 to 65535']),
        ({"quiet": "perhaps"}, ['spec.plugins[some].quiet: Invalid value: "quiet": its value must be true or false']),
        ({"quiet": None}, ['spec.plugins[some].quiet: Invalid value: "quiet": its value must be true or false']),
        ({"word": 1}, ['spec.plugins[some].word: Invalid value: "word": its value must be a string']),
        ("--quiet", ['spec.plugins[some]: Invalid value: "str": must be a list of flags, such as [--key-path=<value>, --port=<value>, --quiet, --word=<value>], or a mapping']),
        (True, ['spec.plugins[some]: Invalid value: "bool": must be a list of flags, such as [--key-path=<value>, --port=<value>, --quiet, --word=<value>], or a mapping']),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_with_what_would_be_right(written: Any, expected: list[str]) -> None:
    assert faults(written) == expected


@pytest.mark.parametrize(
    "written", [["--word", "--key-path=SECRET"], ["--port=SECRET"], ["SECRET"], {"port": "SECRET"}, {"quiet": "SECRET"}]
)
def test_no_value_is_shown(written: Any) -> None:
    assert not any("SECRET" in fault for fault in faults(written))


@pytest.mark.parametrize(
    "written, place", [(["--quiet"], "[0]"), (["x"], "[0]"), ({"quiet": True}, ".quiet")]
)  # fmt: skip
def test_env_takes_no_arguments(written: Any, place: str) -> None:
    expected = [f"spec.plugins[env]{place}: Forbidden: env takes no arguments: remove it"]
    assert faults(written, NoArguments, "env") == expected
    assert faults(None, NoArguments, "env") == faults([], NoArguments, "env") == []


SVC_FLAGS = '"--publish-not-ready-addresses", "--disable-network-policy", "--inject-hosts-env"'


@pytest.mark.parametrize(
    "written, expected",
    [
        (None, (False, False, True)),
        (["--publish-not-ready-addresses"], (True, False, True)),
        (["--publish-not-ready-addresses=false"], (False, False, True)),
        (["--disable-network-policy=true"], (False, True, True)),
        (["--inject-hosts-env=false"], (False, False, False)),
        (["--inject-hosts-env"], (False, False, True)),
        ({"publish-not-ready-addresses": True, "disable-network-policy": True, "inject-hosts-env": False}, (True, True, False)),
    ],
)  # fmt: skip
def test_svc_takes_volcanos_flags(written: Any, expected: tuple[bool, bool, bool]) -> None:
    arguments, causes = parse(SvcArguments, "svc", written, PLACE)
    assert causes == []
    assert arguments is not None
    assert tuple(arguments.model_dump().values()) == expected


@pytest.mark.parametrize(
    "written, expected",
    [
        (["--inject-hosts-env=no"], ['spec.plugins[svc][0]: Invalid value: "--inject-hosts-env": its value must be true or false']),
        (["--disable-network-policy=never"], ['spec.plugins[svc][0]: Invalid value: "--disable-network-policy": its value must be true or false']),
        (["--publish-not-ready-addresses=2"], ['spec.plugins[svc][0]: Invalid value: "--publish-not-ready-addresses": its value must be true or false']),
        (["--disable-networkpolicy"], [f'spec.plugins[svc][0]: Unsupported value: "--disable-networkpolicy": supported values: {SVC_FLAGS}']),
        (["--inject-hosts-env", "false"], ["spec.plugins[svc][1]: Forbidden: svc takes only flags: use --publish-not-ready-addresses, --disable-network-policy, --inject-hosts-env"]),
        ({"inject-hosts-env": "maybe"}, ['spec.plugins[svc].inject-hosts-env: Invalid value: "inject-hosts-env": its value must be true or false']),
    ],
)  # fmt: skip
def test_svc_rejects_all_else(written: Any, expected: list[str]) -> None:
    assert faults(written, SvcArguments, "svc") == expected
