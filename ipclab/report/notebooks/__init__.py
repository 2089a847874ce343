"""Notebooks executed as reports need them, and what one quotes of another."""
