"""What the documentation shows is run here, and what it links to exists."""

import importlib
import importlib.util
import inspect
import re
import sys
import tomllib
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import yaml

import dpgraph

REPOSITORY = Path(__file__).resolve().parent.parent
#: Pages whose examples are run by other tests, or need a cluster.
ELSEWHERE = ("networkx.md", "distributed.md")
#: Pages whose examples are run here.
PAGES = [
    path.relative_to(REPOSITORY).as_posix()
    for path in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))
    if path.name not in ELSEWHERE and "```python\n" in path.read_text()
]


#: Pages that do not show everything that their blocks print.
SHORT = ("README.md",)


def write_mails(folder, *, messy):
    """Mails in four departments; if messy with capitals, blanks, missing names, strangers and mails to oneself."""
    rng = np.random.default_rng(0)
    people = [f"{name}.{k}" for name in ("ann", "bob", "cem", "dan") for k in range(60)]
    G = nx.planted_partition_graph(4, 60, 0.5, 0.02, seed=1)
    mails = [(people[u], people[v]) for u, v in G.edges for _ in range(1 + (u + v) % 2)]
    mails += [(people[0], people[0]), ("spam", people[3]), ("", people[4]), (people[5], "")] * (20 * messy)
    changed = [str, str.upper, str.title, " {} ".format] if messy else [str] * 4
    lines = [",".join(changed[rng.integers(4)](end) for end in mail) for mail in mails]
    (folder / "mails.csv").write_text("\n".join(["sender,recipient", *lines]) + "\n")
    (folder / "people.csv").write_text("\n".join(["name", *people]) + "\n")


@pytest.mark.parametrize("page", PAGES)
def test_the_python_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_mails(tmp_path, messy=page not in SHORT)
    blocks = re.findall(
        r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", (REPOSITORY / page).read_text(), flags=re.DOTALL
    )
    assert blocks
    names = {}
    for block, shown in blocks:
        exec(compile(block, page, "exec"), names)
        # Noise differs from run to run, the number of lines does not.
        printed = capsys.readouterr().out
        assert page in SHORT or printed.count("\n") == shown.count("\n"), f"what this prints is not shown:\n{block}"


def test_the_python_blocks_of_the_page_on_networkx_run_in_order():
    settings, names = nx.config.backends.dpgraph, {}
    try:
        for block in re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs" / "networkx.md").read_text(), re.DOTALL):
            exec(compile(block, "networkx.md", "exec"), names)
    finally:
        settings.epsilon = settings.delta = settings.max_weight = None
    assert len(names["budget"].report().entries) == 2


#: Pages of ways in, and of what is not private.
NO_THEOREM = ("datasets.md", "networkx.md", "sos.md", "distributed.md")


def test_every_capability_has_a_page_with_its_theorem():
    navigation = yaml.load((REPOSITORY / "mkdocs.yml").read_text(), yaml.BaseLoader)["nav"]
    (capabilities,) = [tab["Capabilities"] for tab in navigation if "Capabilities" in tab]
    for page in (page for entry in capabilities for page in entry.values()):
        text = (REPOSITORY / "docs" / page).read_text()
        elsewhere = re.search(r"\]\(([\w-]+-theory\.md)[#)]", text)
        with_theorem = (REPOSITORY / "docs" / elsewhere[1]).read_text() if elsewhere else text
        assert page in NO_THEOREM or "## Theorem\n\n> " in with_theorem, page
    text = "".join(page.read_text() for page in (REPOSITORY / "docs").glob("*.md") if page.name != "proofs.md")
    private = [name for name in dpgraph.__all__ if name.startswith("private_")]
    assert [name for name in private if f"`{name}" not in text and f"dpgraph.{name}(" not in text] == []


#: Texts in which every file that is named must exist. Tests of networkx are named in two others.
TEXTS = [
    *sorted(REPOSITORY.glob("*.md")),
    *(path for path in sorted((REPOSITORY / "docs").glob("*.*")) if path.name != "networkx.md"),
    *(path for part in ("dpgraph", "benchmarks", "examples") for path in sorted((REPOSITORY / part).rglob("*.py"))),
    *(path for path in sorted((REPOSITORY / "tests").rglob("*.py")) if "networkx" not in path.name),
]


