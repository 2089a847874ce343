"""Measuring: this machine, processes in turns, mechanisms, studies, sessions."""
