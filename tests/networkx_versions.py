"""Run the backend under every supported networkx, each in an environment of its own: `make test-networkx`.

For each version: the project's tests of the backend, then the whole test-suite of networkx with ``backend="dpgraph"``,
whose failures are compared with ``networkx_differences.tsv``. Takes about ten minutes a version. Versions whose Python
is not on this machine are named and left out. Arguments: the versions to run (default: all).
"""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ENVIRONMENTS = REPOSITORY / ".venv-networkx"
#: Version of networkx -> the Pythons to try, in this order.
VERSIONS = {
    "3.4.2": ("3.11", "3.12", "3.13"),
    "3.5": ("3.11", "3.12", "3.13"),
    "3.6.1": ("3.11", "3.12", "3.13"),
    "3.7": ("3.13", "3.12"),
}
TEST_TOOLS = ("pytest", "hypothesis", "pandas", "matplotlib", "lxml")


def differences() -> dict[str, str]:
    """Test of networkx -> why it must fail with this backend."""
    lines = (REPOSITORY / "tests" / "networkx_differences.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {f"networkx/{file}::{test}": reason for file, test, reason in rows}


def page() -> str:
    """What docs/networkx.md says of them: how many tests differ, and the two commonest reasons."""
    reasons = Counter(reason.removesuffix(" (may pass)") for reason in differences().values())
    most, next_ = (f"{reason} ({count})" for reason, count in reasons.most_common(2))
    return (
        f"There are {len(differences())} tests in which an honest answer must differ, or may "
        f"([all, with reasons](../tests/networkx_differences.tsv)). Most often {most}, and {next_}."
    )


def write_page() -> None:
    """Write it there."""
    docs = REPOSITORY / "docs" / "networkx.md"
    text = docs.read_text()
    before, rest = text.split("<!-- differences -->\n", 1)
    docs.write_text(f"{before}<!-- differences -->\n\n{page()}\n\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}")


def differences_in(folder: Path) -> dict[str, str]:
    """The differences in files that the networkx in this folder has."""
    return {test: reason for test, reason in differences().items() if (folder / test.partition("::")[0]).is_file()}


def fits(failed: set[str], known: dict[str, str]) -> bool:
    """Whether those tests failed that must, and none that must not: some depend on the noise, and may pass."""
    return {test for test, reason in known.items() if not reason.endswith("(may pass)")} <= failed <= set(known)


def run_networkx_tests(python: str, folder: Path, files: list[str]) -> tuple[set[str], str]:
    """Failed tests of networkx with the backend, and the closing line of pytest."""
    command = [python, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [*command, "--rootdir=networkx", *files, "--backend", "dpgraph", "--fallback-to-nx"],
        cwd=folder,
        env=os.environ | {"COLUMNS": "300"},  # pytest shortens the names of tests to the width of the terminal
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    failed = {line.split(" ")[1] for line in lines if line.startswith(("FAILED ", "ERROR "))}
    return failed, lines[-1] if lines else done.stderr[-500:]


def interpreter(versions: tuple[str, ...]) -> str | None:
    """The first of these Pythons that is on the path or under pyenv."""
    installed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in versions:
        found = [str(path) for path in sorted(installed.glob(f"{version}.*/bin/python"))]
        found += [path for path in [shutil.which(f"python{version}")] if path]
        for python in found:
            if subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
                return python
    return None


def environment(version: str, python: str) -> str:
    """Python of a fresh environment with the package and this networkx."""
    folder = ENVIRONMENTS / version
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    inside = str(folder / "bin" / "python")
    install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, str(REPOSITORY), f"networkx=={version}", *TEST_TOOLS], check=True)
    return inside


def check(version: str, python: str) -> bool:
    """Run both test-suites under one version, and print what came out."""
    inside = environment(version, python)
    show = "import sys, networkx; print(sys.version.split()[0], networkx.__file__)"
    python_version, file = subprocess.run(
        [inside, "-c", show], capture_output=True, text=True, check=True, cwd=ENVIRONMENTS
    ).stdout.split()
    own = subprocess.run(
        [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_networkx_backend.py"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"networkx {version}, Python {python_version}")
    print(f"  tests of the backend: {own.stdout.splitlines()[-1]}", flush=True)
    failed, summary = run_networkx_tests(inside, Path(file).parent.parent, ["networkx"])
    print(f"  tests of networkx:    {summary}")
    expected = set(differences())
    for name in sorted(failed - expected):
        print(f"  UNEXPECTED {name}")
    gone = sorted(expected - failed)
    print(f"  {len(failed & expected)} expected differences" + (f", without {', '.join(gone)}" if gone else ""))
    return own.returncode == 0 and not failed - expected and " passed" in summary


def main(wanted: list[str]) -> int:
    """Exit status 1 if anything unexpected failed."""
    fine = True
    write_page()
    for version in wanted or VERSIONS:
        pythons = VERSIONS.get(version, ("3.13", "3.12", "3.11"))
        python = interpreter(pythons)
        if python is None:
            print(f"networkx {version}: left out, no Python {' or '.join(pythons)} on this machine")
        else:
            fine &= check(version, python)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
