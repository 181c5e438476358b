"""Words, longest paragraph and reading grade of each page; `--split` cuts what is too long.

python docs/paragraphs.py [--split] [PAGE ...]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
#: No paragraph and no item of a list has more words.
MOST = 90
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
#: What is no prose: tables, headings, pictures, HTML, lines that mkdocs expands.
_NO_PROSE = ("|", "#", "![", "<", "{{")
#: A sentence ends, and the next one begins with a capital; not after a shortened word.
_END = re.compile(r"(?<![A-Z])(?<!\bal)(?<!\bvs)(?<!\bcf)[.?!][)*`]*\s+(?=[A-Z*`(])")


def pages() -> list[Path]:
    """Pages of the site that people write, and those of the repository."""
    return [
        *sorted((REPOSITORY / "docs").glob("*.md")),
        *(REPOSITORY / f"{name}.md" for name in ("README", "SECURITY")),
    ]


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """First line, and the line after the last, of each paragraph or item of a list."""
    lines, start, fenced = text.split("\n"), None, False
    for at, line in enumerate([*lines, ""]):
        fence = line.lstrip().startswith("```")
        stops = fenced or fence or line.strip() in ("", ">") or line.lstrip().startswith(_NO_PROSE)
        if start is not None and (stops or _ITEM.match(line)):
            yield start, at
            start = None
        fenced ^= fence
        if not stops and start is None:
            start = at


def words(text: str) -> int:
    """Words, counting formulas and names as such."""
    return len(re.findall(r"\S*\w\S*", text))


def longest(text: str) -> int:
    """Words of the longest paragraph."""
    lines = text.split("\n")
    return max((words("\n".join(lines[start:stop])) for start, stop in paragraphs(text)), default=0)


def grade(prose: str) -> float:
    """Reading grade by Flesch and Kincaid, with groups of vowels for syllables."""
    names = re.findall(r"[A-Za-z]+", prose)
    syllables = sum(max(1, len(re.findall(r"[aeiouy]+", name.lower()))) for name in names)
    sentences = len(re.findall(r"[.!?:](?=\s|$)", prose))
    return 0.39 * len(names) / max(sentences, 1) + 11.8 * syllables / max(len(names), 1) - 15.59


def split(text: str) -> str:
    """The text with an empty line before sentences that make a paragraph too long."""
    lines = text.split("\n")
    for start, stop in reversed(list(paragraphs(text))):
        block = "\n".join(lines[start:stop])
        if words(block) > MOST:
            lines[start:stop] = _divided(block).split("\n")
    return "\n".join(lines)


def _divided(block: str) -> str:
    """Parts of nearly equal length, which begin where sentences do; further parts of an item are indented like it."""
    quoted = block.startswith(">")
    parts = -(-words(block) // MOST)
    ends = [match.end() for match in _END.finditer(block)]
    indent = " " * len(item[0]) if (item := _ITEM.match(block)) else re.match(r"[ ]*", block)[0]
    between = "\n>\n> " if quoted else f"\n\n{indent}"
    while ends:
        wanted = [words(block) * part / parts for part in range(1, parts)]
        cuts = sorted({min(ends, key=lambda end, want=want: abs(words(block[:end]) - want)) for want in wanted})
        pieces = [block[a:b].rstrip() for a, b in zip([0, *cuts], [*cuts, len(block)], strict=True)]
        if max(map(words, pieces)) <= MOST or parts > len(ends):
            return between.join(pieces)
        parts += 1
    return block


def main(arguments: list[str]) -> None:
    """Print one line a page, after cutting if that is asked for."""
    chosen = [Path(name) for name in arguments if name != "--split"] or pages()
    print(f"{'page':36}{'words':>7}{'longest':>9}{'grade':>7}")
    for page in chosen:
        text = page.read_text()
        if "--split" in arguments:
            text = split(text)
            page.write_text(text)
        lines = text.split("\n")
        prose = "\n\n".join("\n".join(lines[start:stop]) for start, stop in paragraphs(text))
        print(f"{page.resolve().relative_to(REPOSITORY)!s:36}{words(prose):7}{longest(text):9}{grade(prose):7.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