def test_every_page_and_source_file_that_is_named_exists():
    folders = ("dpgraph", "docs", "tests", "benchmarks", "examples", "datasets", ".ci")
    files = [path for folder in folders for path in (REPOSITORY / folder).rglob("*.*")]
    there = {path.relative_to(REPOSITORY).parts for path in [*files, *REPOSITORY.glob("*.*")]}
    endings = {parts[start:] for parts in there for start in range(len(parts))}
    examples = {"dealt.py", "api.py", "exact.py", "rule.py", "NAME.py", "x.md", "1.md", "invented.py", "strategies.md"}
    missing = []
    for text in TEXTS:
        for name in set(re.findall(r"[\w./-]*\w\.(?:md|py)\b", text.read_text())):
            parts = tuple(part for part in Path(name).parts if part not in ("..", "."))
            if parts not in endings and parts[-1] not in examples:
                missing.append((text.relative_to(REPOSITORY).as_posix(), name))
    assert not missing, "\n".join(f"{text}: {name}" for text, name in missing)


def exists(name):
    """Whether a dotted name leads to something, as a name of a package or by its module."""
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        try:
            found = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            return False
        for part in parts[depth:]:
            if inspect.isclass(found):  # what instances hold is not seen from their class
                return True
            found = getattr(found, part, None)
        if found is not None:
            return True
    return True


def test_every_part_of_the_package_that_is_named_exists():
    invented = re.compile(r"NAME|invented|[Dd]ealt|\.(?:md|py|json|org)$")
    missing = [
        (text.relative_to(REPOSITORY).as_posix(), name)
        for text in TEXTS
        if text.name != "CHANGELOG.md"  # speaks of the past, too
        for name in set(re.findall(r"(?<![\w./-])dpgraph(?:\.[A-Za-z_]\w*)+", text.read_text()))
        if not invented.search(name) and not exists(name)
    ]
    assert not missing, "\n".join(f"{text}: {name}" for text, name in missing)


def test_every_link_between_pages_has_a_target(hooks):
    pages = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").glob("*.md"))]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text()):
            drawn = target.removeprefix("../") in hooks.drawn_pictures()
            assert target == "https" or drawn or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", ["README.md", "docs/command-line.md", "docs/datasets.md"])
def test_every_command_and_option_that_a_page_shows_exists(page):
    import typer

    from dpgraph.interfaces.cli.app import app

    program = typer.main.get_command(app)
    commands = {name: program.get_command(None, name) for name in program.commands}
    known = {
        option
        for command in [program, *commands.values(), *commands["datasets"].commands.values()]
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}
    text = (REPOSITORY / page).read_text()
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= known
    for command in re.findall(r"(?:\$ |`)dpgraph ([a-z][a-z-]+)", text):
        assert command in program.commands


def test_every_claim_in_numbers_stands_on_its_page_as_its_table_has_it():
    claims = loaded("claims")
    assert len(claims.claims()) >= 90
    for claim in claims.claims():
        page = claims.one_line((REPOSITORY / claim.page).read_text())
        assert claims.one_line(claim.text) in page, f"{claim.page} does not say: {claim.text}"
        assert (claims.RESULTS / claim.table).exists()


def test_no_sentence_about_measurements_has_a_number_that_is_in_no_table(tmp_path, monkeypatch):
    claims = loaded("claims")
    every = claims.claims()
    for path in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]:
        page = path.relative_to(REPOSITORY).as_posix()
        assert claims.unclaimed(page, [claim.text for claim in every if claim.page == page]) == []
    monkeypatch.setattr(claims, "REPOSITORY", tmp_path)
    for sentence, texts, found in (
        ("On wiki-Vote it errs 3.5 times as much.", [], 1),
        ("On wiki-Vote it errs 3.5 times as much ([all](benchmarks/results/x.md)).", ["it errs 3.5 times"], 0),
        ("It errs by 7 % ([all](benchmarks/results/x.md)).", ["by 6 %"], 1),
        ("By Theorem 2.3 it errs less on wiki-Vote.", [], 0),
    ):
        (tmp_path / "x.md").write_text(sentence)
        assert len(claims.unclaimed("x.md", texts)) == found, sentence


