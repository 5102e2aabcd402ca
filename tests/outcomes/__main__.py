"""Prints every run's verdict, margin and reason beside what happened, the recalls, measured peaks and largest batches."""
from __future__ import annotations

from mlsysim.engine.tables import Grid

from .judgement import Score, largest_batch, median_error, outcome, peak
from .runs import facts

GIB = 2**30


def main() -> None:
    """Print the tables."""
    outcomes = [outcome(id) for id in facts()["outcomes"]]
    score = Score(tuple(outcomes))
    lines = tuple((o.id, o.said, o.happened, "" if o.right else "—" if o.said == "too close to call" else "wrong", f"{o.peak / GIB:.1f}", f"{o.usable / GIB:.1f}", f"{o.margin:+.0%}", o.reason)
                  for o in outcomes)
    print(Grid("Runs that fitted or ran out of memory", ("run", "said", "happened", "", "peak GiB", "of GiB", "margin", "reason"), lines, frozenset({0, 1, 2, 3, 7})).text())
    print()
    for happened in ("does not fit", "fits"):
        count = sum(o.happened == happened for o in outcomes)
        print(f"recall of \"{happened}\": {score.recall(happened):.0%} of {count}; of those that were called {score.recall(happened, called=True):.0%}; "
              f"always saying \"does not fit\": {'100%' if happened == 'does not fit' else '0%'}")
    print(f"too close to call: {score.too_close:.0%}")
    print("\nnot stated, left out:")
    for id, why in facts()["not_stated"].items():
        print(f"  {id}: {why}")
    peaks = [peak(id) for id in facts()["peaks"]]
    lines = tuple((p.id, p.of, f"{p.predicted / GIB:.2f}", f"{p.measured / GIB:.2f}", f"{p.error:+.1%}") for p in peaks)
    print("\n" + Grid("Measured peaks", ("peak", "of memory", "predicted GiB", "measured GiB", "error"), lines, frozenset({0, 1})).text())
    print(f"\nmedian absolute error: {median_error(peaks):.1%}")
    lines = tuple((id, *map(str, largest_batch(id))) for id in facts()["largest_batches"])
    print("\n" + Grid("Largest batches", ("run", "predicted", "published"), lines).text())


if __name__ == "__main__":
    main()
