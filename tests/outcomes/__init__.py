"""Runs that fitted or ran out of memory, and measured peaks, against what the kit predicts; `python -m tests.outcomes` prints them."""
