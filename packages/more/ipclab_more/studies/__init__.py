"""Studies of what the five texts left out."""
