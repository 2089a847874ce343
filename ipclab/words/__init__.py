"""What things are called in one language, and how its numbers are written."""
