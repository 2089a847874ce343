"""What the appendix tells of machine, run, limits, uncertainty and trust."""
