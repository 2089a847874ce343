"""What a quantity is made of, as plain data: for values that go from one notebook to another."""

from typing import TypeAlias

from ipclab.stats.product import Ends, Part, Product, Run

# A part with its power: name, whether it is of a run, value and interval, launches, time, logs, power
Factor: TypeAlias = tuple[str, bool, Ends, dict[int, float], int, bool, int]
Data: TypeAlias = tuple[float, list[Factor]]


def as_data(product: Product) -> Data:
    """Return a product as plain lists and numbers; of a part's run only whether there is one.

    Parts are in the order of their names, so that the same product is the same text.
    """
    factors: list[Factor] = []
    for part, power in sorted(product.factors, key=lambda each: (each[0].name, each[1])):
        of_run = part.run is not None
        launches = {**part.launches}
        factors.append((part.name, of_run, part.ends, launches, part.time, part.logs, power))
    return product.number, factors


def of_data(data: Data, run: Run | None) -> Product:
    """Return the product that `as_data` told of, whose parts are of `run`."""
    number, factors = data
    parts = set()
    for name, of_run, ends, launches, time, logs, power in factors:
        parts.add((Part(name, run if of_run else None, ends, launches, time, logs), power))
    return Product(number, frozenset(parts))
