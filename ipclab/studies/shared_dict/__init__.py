"""The shared-dictionary study: one writer, many readers, over stores (methods: text 001)."""
