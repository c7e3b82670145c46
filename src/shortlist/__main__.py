"""``python -m shortlist``: the command line."""

from shortlist.cli import main

if __name__ == "__main__":
    main()
