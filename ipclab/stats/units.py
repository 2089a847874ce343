"""Units of time, size and speed: each as a multiple of ns, B and B/s, from the least on."""

NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
DECIMAL = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
BINARY = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
BYTES = DECIMAL | BINARY
SPEEDS = {f"{unit}/s": size for unit, size in DECIMAL.items()}
