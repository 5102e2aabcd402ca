"""Slides from a notebook as it was saved: a folder that any browser opens without a network."""
