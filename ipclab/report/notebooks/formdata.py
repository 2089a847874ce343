"""What a quantity is made of, as plain data: for values that go from one notebook to another."""

from typing import TypeAlias

from ipclab.stats.form import Ends, Form, Part, Run

# A part with its power: name, whether it is of a run, value and interval, launches, time, power
Factor: TypeAlias = tuple[str, bool, Ends, dict[int, float], int, int]
Data: TypeAlias = list[tuple[float, list[Factor]]]


def as_data(form: Form) -> Data:
    """Return a form as plain lists and numbers; of a part's run only whether there is one.

    Parts are in the order of their names, so that the same form is the same text.
    """
    data: Data = []
    for term, coefficient in form.items():
        factors: list[Factor] = []
        for part, power in sorted(term, key=lambda each: (each[0].name, each[1])):
            launches = {**part.launches}
            factors.append((part.name, part.run is not None, part.ends, launches, part.time, power))
        data.append((coefficient, factors))
    return data


def of_data(data: Data, run: Run | None) -> Form:
    """Return the form that `as_data` told of, whose parts are of `run`."""
    form = {}
    for coefficient, factors in data:
        parts = set()
        for name, of_run, ends, launches, time, power in factors:
            parts.add((Part(name, run if of_run else None, ends, launches, time), power))
        form[frozenset(parts)] = coefficient
    return form
