"""From samples to tidy frames: points, launches, contests."""
