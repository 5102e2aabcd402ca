"""Formulas that several families of scenarios share: what training keeps for parameters, and what a forward pass keeps."""
