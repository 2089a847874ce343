"""The way of the data is one way: imports between folders, and none in a circle (contracts in
pyproject.toml).
"""

from importlinter.cli import lint_imports


def test_each_folder_imports_only_those_below_it(capsys) -> None:
    assert lint_imports() == 0, capsys.readouterr().out
