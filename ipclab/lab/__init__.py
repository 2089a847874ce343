"""The pictures, one module a study; every figure answers one question."""
