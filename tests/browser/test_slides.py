"""Every lecture as its audience sees it: Chromium steps through the slides with the network cut, and each is read and measured."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser

import mlsysim.notebook
from mlsysim.notebook import Walkthrough
from mlsysim.notebook.slides.cells import slide_cells
from mlsysim.notebook.slides.deck import make_deck
from tests.browser.deck import open_deck
from tests.browser.jupyter import REPOSITORY

LECTURES = sorted((REPOSITORY / "notebooks" / "lectures").glob("*.ipynb"))


def walkthroughs(lecture: Path, monkeypatch: pytest.MonkeyPatch) -> list[Walkthrough]:
    """The walkthroughs that the lecture's cells make now, in order."""
    made: list[Walkthrough] = []
    real = mlsysim.notebook.walkthrough

    def recorded(*arguments: Any, **named: Any) -> Walkthrough:
        made.append(real(*arguments, **named))
        return made[-1]

    monkeypatch.setattr(mlsysim.notebook, "walkthrough", recorded)
    names: dict[str, Any] = {}
    for cell in nbformat.read(lecture, as_version=4).cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    return made


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda file: file.stem)
def test_the_slides_of_a_lecture(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lecture: Path) -> None:
    scenes = [scene for walk in walkthroughs(lecture, monkeypatch) for scene in walk.scenes]
    faults: list[str] = []
    with open_deck(browser, make_deck(lecture, tmp_path / "slides")) as deck:
        before = ""
        for slide, _, step in deck.steps():
            text, due = deck.text(), scenes[0] if scenes else None
            is_due = due is not None and text.startswith(due.title) and all(plain(one.said) in text for one in due.opening if "_" not in one.said)
            if is_due and due.reveals and not deck.at_the_end_of_a_slide():
                assert plain(due.answer) not in text.splitlines(), f"slide {slide + 1}: the answer of {due.title} is there before its step"
            if deck.at_the_end_of_a_slide():
                if is_due and (not due.reveals or plain(due.answer) in text.splitlines()):
                    scenes.pop(0)
                faults += [f"slide {slide + 1}, overflows: {found}" for found in deck.overflowing()]
                faults += [f"slide {slide + 1}, too small: {found}" for found in deck.small_texts()]
                for theme in ("light", "dark"):
                    deck.page.emulate_media(color_scheme=theme)
                    faults += [f"slide {slide + 1}, too faint, {theme}: {found}" for found in deck.faint_texts()]
                deck.page.emulate_media(color_scheme="light")
            assert text != before, f"slide {slide + 1}, step {step + 1}: nothing is new"
            before = text
        assert deck.asked == []
    assert faults == []
    assert not scenes, f"no slide ends with the package's number: {scenes[0].title} {scenes[0].answer}"


@pytest.mark.parametrize("lecture", [file for file in LECTURES if file.stem != "template"], ids=lambda file: file.stem)
def test_a_speaker_has_a_word_on_every_slide(lecture: Path) -> None:
    silent: list[str] = []
    for cell in slide_cells(nbformat.read(lecture, as_version=4).cells):
        kind = cell.metadata.slideshow.slide_type
        if kind == "slide":
            silent.append(cell.source)
        elif kind == "notes" and silent:
            silent.pop()
    assert silent == []


def test_notes_are_kept_from_the_audience_and_open_for_the_speaker(browser: Browser, tmp_path: Path) -> None:
    lecture = next(file for file in LECTURES if file.stem == "memory_of_a_training_step")
    with open_deck(browser, make_deck(lecture, tmp_path / "slides")) as deck:
        notes = deck.page.locator("section.present aside.notes").last
        assert notes.inner_text() == "" or not notes.is_visible()
        with deck.page.expect_popup() as opened:
            deck.page.keyboard.press("s")
        speaker = opened.value
        speaker.locator(".speaker-controls-notes .value").get_by_text("Questions come before their answers").wait_for(timeout=15_000)
        assert deck.asked == []


def test_a_deck_is_printed_a_page_for_each_slide(browser: Browser, tmp_path: Path) -> None:
    page = make_deck(next(file for file in LECTURES if file.stem == "template"), tmp_path / "slides")
    with open_deck(browser, page) as deck:
        slides = deck.page.locator(".slides > section > section").count()
        deck.page.goto(f"{page.as_uri()}?print-pdf")
        deck.page.locator(".pdf-page").last.wait_for()
        printed = deck.page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == slides
        answer = deck.page.locator(".pdf-page").last.locator("b").get_by_text("No: ")
        assert answer.is_visible() and answer.bounding_box()["x"] >= 56      # nothing is folded, and margins are kept
