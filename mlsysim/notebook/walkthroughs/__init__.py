"""Derivations told one step at a time: what the steps are, and how a widget, a page, slides and a handout tell them."""
