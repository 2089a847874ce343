"""What several benchmarks are made of, or what one of them runs."""
