"""`jobgate crdgen` is the same as `python -m crdgen`."""

import pytest
from click.testing import CliRunner

from jobgate.cli import main


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("--help", 0, "usage: jobgate crdgen COMMAND"),
        ("size --help", 0, "usage: jobgate crdgen size"),
        ("size manifests/chart/jobgate/files/crds --depth 1 --output json", 0, '"fits": true'),
        ("generate tests.crdgen.cli.shop:ORDER", 0, "name: orders.shop.example.com"),
        ("generate nowhere:Spec", 2, "jobgate crdgen generate: nowhere cannot be imported"),
    ],
)
def test_arguments_are_passed_on_as_they_are(line: str, status: int, message: str) -> None:
    answer = CliRunner().invoke(main, ["crdgen", *line.split()])
    assert answer.exit_code == status
    assert message in answer.output
