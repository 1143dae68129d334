"""`python -m jobgate`: the command line."""

from jobgate.cli import main

if __name__ == "__main__":
    main(prog_name="python -m jobgate")
