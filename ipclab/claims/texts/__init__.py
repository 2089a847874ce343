"""What the published texts claim: one function for each claim, in a module for each text."""
