"""A walk under a lecturer's hands: next, back, jump and play, by button or by key, in letters for the last row."""
from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets      # type: ignore[import-untyped]
import traitlets

from ...engine.comparison import Comparison
from ...engine.inputs import InputError
from ...engine.notation import words
from ...engine.scenario import Scenario
from . import telling
from .cells import cells
from .changes import change_scenes
from .steps import Scene, scenes

CLASS = "mlsysim-walkthrough"
LETTERS = "28px"
HEIGHT = "56px"
SECONDS = 6.0

# Controls as large as the text; the letters of ipywidgets' menus have no trait of their own.
_STYLE = (f".{CLASS} .widget-html-content,.{CLASS} button,.{CLASS} select,.{CLASS} label{{font-size:{LETTERS}!important;line-height:1.35!important}}"
          f".{CLASS} button,.{CLASS} select,.{CLASS} .widget-dropdown,.{CLASS} .widget-dropdown label{{height:{HEIGHT}!important}}"
          f".{CLASS} .widget-dropdown label{{line-height:{HEIGHT}!important}}"
          f".{CLASS} .widget-html-content p{{margin:.3em 0}} .{CLASS} .widget-html-content h3{{font-size:1.25em;margin:.2em 0}}"
          f".{CLASS} button:focus-visible,.{CLASS} select:focus-visible,.{CLASS}:focus-visible{{outline:4px solid #0072B2!important;outline-offset:2px}}")

# Keys of keyboards and of presenters' remote controls press the buttons, wherever in the walk the focus is. Lab's own shortcuts
# stay away from what has the focus, which they look at first. What is repainted is read aloud.
_KEYS = """
const walk = this.closest('.%s');
const [back, forward] = walk.querySelectorAll('button');
const press = {ArrowRight: forward, PageDown: forward, ArrowLeft: back, PageUp: back};
walk.tabIndex = 0;
walk.role = 'group';
walk.ariaLabel = 'Walkthrough: arrow keys go on and back';
walk.addEventListener('focusin', event => { event.target.dataset.lmSuppressShortcuts = 'true'; });
walk.querySelector('.%s-scene').ariaLive = 'polite';
walk.addEventListener('keydown', event => {
    if (event.target.tagName === 'SELECT' || event.ctrlKey || event.altKey || event.metaKey || !press[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    press[event.key].click();
});
"""


