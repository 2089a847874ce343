"""The shared-dictionary study: one writer, many readers, over stores (methods: seed 001)."""
