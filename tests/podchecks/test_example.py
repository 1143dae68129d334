"""The example in the docstring of the package is right."""

import contextlib
import io
import re

from jobgate import podchecks


def test_the_example_prints_what_it_says() -> None:
    doc = podchecks.__doc__ or ""
    program = "\n".join(line[4:] for line in doc.splitlines() if line.startswith("    "))
    expected = re.search(r"# (.*)…", program)
    assert expected
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(program, {})
    assert out.getvalue().startswith(expected[1])
    assert len(out.getvalue().splitlines()) == 1
