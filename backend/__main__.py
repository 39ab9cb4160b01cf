"""``python -m backend``: the command line."""

import sys

if __name__ == "__main__":
    try:
        from backend.cli.app import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)
