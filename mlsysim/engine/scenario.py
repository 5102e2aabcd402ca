"""Scenarios: a workload on hardware, whose every number has an equation, and how it presents itself."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .declarations import Derived, check_message
from .derivation import Derivation
from .expression import FormulaError
from .inputs import DefinitionError


@dataclass(frozen=True)
class Presentation:
    """How a breakdown tells a scenario: all by names of its quantities and inputs.

    question, answer: what it asks in a sentence, and the quantity (yes or no) that answers it; parts, whole, capacity: the
    quantities a bar stacks, their sum, and the path of what they are held against; groups: headings, each with the
    quantities beneath it (a quantity in none stands under the last heading); folded: the headings whose rows a notebook shows folded at first; folded_without: headings folded unless a quantity or
    input is there, each with its name; title: a sentence with `{workload}` and the
    like in braces, where a piece in square brackets is left out if something in it is absent: `Training {workload}[ on {hardware}]`.
    """
    question: str = ""
    answer: str = ""
    parts: tuple[str, ...] = ()
    whole: str = ""
    capacity: str = ""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folded: tuple[str, ...] = ()
    folded_without: Mapping[str, str] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True)
class About:
    """What a reference card says beside inputs and quantities: assumptions, exclusions, references, a worked example as Python."""
    assumptions: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    example: str = ""


class Scenario(Derivation):
    """Base of every scenario. A subclass declares inputs with `given` and quantities with `derived`; this class checks, evaluates, explains and draws.

    Its docstring says what it computes, `presentation` how it shows itself, `about` what it assumes and leaves out. Raises
    DefinitionError when a class is made that cannot work, InputError when an object is made from values it does not accept,
    MissingInputError when a quantity is read whose input is absent.
    """

    presentation: ClassVar[Presentation] = Presentation()
    about: ClassVar[About] = About()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        shown = cls.presentation
        for name, kind in (("presentation", Presentation), ("about", About)):
            if not isinstance(getattr(cls, name), kind):
                raise DefinitionError(f"{cls.__name__}.{name}: write {name} = {kind.__name__}(...), not {getattr(cls, name)!r}")
        named = [("answer", shown.answer), ("whole", shown.whole), ("capacity", shown.capacity), *(("parts", p) for p in shown.parts),
                 *((f"groups[{heading!r}]", n) for heading, names in shown.groups.items() for n in names), *(("folded_without", n) for n in shown.folded_without.values())]
        if unknown := [heading for heading in (*shown.folded, *shown.folded_without) if heading not in shown.groups]:
            raise DefinitionError(f"{cls.__name__}.presentation: no group has the heading {unknown[0]!r}; it has {', '.join(map(repr, shown.groups))}")
        for where, name in named:
            if name:
                try:
                    cls.declaration(tuple(name.split(".")))
                except FormulaError as error:
                    raise DefinitionError(f"{cls.__name__}.presentation.{where}: {error}") from None
        check_message(cls, f"{cls.__name__}.presentation.title", shown.title)

    @property
    def title(self) -> str:
        """What this scenario is, in a few words."""
        from .display import title
        return title(self)

    def compare(self, *others: Scenario) -> Any:
        """This scenario beside others: inputs that differ, and every value with its ratio to this one's."""
        from .comparison import compare
        return compare(self, *others)

    @classmethod
    def reference(cls) -> Any:
        """The reference card of the class: inputs, quantities, methods, equations, assumptions, exclusions, references, a worked example."""
        from .reference import reference
        return reference(cls)

    def __str__(self) -> str:
        from .display import breakdown_text
        return breakdown_text(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from .display import breakdown_html
        return breakdown_html(self)


Scenario._reserved = Derivation._reserved | {name for name in vars(Scenario) if not name.startswith("_")}

__all__ = ["About", "Derived", "Presentation", "Scenario"]
