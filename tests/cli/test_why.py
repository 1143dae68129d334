"""`jobgate why` with arguments that it cannot use. With a cluster, it is in `tests/e2e/test_why.py`."""

import pytest
from click.testing import CliRunner

from jobgate.cli import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dijbo/train"], "'dijbo' must be a kind of jobgate or of its catalogue, for example dijob"),
        (["jobflow/train"], "a JobFlow only creates a Job: ask why that waits"),
        (["dijob/train"], "not running in a pod: set --kubeconfig FILE"),
        (["rayclusters.ray.io/train"], "not running in a pod"),
        ([], "Missing argument '[KIND/]NAME'"),
    ],
)
def test_an_argument_that_cannot_be_used_is_an_error(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(main, ["why", *arguments])
    assert (result.exit_code, message in result.output) == (2, True), result.output
