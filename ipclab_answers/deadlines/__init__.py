"""Deadlines: below what the tails of a share of launches lie, and how many launches show it."""