class Walkthrough(ipywidgets.VBox):      # type: ignore[misc]
    """A derivation told one step at a time. `walkthrough` makes one.

    position: how many steps are told, from 0, the opening of the first scene; setting it jumps there. scenes: what is told, a
    Scene for each quantity. seconds: how long a step stays while it plays.
    """

    position = traitlets.Int(0)

    def __init__(self, title: str, told: Sequence[Scene], seconds: float):
        self.title, self.scenes, self.seconds = title, tuple(told), seconds
        self._starts = [sum(1 + len(scene.reveals) for scene in self.scenes[:index]) for index in range(len(self.scenes))]
        self._playing: asyncio.TimerHandle | None = None
        self._scene = ipywidgets.HTML(layout=ipywidgets.Layout(width="100%"))
        self._scene.add_class(f"{CLASS}-scene")
        self._back, self._next = self._button("← Back", "One step back"), self._button("Next →", "One step on")
        self._play = ipywidgets.ToggleButton(description="Play", tooltip="Go on by itself, or stop", layout=ipywidgets.Layout(width="auto", height=HEIGHT))
        self._jump = ipywidgets.Dropdown(options=[(f"{number}. {scene.title}", start) for number, (scene, start) in enumerate(zip(self.scenes, self._starts), 1)], description="Jump to",
                                         layout=ipywidgets.Layout(width="auto", height=HEIGHT), style={"description_width": "initial"})
        self._place = ipywidgets.HTML()
        self._back.on_click(lambda button: self.back())
        self._next.on_click(lambda button: self.next())
        self._play.observe(lambda change: self.play() if change.new else self.pause(), "value")
        self._jump.observe(self._jumped, "value")
        row = ipywidgets.HBox([self._back, self._next, self._play, self._jump, self._place], layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center", overflow="visible"))
        script = " ".join((_KEYS % (CLASS, CLASS)).split())
        manners = ipywidgets.HTML(f'<style>{_STYLE}</style><details open ontoggle="{escape(script)}"></details>', layout=ipywidgets.Layout(display="none"))
        super().__init__([row, self._scene, manners], layout=ipywidgets.Layout(overflow="visible", padding="4px"))
        self.add_class(CLASS)
        self._show()

    def _button(self, description: str, tooltip: str) -> Any:
        return ipywidgets.Button(description=description, tooltip=tooltip, layout=ipywidgets.Layout(width="auto", height=HEIGHT), style={"font_size": LETTERS})

    # What a lecturer does.

    @property
    def length(self) -> int:
        """How many positions there are."""
        return sum(1 + len(scene.reveals) for scene in self.scenes)

    def next(self) -> None:
        """One step on; at the end nothing."""
        self.position = min(self.position + 1, self.length - 1)

    def back(self) -> None:
        """One step back; at the start nothing."""
        self.position = max(self.position - 1, 0)

    def jump(self, to: str | int) -> None:
        """To the scene of a quantity, by its name or title, or to a position. Raises InputError for one that is not told."""
        if isinstance(to, int):
            self.position = to
            return
        for scene, start in zip(self.scenes, self._starts):
            if to in (scene.name, scene.title):
                self.position = start
                return
        raise InputError(f"walkthrough: {to!r} is not told; it tells {', '.join(scene.name or repr(scene.title) for scene in self.scenes)}")

    def play(self) -> None:
        """Go on by itself, from the start again where it is at the end, and stop there."""
        self._stop()
        if self.position == self.length - 1:
            self.position = 0
        self._wait()
        self._play.value, self._play.description = True, "Pause"

    def pause(self) -> None:
        """Stay at the step it is at."""
        self._stop()
        self._play.value, self._play.description = False, "Play"

    # What follows.

    def _wait(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:      # no kernel, so nothing is played by itself
            return
        self._playing = loop.call_later(self.seconds, self._tick)

    def _stop(self) -> None:
        if self._playing is not None:
            self._playing.cancel()
            self._playing = None

    def _tick(self) -> None:
        self.next()
        if self.position == self.length - 1:
            self.pause()
        else:
            self._wait()

    def _jumped(self, change: Any) -> None:
        if change.new != self._starts[self._at()[0]]:
            self.position = change.new

    @traitlets.validate("position")
    def _within(self, proposal: Any) -> int:
        if not 0 <= proposal.value < self.length:
            raise InputError(f"walkthrough: there are positions 0 to {self.length - 1}, not {proposal.value}")
        return int(proposal.value)

    @traitlets.observe("position")
    def _moved(self, change: Any) -> None:
        self._show()

    def _at(self) -> tuple[int, int]:
        """The scene, and how many of its steps are shown after the opening."""
        index = max(index for index, start in enumerate(self._starts) if start <= self.position)
        return index, self.position - self._starts[index]

    def _show(self) -> None:
        index, revealed = self._at()
        self._scene.value = telling.scene_html(self.scenes[index], revealed)
        self._jump.value = self._starts[index]
        self._place.value = f"step {self.position + 1} of {self.length}"

    @property
    def shown(self) -> str:
        """What is on screen, as HTML."""
        return str(self._scene.value)

    # The same walk, standing still.

    def text(self) -> str:
        """The whole walk as text, for a handout or a screen reader."""
        return telling.text(self.title, self.scenes)

    def html(self) -> str:
        """The whole walk as HTML, as a saved notebook keeps it; `python -m mlsysim.notebook.slides` makes a slide of each scene."""
        return telling.html(self.title, self.scenes)

    def page(self) -> str:
        """The whole walk as one page of HTML, to read or to print."""
        return telling.page(self.title, self.scenes)

    def cells(self) -> list[Any]:
        """The whole walk as notebook cells with slide tags: a slide for each scene, its steps as fragments, and speaker notes."""
        return cells(self.scenes)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **keywords: Any) -> dict[str, Any]:
        return {**super()._repr_mimebundle_(**keywords), "text/plain": self.text(), "text/html": self.html()}


def walkthrough(told: Scenario | Comparison, name: str = "", *, known: Sequence[str] = (), questions: Mapping[str, str] = {}, seconds: float = SECONDS) -> Walkthrough:
    """The derivation of a quantity, one step at a time: what is known, the question, symbols, numbers, value, and the bar that grows.

    told: a scenario, or `compare(a, b)` of two, which tells what changes between them and what stays. name: the quantity the walk
    leads to; the whole of the scenario's bar where it is left out. known: quantities that are stated and not derived, to
    shorten the walk. questions: words of your own for a quantity, `{"optimizer_state": "How many bytes does Adam add?"}`.
    seconds: how long each step stays while it plays. Raises InputError for an unknown name, MissingInputError where a quantity waits.
    """
    if not isinstance(told, Scenario | Comparison):
        raise InputError(f"walkthrough: tells a scenario or compare(a, b), not {type(told).__name__} {told!r}; write walkthrough(scenario, \"total\")")
    _check(name, known, questions, seconds)
    first = told.scenarios[0] if isinstance(told, Comparison) else told
    name = name or type(first).presentation.whole
    if not name:
        raise InputError(f"walkthrough: say which quantity of {type(first).__name__} it leads to, such as walkthrough(scenario, {next(iter(type(first).quantities))!r})")
    if isinstance(told, Comparison):
        return Walkthrough(f"From {told.labels[0]} to {told.labels[-1]}: {words(name)}", change_scenes(told, name, known, questions), seconds)
    return Walkthrough(f"{told.title}: {words(name)}", scenes(told, name, known, questions), seconds)


def _check(name: Any, known: Any, questions: Any, seconds: Any) -> None:
    """Whether the arguments are of their kinds, before any of them is looked up. Raises InputError."""
    if not isinstance(name, str):
        raise InputError(f"walkthrough: name is the name of a quantity, not {name!r}; write walkthrough(scenario, \"total\")")
    if isinstance(known, str) or not isinstance(known, Collection) or not all(isinstance(one, str) for one in known):
        raise InputError(f"walkthrough: known is a list of names, not {known!r}; write known=[\"gradients\"]")
    if not isinstance(questions, Mapping) or not all(isinstance(words, str) for pair in questions.items() for words in pair):
        raise InputError(f"walkthrough: questions are words for quantities by their names, not {questions!r}; write questions={{\"optimizer_state\": \"How many bytes does Adam add?\"}}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise InputError(f"walkthrough: seconds is how long a step stays while it plays, not {seconds!r}; write seconds=6")


__all__ = ["Walkthrough", "walkthrough"]
