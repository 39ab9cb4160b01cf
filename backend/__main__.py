"""``python -m backend``: the command line."""

from backend.cli.app import main

if __name__ == "__main__":
    main()
