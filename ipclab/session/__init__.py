"""How points become samples: the order of launches, when to stop, conditions, progress."""
