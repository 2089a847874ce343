"""What the published texts claim, and what they derive: a module for each text."""
