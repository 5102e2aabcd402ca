"""Scenes written down: as text for a handout or a screen reader, as HTML for a notebook, a page and slides."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from .steps import KNOWN, NUMBERS, QUESTION, SYMBOLS, VALUE, Scene, Step

SCENE, SOURCES = "mlsysim-scene", "mlsysim-sources"
IGNORE = "mathjax_ignore tex2jax_ignore"      # two dollar signs would be read as mathematics
ACCENT = "border-left:.25em solid #0072B2;padding-left:.5em"
SAYS = {KNOWN: "known", SYMBOLS: "in symbols", NUMBERS: "with numbers", VALUE: "value"}

# As a page of its own. Nothing is smaller than the page's letters, and those can be read from the last row.
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root{{color-scheme:light dark}} body{{font:24px/1.45 system-ui,sans-serif;max-width:52em;margin:1em auto;padding:0 1em}} h1,h2{{line-height:1.2}}
.{scene}{{break-inside:avoid;margin-bottom:2em}}
@media print{{:root{{color-scheme:light}} body{{font-size:13pt;margin:0}} *{{print-color-adjust:exact}}}}</style></head>
<body><h1>{title}</h1>
{scenes}
</body></html>
"""


# As text.

def text(title: str, scenes: Sequence[Scene]) -> str:
    """A handout: every scene with its question, steps and sources, one thing to a line."""
    return "\n".join([title, *(line for number, scene in enumerate(scenes, 1) for line in ("", *_scene_text(number, scene)))])


def _scene_text(number: int, scene: Scene) -> Iterator[str]:
    yield f"{number}. {scene.title}" + (f": {scene.meaning}" if scene.meaning else "")
    known = [str(step.said) for step in scene.steps if step.kind == KNOWN]
    if known:
        yield f"   Known: {'; '.join(known)}"
    yield from (f"   Question: {step.said}" for step in scene.steps if step.kind == QUESTION)
    yield from (f"   {step.said}" for step in scene.reveals)
    yield from (f"   {growth.text()}" for growth in scene.growths)
    if scene.sources:
        yield f"   Sources: {'; '.join(scene.sources)}"


# As HTML.

def scene_html(scene: Scene, revealed: int | None = None, *, level: int = 3, slide: bool = False, sources: bool = False) -> str:
    """One scene. revealed: how many of its steps are shown after the opening (None: all); slide: every such step is a fragment, the bar's new parts with the last."""
    last = len(scene.reveals)
    shown = last if revealed is None else revealed
    pieces = [f"<h{level}>{escape(scene.title)}</h{level}>"]
    if scene.meaning:
        pieces.append(f"<p>{escape(scene.meaning, quote=False)}</p>")
    known = [step.said.html for step in scene.steps if step.kind == KNOWN]
    if known:
        pieces.append(f'<p><span style="display:none">Known: </span>{"".join(f"<span style=display:inline-block>{one}</span>; " for one in known).removesuffix("; ")}</p>')
    pieces += [f'<p style="{ACCENT}"><b>{step.said.html}</b></p>' for step in scene.steps if step.kind == QUESTION]
    pieces += [_line(step, index if slide else None) for index, step in enumerate(scene.reveals[:shown])]
    pieces += [growth.html(shown == last, _fragment(last - 1) if slide and last else "") for growth in scene.growths if growth.tells or not slide]      # a slide has no room to repeat it
    if sources and scene.sources:
        listed = [escape(source, quote=False) for source in scene.sources]
        pieces.append(f'<details class="{SOURCES}"><summary>Sources</summary><p>{"</p><p>".join(listed)}</p></details>' if slide else f"<p>Sources: {'; '.join(listed)}</p>")
    return f'<div class="{SCENE} {IGNORE}">{"".join(pieces)}</div>'


def _line(step: Step, fragment: int | None) -> str:
    """A step on a line of its own; the value stands out."""
    said = f'<b style="font-size:1.3em">{step.said.html}</b>' if step.kind == VALUE else step.said.html
    return f'<p{_fragment(fragment) if fragment is not None else ""} style="margin:.35em 0 .35em .75em">{said}</p>'


def _fragment(index: int) -> str:
    return f' class="fragment" data-fragment-index="{index}"'


def html(title: str, scenes: Sequence[Scene]) -> str:
    """The whole walk, for the output of a cell. A slide shows it step by step."""
    return f'<div class="mlsysim-scenes"><p><b>{escape(title)}</b></p>{"".join(scene_html(scene, slide=True, sources=True) for scene in scenes)}</div>'


def page(title: str, scenes: Sequence[Scene]) -> str:
    """The whole walk as a page to read or to print."""
    return PAGE.format(title=escape(title), scene=SCENE, scenes="\n".join(scene_html(scene, level=2, sources=True) for scene in scenes))


def notes(scene: Scene) -> str:
    """What a speaker wants to have at hand: the steps to come, the answer and where it is from."""
    lines = [f"{SAYS[step.kind].capitalize()}: {step.said}" for step in scene.reveals] + [f"Source: {source}" for source in scene.sources]
    return "\n".join(f"- {line}" for line in lines)


__all__ = ["SAYS", "SCENE", "SOURCES", "html", "notes", "page", "scene_html", "text"]
