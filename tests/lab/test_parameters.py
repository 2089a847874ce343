from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ipclab
from ipclab.errors import UsageError
from ipclab.lab import parameters, shell
from ipclab.lab.lab import Lab
from tests.report.conftest import write_notebook

SOURCE = """sizes: list[int] = [84, 13_824]  # bytes
gap_s: float = 0.5
run: str | None = None
measure = False  # or render what is there"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return write_notebook(tmp_path / "n.ipynb", parameters=SOURCE)


def test_reads_name_type_and_default(notebook: Path) -> None:
    found = parameters.declared(notebook)
    assert list(found) == ["sizes", "gap_s", "run", "measure"]
    assert found["sizes"] == parameters.Parameter("sizes", "list[int]", [84, 13824])
    assert found["measure"].type == "bool"


@pytest.mark.parametrize("call", [parameters.refuse_unknown, Lab.open, Lab.measured])
def test_the_first_call_of_a_notebook_refuses_what_papermill_alone_gives_it(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = ["", "%reset -f", SOURCE, '# Parameters\nsize = 1\nrun = "r"\n', "open()"]
    monkeypatch.setattr(shell, "namespace", lambda: {"In": cells})
    with pytest.raises(UsageError, match="unknown parameter 'size'; did you mean 'sizes'"):
        call()


@pytest.mark.parametrize(
    "cells",
    [
        ["", SOURCE, "# Parameters\nsizes = [1]\n"],
        ["", SOURCE, "open()", "# Parameters\nsize = 1\n"],  # a person's, in another order
        [],
    ],
)
def test_a_notebook_takes_what_it_knows(cells: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "namespace", lambda: {"In": cells})
    parameters.refuse_unknown()


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"sizes": []}, {"sizes": []}),
        ({"gap_s": 1}, {"gap_s": 1.0}),
        ({"run": None}, {"run": None}),
        ({"measure": "false"}, {"measure": False}),  # as papermill's command line gives it
        ({"sizes": 64}, {"sizes": [64]}),
        ({"sizes": "64,4096"}, {"sizes": [64, 4096]}),
        ({}, {}),
    ],
)
def test_what_is_meant_is_converted(
    notebook: Path, given: dict[str, Any], meant: dict[str, Any]
) -> None:
    found = parameters.checked_values(notebook, given)
    assert found == meant
    assert list(map(type, found.values())) == list(map(type, meant.values()))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"size": [84]}, "unknown parameter of"),
        ({"sizes": ["many"]}, "['many'] is no list[int]"),
        ({"sizes": [64.5]}, "[64.5] is no list[int]"),
        ({"gap_s": "soon"}, "'soon' is no float"),
        ({"measure": "maybe"}, "'maybe' is no bool"),
        ({"run": 3}, "3 is no str | None"),
    ],
)
def test_refuses_unknown_names_and_wrong_types(
    notebook: Path, value: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parameters.checked_values(notebook, value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("study", "levels", "words"),
    [
        (
            "faults",
            {"fault": ["killed"]},
            "fault=killed is not possible; did you mean 'killed-idle'?",
        ),
        ("tasks", {"python": ["3.9"]}, "python=3.9 is not possible; there are 3.11"),
        ("objects", {"object": [3]}, "parameter 'object': [3] is no list[str]"),
        ("shared_dict", {"readers": ["three"]}, "parameter 'readers': ['three'] is no list[int]"),
    ],
)
def test_levels_are_of_the_kind_that_a_study_has(
    study: str, levels: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        ipclab.measure(study, **levels)
    assert str(caught.value).startswith(words)


def test_refuses_a_missing_or_doubled_tag(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", parameters=SOURCE)
    text = path.read_text("utf-8")
    path.write_text(text.replace('"parameters"', '"other"'), "utf-8")
    assert (
        parameters.checked_values(path, {}) == parameters.declared(path) == {}
    )  # it asks for nothing
    with pytest.raises(UsageError, match="has 0 cells tagged 'parameters'"):
        parameters.checked_values(path, {"sizes": [1]})
    path.write_text(text.replace('"lab"', '"parameters"').replace("markdown", "code"), "utf-8")
    with pytest.raises(UsageError, match="has 2 cells tagged"):
        parameters.checked_values(path, {})


@pytest.mark.parametrize("source", ["import os", "a, b = 1, 2", "n: Thing = 1", "n = ("])
def test_a_parameter_is_one_name_of_a_known_type(source: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        parameters.checked_values(write_notebook(tmp_path / "n.ipynb", parameters=source), {"n": 1})


def test_a_cell_of_parameters_may_import_and_calculate(tmp_path: Path) -> None:
    source = "%matplotlib inline\nimport os\nsize = 64 * 1024  # bytes\nroot = os.getcwd()"
    path = write_notebook(tmp_path / "n.ipynb", parameters=source)
    assert parameters.checked_values(path, {"size": 7}) == {"size": 7}
    assert list(parameters.declared(path)) == ["size", "root"]


def test_a_level_that_no_study_has_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no level 'bckends'; did you mean 'backends'"):
        Lab.open(study="payload", bckends=["tcp"])


@pytest.mark.parametrize(
    ("wrong", "right"),
    [({"size": [1]}, "sizes"), ({"size_bytes": [1]}, "sizes"), ({"backend": ["tcp"]}, "backends")],
)
def test_a_sweep_that_is_asked_wrong_says_what_to_write_in_a_notebook(
    wrong: dict[str, Any], right: str
) -> None:
    with pytest.raises(UsageError) as said:
        ipclab.measure("payload", **wrong)
    assert right in str(said.value)
    assert "--" not in str(said.value)
