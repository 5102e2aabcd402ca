"""What a panel asks of the page it is shown on: names for its sliders, which ipywidgets leaves nameless, that keys go to its controls, and that an opened row stays open."""
from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets      # type: ignore[import-untyped]

PANEL = "mlsysim-panel"
WAITS = (0, 100, 500, 2000)      # milliseconds after which sliders that came late are looked for

# Each slider has its label and the words of its value in the page, unseen; its handle gets both.
_NAMES = """
const panel = this.closest('.%s');
const name = () => panel.querySelectorAll('.widget-slider').forEach(slider => {
    const handle = slider.querySelector('[role=slider]'), label = slider.querySelector('label'), value = slider.querySelector('.widget-readout');
    if (!handle || !label || handle.ariaLabel) return;
    const say = () => { if (handle.ariaValueText !== value.textContent) handle.ariaValueText = value.textContent; };
    handle.ariaLabel = label.textContent;
    say();
    new MutationObserver(say).observe(handle, {attributeFilter: ['aria-valuetext']});
});
%s.forEach(wait => setTimeout(name, wait));
"""

# JupyterLab takes keys on whatever has the focus and is no text box for its shortcuts: arrows choose another cell, m makes text
# of the code, d d deletes it. Lumino, which JupyterLab is built with, leaves alone the keys of an element with this attribute.
_KEYS = """
panel.addEventListener('focusin', event => event.target.matches('input:not([type=checkbox])') || event.target.setAttribute('data-lm-suppress-shortcuts', 'true'));
"""

# A repainted row is a new element; it is known by the first words of its summary.
_OPEN_ROWS = """
const open = new Set();
const words = row => document.createTreeWalker(row, NodeFilter.SHOW_TEXT).nextNode()?.data.trim();
panel.addEventListener('toggle', event => event.target.open ? open.add(words(event.target)) : open.delete(words(event.target)), true);
new MutationObserver(changes => open.size && changes.forEach(change => change.addedNodes.forEach(node =>
    node.querySelectorAll?.('details:not([open])').forEach(row => { row.open = open.has(words(row)); })
))).observe(panel, {childList: true, subtree: true});
"""


def manners() -> Any:
    """An unseen widget that sees to all this for the panel it stands in, where a front end lets a page do that."""
    script = " ".join((_NAMES % (PANEL, list(WAITS)) + _KEYS + _OPEN_ROWS).split())
    return ipywidgets.HTML(f'<details open ontoggle="{escape(script)}"></details>', layout=ipywidgets.Layout(display="none"))


__all__ = ["PANEL", "manners"]
