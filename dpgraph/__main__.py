"""``python -m dpgraph``: the command line."""

import sys

from dpgraph.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
