"""A notebook that is executed again opens what the same code measured for the same request."""

from types import SimpleNamespace
from typing import Any

import pytest

from ipclab.paths import checkout
from ipclab.session import asked_run
from ipclab.session.request import Request
from ipclab.store import run as folder

FACTS = dict.fromkeys(asked_run.MEASURED_BY, "as it was")
REQUEST = Request(("round_trip",), "smoke")


def run(**other: Any) -> Any:
    """Return a complete run of the request, but for what is `other` in it."""
    about = {
        "parameters": REQUEST.parameters() | other.get("parameters", {}),
        "machine": {"digest": other.get("digest", "this"), "facts": FACTS | other.get("facts", {})},
    }
    return SimpleNamespace(complete=other.get("complete", True), about=about)


def found(monkeypatch: pytest.MonkeyPatch, *runs: Any) -> Any:
    every = list(runs)
    monkeypatch.setattr(folder, "newest", lambda _, wanted: next(filter(wanted, every), None))
    machine: Any = SimpleNamespace(digest="this", facts=FACTS)
    return asked_run.measured_before(checkout(), REQUEST, machine)


@pytest.mark.parametrize(
    "other",
    [
        {"complete": False},
        {"digest": "another"},
        {"parameters": {"sizes": [1]}},
        {"facts": {asked_run.MEASURED_BY[-1]: "changed"}},
    ],
)
def test_what_differs_is_measured(monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]) -> None:
    assert found(monkeypatch, run(**other)) is None


def test_the_newest_that_is_the_same_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = run(), run()
    assert found(monkeypatch, run(digest="another"), first, second) is first
