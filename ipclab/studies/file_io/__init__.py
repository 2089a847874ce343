"""The file-reading study: how a program reads many files and works on them (methods: seed 004)."""

from pathlib import Path

ARMS = Path(__file__).with_name("arms.toml")
