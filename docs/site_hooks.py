"""Hooks of mkdocs: reference from docstrings, notebooks as pages, pictures from tables, links that leave ``docs/``.

Pages link to files elsewhere in the repository (``../benchmarks/results/...``, ``../examples/...``), so that the links
work where the repository is browsed. The site gets copies of those files under the same names.
"""

from __future__ import annotations

import base64
import inspect
import json
import pkgutil
import posixpath
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

import dpgraph
from dpgraph.strategies import registries

REPOSITORY = Path(__file__).resolve().parent.parent
#: Files outside docs/ that the site gets copies of, except those that ``UNTRACKED`` matches.
ELSEWHERE = (
    "benchmarks/results/*.md",
    "benchmarks/results/*.csv",
    "benchmarks/results/projections.png",
    "benchmarks/results/correlation_rounding.png",
    "benchmarks/*.py",
    "examples/*.py",
    "datasets/README.md",
    "tests/networkx_differences.tsv",
)
UNTRACKED = re.compile(r"_(full|quick)\.\w+$")
ROLE = re.compile(r":(?:func|class|meth|attr|mod|exc|data|doc):<code>~?([\w.]+)</code>")
OUTSIDE = re.compile(r"(\]\()\.\./(benchmarks|examples|datasets|tests|(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md)")
#: Pages of the site that lie beside docs/.
BESIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
STRATEGIES = re.compile(r"^\{\{ strategies: ([\w.:]+) \}\}$", re.MULTILINE)

#: Tables of so many columns fit a phone.
NARROW = 3
NOTEBOOK = re.compile(r"(\]\((?:\.\./)*examples/\w+)\.ipynb(\))")

#: Page of the reference -> (title, packages and modules whose names it holds).
REFERENCE = {
    "strategies": ("Options of strategies", ("dpgraph.strategies",)),
    "problems": (
        "Cuts and constraint problems",
        (
            "dpgraph.problems.options",
            "dpgraph.problems.cut",
            "dpgraph.problems.csp",
            "dpgraph.results.labels",
            "dpgraph.instance",
        ),
    ),
    "graphs": (
        "Graphs and matrices",
        (
            "dpgraph.problems.communities",
            "dpgraph.problems.densest",
            "dpgraph.problems.counts",
            "dpgraph.problems.densest",
            "dpgraph.problems.synthesis",
            "dpgraph.releases",
            "dpgraph.problems.embedding",
            "dpgraph.problems.matrices",
            "dpgraph.results",
        ),
    ),
    "queries": (
        "Private queries",
        (
            "dpgraph.problems.records",
            "dpgraph.linear_queries",
            "dpgraph.marginals",
            "dpgraph.results.records",
            "dpgraph.results.marginals",
            "dpgraph.cosine_sensitivity",
        ),
    ),
    "privacy": ("Budgets and accounting", ("dpgraph.privacy",)),
    "files": (
        "Reports, files, tables",
        (
            "dpgraph.interfaces.report.sections",
            "dpgraph.interfaces.report.result",
            "dpgraph.results.files",
            "dpgraph.inputs.public_nodes",
        ),
    ),
    "sklearn": ("scikit-learn", ("dpgraph.sklearn",)),
    "datasets": ("Data sets", ("dpgraph.datasets",)),
    "plot": ("Pictures", ("dpgraph.plot",)),
    "projections": ("Projections", ("dpgraph.projections",)),
    "sos": ("Sum of squares", ("dpgraph.sos",)),
    "spectral": ("Spectra of exact data", ("dpgraph.spectral",)),
    "evaluate": ("Exact values, not private", ("dpgraph.evaluate",)),
    "exceptions": ("Errors", ("dpgraph.exceptions",)),
    "more": ("Other names", ("dpgraph",)),
}


@cache
def drawn_pictures() -> dict[str, Callable[[], bytes]]:
    """Place in the site -> picture, for those that are drawn from what is in git."""
    sys.path[:0] = [str(REPOSITORY / "benchmarks"), str(REPOSITORY / "docs")]
    try:
        benchmarks, docs = import_module("pictures"), import_module("make_pictures")
    finally:
        del sys.path[:2]
    results = {
        f"benchmarks/results/{name}": partial(benchmarks.png, draw) for name, draw in benchmarks.pictures().items()
    }
    return results | {f"pictures/{name}": draw for name, draw in docs.quick_pictures().items()}


@cache
def public_names() -> dict[str, str]:
    """Public path -> defining path of every public function and class."""
    top = {name: getattr(dpgraph, name) for name in dpgraph.__all__ if name != "__version__"}
    members = {f"dpgraph.{name}": value for name, value in top.items()}
    for name, module in top.items():
        for inner in getattr(module, "__all__", dir(module)) if inspect.ismodule(module) else ():
            members[f"dpgraph.{name}.{inner}"] = getattr(module, inner)
    return {
        public: f"{value.__module__}.{value.__qualname__}"
        for public, value in members.items()
        if inspect.isroutine(value) or inspect.isclass(value)
    }


def reference_pages() -> dict[str, str]:
    """Markdown of each page of the reference. A public name that no page claims lands on the last one."""
    claimed: dict[str, str] = {}
    pages: dict[str, dict[str, str]] = {page: {} for page in REFERENCE}
    for public, path in public_names().items():
        if path not in claimed:
            page = next(
                page
                for page, (_, prefixes) in REFERENCE.items()
                if any(f"{name}.".startswith(f"{prefix}.") for prefix in prefixes for name in (public, path))
            )
            claimed[path] = public
            pages[page][public] = path
    return {page: _reference_page(REFERENCE[page][0], names) for page, names in pages.items() if names}


