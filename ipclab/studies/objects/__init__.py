"""What it costs to hand an object to another process: an array, a frame, a dictionary."""
