"""Tables of finished text, made from frames."""
