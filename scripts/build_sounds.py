"""Writes langchain_semcache/verifiers/sounds.txt: which Chinese characters sound alike.

    pip install pypinyin
    python scripts/build_sounds.py FREQUENCIES

One line a syllable without tones: the syllable, and its characters of GB 2312, the commonest first.
`FREQUENCIES` is a word list with counts, "word count …" a line, such as the dictionary of jieba.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from pypinyin import lazy_pinyin

TARGET = Path(__file__).parent.parent / "langchain_semcache/verifiers/sounds.txt"


def characters() -> list[str]:
    """The 6,763 of GB 2312."""
    pairs = (bytes([high, low]) for high in range(0xB0, 0xF8) for low in range(0xA1, 0xFF))
    return [char for pair in pairs if (char := pair.decode("gb2312", "ignore"))]


def main() -> None:
    common: Counter[str] = Counter()
    for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
        word, count, *_ = line.split()
        for char in word:
            common[char] += int(count)
    sounds: dict[str, list[str]] = {}
    for char in characters():
        sounds.setdefault(lazy_pinyin(char)[0], []).append(char)
    lines = [
        f"{sound} {''.join(sorted(chars, key=lambda char: (-common[char], char)))}"
        for sound, chars in sorted(sounds.items())
    ]
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")
    print(TARGET, len(lines), "syllables", TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
