"""What the hardware allows, what a mechanism cannot beat, and what beat it."""
