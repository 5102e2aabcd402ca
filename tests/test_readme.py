"""The README's Python, run as it stands."""
from __future__ import annotations

import re
import sys
import types
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_examples_run_and_say_what_the_comments_promise(monkeypatch):
    page = types.ModuleType("readme")
    monkeypatch.setitem(sys.modules, "readme", page)
    names = vars(page)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    said = re.search(r'run\.substitution\("optimizer_state"\)\s+# (.+)', README)
    assert said is not None
    assert str(names["run"].substitution("optimizer_state")) == said[1]
    assert names["check_scenario"](names["KeyValueCache"]).passed
