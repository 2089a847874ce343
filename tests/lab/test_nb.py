"""nbformat without the grammars of addresses: they are built when an address is checked."""

import sys
from types import SimpleNamespace

import pytest

from ipclab.report.notebooks import nb


def test_an_address_is_checked_by_the_grammars_that_are_imported_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def noted(term: str, value: str) -> bool:
        asked.append((term, value))
        return value != "no address"

    monkeypatch.setitem(sys.modules, nb.GRAMMARS, SimpleNamespace(is_valid_syntax=noted))
    checker = nb.jsonschema.FormatChecker()
    assert checker.conforms("http://例え.jp", "iri")
    assert not checker.conforms("no address", "iri-reference")
    assert asked == [("iri", "http://例え.jp"), ("iri_reference", "no address")]
