"""Mechanisms that bring a library of their own."""
