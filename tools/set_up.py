"""Set up .venv and node_modules: `python3 tools/set_up.py [test]`.

Every Python since 2.7 can read this file, so that one which is too old is told so.
"""

import sys

OLDEST, NEWEST = (3, 10), (3, 13)  # what the pinned packages have wheels for


def check_python():
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        sys.exit(
            "make: this is Python %s, but the book needs %d.%d to %d.%d; name another with `make PYTHON=python3.12 ...`."
            % ((sys.version.split()[0],) + OLDEST + NEWEST)
        )
    import importlib.util

    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            "make: Python's venv is incomplete; on Debian and Ubuntu install it with `apt install python3-venv`, "
            "then run make again."
        )


if __name__ == "__main__":
    check_python()
    import environment

    environment.main(test="test" in sys.argv[1:])
