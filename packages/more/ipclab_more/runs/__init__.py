"""The runs here: which there are, what their nodes are called, and which go."""
