"""Which epsilon, which mechanism? Answered before anything private is read.

python examples/planning.py [VERTICES] [AVERAGE DEGREE]
"""

from __future__ import annotations

import sys

from dpgraph.interfaces.planning import plan


def main(arguments: list[str]) -> None:
    n = int(arguments[0]) if arguments else 7000
    degree = float(arguments[1]) if len(arguments) > 1 else 30.0
    for epsilon in (0.5, 2.0, 8.0):
        print(plan(n=n, average_degree=degree, epsilon=epsilon, delta=1e-6, repeats=1).table(), end="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