def test_what_the_page_of_statements_names_exists():
    page = (REPOSITORY / "docs" / "statements.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)
    assert len(named) >= 60
    assert page.count("::") == len(named)
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not name.startswith("test_")
        or not re.search(rf"^def {name}\w*\(", (REPOSITORY / file).read_text(), re.MULTILINE)
    ]
    assert missing == []
    functions = set(re.findall(r"`(private_\w+|max_\w+|perturb_and_project)", page))
    assert functions <= set(dpgraph.__all__)
    for module, name in re.findall(r"`(linear_queries|projections|sos|spectral)\.(\w+)", page):
        assert hasattr(getattr(dpgraph, module), name), f"{module}.{name}"


def loaded(name):
    specification = importlib.util.spec_from_file_location(name, REPOSITORY / "docs" / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hooks():
    return loaded("site_hooks")


def test_every_page_is_in_a_tab():
    navigation = yaml.load((REPOSITORY / "mkdocs.yml").read_text(), yaml.BaseLoader)["nav"]
    tabs = {
        name: [page for entry in pages for page in entry.values()] for tab in navigation for name, pages in tab.items()
    }
    written = {path.name for path in (REPOSITORY / "docs").glob("*.md")}
    assert written - {page for pages in tabs.values() for page in pages} == set()


def test_nothing_of_the_site_comes_from_elsewhere():
    settings = (REPOSITORY / "mkdocs.yml").read_text()
    scripts = [path for path in (REPOSITORY / "docs").rglob("*") if path.suffix in (".js", ".css")]
    assert "katex/katex.min.js" in settings
    assert [path.name for path in scripts if re.search(r"url\((?:https?:)?//|import .*https?:", path.read_text())] == []
    assert re.findall(r"https?://", settings) == []


def test_the_reference_documents_every_public_name_once_and_the_site_shows_every_page_of_it(hooks):
    pages = hooks.reference_pages()
    headings = re.findall("      heading: dpgraph.(.+)", pages["graphs"])
    assert headings[0].startswith("private_")
    assert [name[0].isupper() for name in headings] == sorted(name[0].isupper() for name in headings)
    documented = [path for page in pages.values() for path in re.findall("^::: (.+)", page, flags=re.MULTILINE)]
    assert sorted(documented) == sorted(set(hooks.public_names().values()))
    public = {name.split(".")[1] for name in hooks.public_names()}
    assert public == set(dpgraph.__all__) - {"__version__"}
    settings = yaml.load((REPOSITORY / "mkdocs.yml").read_text(), yaml.BaseLoader)
    in_navigation = re.findall(r"reference/(\w+)\.md", str(settings["nav"]))
    assert sorted(in_navigation) == sorted(pages)


def test_links_out_of_the_folder_of_pages_lead_to_copies_on_the_site(hooks):
    class Page:
        class file:
            src_uri = "choosing.md"
            generated_by = None

    assert hooks.on_page_markdown("[a](../benchmarks/results/x.md)", page=Page) == "[a](benchmarks/results/x.md)"
    assert hooks.on_page_markdown("[a](cuts.md)", page=Page) == "[a](cuts.md)"


def test_one_page_shows_every_strategy(hooks):
    page = hooks.strategies_page()
    names = [name for registry in dpgraph.strategies.registries() for name in registry.strategies]
    assert len(names) > 20
    assert [name for name in names if f'| `"{name}"` |' not in page] == []


def test_one_semantic_version_is_stated_everywhere():
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version)
    assert dpgraph.__version__ == version
    assert yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())["version"] == version
    assert re.search(
        r"^## Unreleased|^## " + re.escape(version), (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE
    )


def test_workflows_run_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), flags=re.MULTILINE))
    asked = set()
    for path in (REPOSITORY / ".github" / "workflows").glob("*.yml"):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            runs = " ".join(step.get("run", "") for step in job["steps"])
            named = re.findall(r"\bmake ((?:[\w-]+ ?)+?)(?= \w+=|$)", runs)
            asked |= {target for words in named for target in words.split()}
            asked |= set(job.get("strategy", {}).get("matrix", {}).get("target", []))
    assert asked >= {"test", "demo", "release", "test-slow"}
    assert asked <= targets


def test_settings_of_services_are_yaml():
    for path in [*(REPOSITORY / ".github").rglob("*.yml"), REPOSITORY / ".readthedocs.yaml"]:
        assert isinstance(yaml.safe_load(path.read_text()), dict), path
