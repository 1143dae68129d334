"""`python -m crdgen`: the command line. It needs only pydantic and PyYAML."""

import sys

from crdgen.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], program="python -m crdgen"))
