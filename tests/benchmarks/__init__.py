"""Measurements of speed and size: `python -m tests.benchmarks` prints them against what they should reach."""
