"""Prints how many published rows the kit reproduces, topic by topic, and what it says of the others."""
from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from .judgement import TOPICS, Verdict, judge
from .rows import FACTS, Row, read


def verdict(row: Row) -> Verdict:
    """The verdict on a row; an error while it is computed is a miss."""
    try:
        return judge(row)
    except Exception as error:
        return Verdict(row, "missed", f"{type(error).__name__}: {error}")


def main(file: Path = FACTS) -> int:
    """Print the table. Returns 1 where a row of the topics here is missed or not tried."""
    verdicts = [verdict(row) for row in read(file) if row.check == "equal"]
    gated = [v for v in verdicts if v.row.topic.partition(" ")[0] in TOPICS]
    states = ("met", "missed", "not tried", "not expressed")
    print(f"{'topic':38}" + "".join(f"{state:>15}" for state in states))
    for topic in sorted({v.row.topic for v in gated}, key=lambda topic: int(topic.partition(" ")[0])):
        count = Counter(v.state for v in gated if v.row.topic == topic)
        print(f"{topic:38}" + "".join(f"{count[state]:15}" for state in states))
    for state in states[1:]:
        if listed := [v for v in gated if v.state == state]:
            print(f"\n{state}:")
            for v in listed:
                print(f"  {v.row.id:32} {v.why}")
    return int(any(v.state in ("missed", "not tried") for v in gated))


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
