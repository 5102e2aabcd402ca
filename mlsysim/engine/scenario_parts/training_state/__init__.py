"""How a training run is laid out over accelerators, and what one of them keeps for the parameters it trains."""
