"""From samples to facts and tidy tables; pure but for `derive`, which reads a run and writes its results."""
