"""The rows of an activation ledger, their sums, and what recomputation leaves of them."""