def _reference_page(title: str, names: dict[str, str]) -> str:
    private_first = sorted(
        names, key=lambda public: (public.rpartition(".")[2][0].isupper(), ".private_" not in public)
    )
    entries = [
        f"::: {names[public]}\n    options:\n      heading: {public}\n      toc_label: {public.rpartition('.')[2]}\n"
        for public in private_first
    ]
    return "\n".join([f"# {title}\n", *entries])


def notebook_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook with its outputs as Markdown, and its pictures by file name."""
    parts, pictures = [], {}
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            source = source.replace("](../docs/", "](../")
            parts.append(re.sub(r"(\]\(\w+)\.ipynb\)", r"\1.md)", source))
            continue
        source = source.removeprefix("%matplotlib inline\n")
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![output]({name})")
            else:
                text = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join([*parts, f"[This page as a notebook]({path.name})"]), pictures


def standalone(path: Path) -> str:
    """A notebook that runs from a download: what it imports from ``real_graphs.py`` stands in its first cell."""
    helper = (REPOSITORY / "examples" / "real_graphs.py").read_text()
    book = json.loads(path.read_text())
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if "from real_graphs import real_graph\n" in source:
            magic = "".join(re.findall(r"^%.*\n", source, re.MULTILINE))
            rest = re.sub(r"^(?:%|from real_graphs ).*\n", "", source, flags=re.MULTILINE)
            cell["source"] = magic + helper.partition("from __future__ import annotations\n\n")[2] + "\n\n" + rest
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def with_tables(markdown: str) -> str:
    """Replace ``{{ strategies: labels:CUTS }}`` by the table of these strategies."""
    return STRATEGIES.sub(lambda found: pkgutil.resolve_name(f"dpgraph.problems.{found[1]}").table(), markdown)


def strategies_page() -> str:
    """Every strategy of every problem, from their registries."""
    parts = [
        "# Strategies\n\nWhat `mechanism=` chooses: a name, or an object of `dpgraph.strategies` with these options.\n"
    ]
    parts += [f"## Strategies of {registry.of}\n\n{registry.table()}\n" for registry in registries()]
    return "\n".join(parts)


# --- called by mkdocs ------------------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Say which version the site describes."""
    config.site_name = f"dpgraph {dpgraph.__version__}"
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the reference, the pictures, the notebooks and the files from elsewhere."""
    for page, content in reference_pages().items():
        files.append(File.generated(config, f"reference/{page}.md", content=content))
    files.append(File.generated(config, "strategies.md", content=strategies_page()))
    for name in BESIDE:
        content = (REPOSITORY / name).read_text().replace("](docs/", "](")
        files.append(File.generated(config, name, content=content))
    for name, draw in drawn_pictures().items():
        files.append(File.generated(config, name, content=draw()))
    for pattern in ELSEWHERE:
        for path in sorted(path for path in REPOSITORY.glob(pattern) if not UNTRACKED.search(path.name)):
            name = path.relative_to(REPOSITORY).as_posix()
            files.append(
                File(
                    name,
                    str(REPOSITORY),
                    config.site_dir,
                    config.use_directory_urls,
                    inclusion=InclusionLevel.NOT_IN_NAV,
                )
            )
    for path in sorted((REPOSITORY / "examples").glob("*.ipynb")):
        content, pictures = notebook_page(path)
        files.append(File.generated(config, f"examples/{path.name}", content=standalone(path)))
        files.append(File.generated(config, f"examples/{path.stem}.md", content=content))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"examples/{name}", content=picture))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Turn links out of docs/ into links to the copies or pages; fill in the tables of strategies."""
    if page.file.generated_by:
        return markdown
    depth = posixpath.dirname(page.file.src_uri).count("/") + 1 if "/" in page.file.src_uri else 0
    markdown = OUTSIDE.sub(rf"\1{'../' * depth}\2", markdown)
    return with_tables(NOTEBOOK.sub(r"\1.md\2", markdown))


def with_labels(html: str) -> str:
    """Give each cell of a wide table the name of its column: on a phone a row is a list of them (site.css)."""

    def labelled(found: re.Match[str]) -> str:
        names = [re.sub(r"<[^>]*>", "", name).strip() for name in re.findall(r"<th[^>]*>(.*?)</th>", found[0], re.S)]
        if len(names) <= NARROW or any("\\" in name for name in names):  # formulas are set by a script
            return found[0]
        column = cycle(name.replace('"', "&quot;") for name in names)
        return re.sub(
            r"<td([^>]*)>(.*?)</td>",
            lambda cell: f'<td{cell[1]} data-label="{next(column)}"><span>{cell[2]}</span></td>',
            found[0].replace(" ± ", "&nbsp;±&nbsp;"),
            flags=re.S,
        )

    return re.sub(r"<table>.*?</table>", labelled, html, flags=re.S)


def on_page_content(html: str, **_: Any) -> str:
    """Turn the roles of the docstrings (:func:`...`) into links, and name the cells of wide tables."""
    return ROLE.sub(
        lambda role: (
            f'<autoref optional identifier="{public_names().get(role[1], role[1])}"><code>{role[1]}</code></autoref>'
        ),
        with_labels(html),
    )
