"""The shared-dictionary study: one writer, many readers, by mechanism, scenario and codec (methods:
seed 001).
"""
