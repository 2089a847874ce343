"""The way of the data is one way: imports between folders, and none in a circle (contracts in
pyproject.toml).
"""

from pkgutil import iter_modules

from importlinter.cli import lint_imports

import ipclab


def test_each_folder_imports_only_those_below_it(capsys) -> None:
    assert lint_imports() == 0, capsys.readouterr().out


def test_what_a_notebook_calls_has_no_room_of_its_name() -> None:
    """A room that is loaded would hide the function: `ipclab.claims` is then the module."""
    from ipclab import notebook

    rooms = {module.name for module in iter_modules(ipclab.__path__)}
    assert not rooms & set(notebook.__all__)
