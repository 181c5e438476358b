"""How hard the pages are to read: words, longest paragraph, longest sentence, widest table, reading grade.

``python docs/reading_count.py`` prints a line for every page, ``--csv`` the same for a file. The grade is that of
Flesch and Kincaid: years of school that a text asks for. Code, tables, links and formulas are left out of it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CODE = re.compile(r"^```.*?^```|<!--.*?-->|^\{\{.*?\}\}|^(?:> )?\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
TABLE_LINE = re.compile(r"^\|.*\| *$", re.MULTILINE)
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
#: Paragraphs end at an empty line, and every item of a list is one of its own.
PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
SENTENCE_END = re.compile(r"[.!?](?:\s|$)|:\s*$")
WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")


@dataclass(frozen=True)
class Reading:
    """What is counted on one page."""

    words: int
    longest_paragraph: int
    longest_sentence: int
    columns: int
    grade: float


def paragraphs(markdown: str) -> list[str]:
    """The paragraphs and list items of a page, in plain text."""
    text = HEADING.sub("\n", TABLE_LINE.sub("\n", CODE.sub("\n", markdown)))
    text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)  # the words of a link, and not its target
    found, in_list = [], False
    for part in PARAGRAPH_END.split(text):
        indented = part.strip("\n").startswith("    ")
        in_list = bool(re.match(r"\s*(?:[-*]|\d+\.) ", part)) or (in_list and (indented or not part.strip()))
        if part.strip() and (in_list or not indented):  # an indented block outside of a list is code
            found.append(re.sub(r"^(?:[-*]|\d+\.) ", "", " ".join(part.split())))
    return found


def syllables(word: str) -> int:
    """An estimate: groups of vowels, and no mute e at the end."""
    groups = len(re.findall(r"[aeiouy]+", word.lower()))
    return max(1, groups - (word.lower().endswith("e") and not word.lower().endswith("le")))


def columns(markdown: str) -> int:
    """Columns of the widest table."""
    text = CODE.sub("\n", markdown)
    return max((len(re.split(r"(?<!\\)\|", line.strip().strip("|"))) for line in TABLE_LINE.findall(text)), default=0)


def reading(markdown: str) -> Reading:
    """Count one page."""
    parts = paragraphs(markdown)
    sentences = [sentence for part in parts for sentence in SENTENCE_END.split(part) if WORD.search(sentence)]
    words = [word for part in parts for word in WORD.findall(re.sub(r"`[^`]*`|\$[^$]*\$", "x", part))]
    if not words:
        return Reading(0, 0, 0, columns(markdown), 0.0)
    grade = 0.39 * len(words) / len(sentences) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59
    return Reading(
        words=sum(len(part.split()) for part in parts),
        longest_paragraph=max(len(part.split()) for part in parts),
        longest_sentence=max(len(sentence.split()) for sentence in sentences),
        columns=columns(markdown),
        grade=round(grade, 1),
    )


def pages() -> dict[str, Reading]:
    """Name -> figures, of every page that is written by hand."""
    files = [*sorted((REPOSITORY / "docs").glob("*.md")), REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]
    return {path.name: reading(path.read_text()) for path in files}


def main() -> None:
    """Print the table."""
    line = "{},{},{},{},{},{}" if "--csv" in sys.argv else "{:<28}{:>7}{:>11}{:>10}{:>9}{:>7}"
    print(line.format("page", "words", "paragraph", "sentence", "columns", "grade"))
    for name, page in pages().items():
        row = (page.words, page.longest_paragraph, page.longest_sentence, page.columns, page.grade)
        print(line.format(name, *row))


if __name__ == "__main__":
    main()
