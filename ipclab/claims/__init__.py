"""Published statements as data: figures, a rule over facts, and its verdict; no I/O but reading the tables."""
