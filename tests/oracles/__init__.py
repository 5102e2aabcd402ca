"""Published numbers, row by row, against what the kit computes: `python -m tests.oracles [FILE]` prints passes by topic."""
