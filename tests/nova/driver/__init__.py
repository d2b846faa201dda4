"""Nova's clients, and what must come of them."""
