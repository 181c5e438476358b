"""The lowest versions that pyproject.toml allows, as constraints for pip: ``python .ci/lowest.py > lowest.txt``.

They are for the lowest Python too. For a newer one many of them have no wheels; nothing is printed there.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

#: Extras that users install.
EXTRAS = ("plot", "pandas", "sklearn")


def lowest(project: dict[str, object]) -> list[str]:
    required = list(project["dependencies"])
    for extra in EXTRAS:
        required += project["optional-dependencies"][extra]
    return [re.fullmatch(r"([\w-]+)>=([\w.]+)", one).expand(r"\1==\2") for one in required]


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    if project["requires-python"] == ">=" + ".".join(map(str, sys.version_info[:2])):
        print("\n".join(lowest(project)))
