"""The environment's files say the same, and nothing of this machine or of a registry is in them."""

import re
import subprocess
import tomllib

from tests.support.commands import ROOT

CONDA_NAMES = {
    **{"matplotlib-base": "matplotlib", "python-lmdb": "lmdb", "posix_ipc": "posix-ipc"},
    "jupyter_client": "jupyter-client",
}
CONDA_ONLY = {"python", "pip"}


def requirements() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return dict(split(line) for group in groups for line in group)


def split(line: str) -> tuple[str, str]:
    name, bounds = re.fullmatch(r"([A-Za-z0-9_.-]+?)((?:[<>=!~]=?|==).*)?", line.strip()).groups()  # type: ignore[union-attr]
    return name, bounds or ""


def test_conda_and_pyproject_name_the_same_packages_and_bounds() -> None:
    lines = re.findall(r"^\s*- ([^:\n]+)$", (ROOT / "environment.yml").read_text(), re.M)
    found = dict(split(line) for line in lines if line != "conda-forge")
    python = found.pop("python")
    assert (
        python == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    )
    found = {
        CONDA_NAMES.get(name, name): bounds
        for name, bounds in found.items()
        if name not in CONDA_ONLY
    }
    assert found == requirements()


def test_the_lock_pins_every_package_with_hashes_and_no_address() -> None:
    text = (ROOT / "requirements.lock").read_text()
    pinned = set(re.findall(r"^([a-z0-9-]+)==", text, re.M))
    assert {name.lower() for name in requirements()} <= pinned
    assert text.count("--hash=sha256:") >= len(pinned)
    assert "://" not in text


def test_no_address_of_a_registry_is_committed() -> None:
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    hosts = [
        ".".join(parts) for parts in (("pypi", "org"), ("crates", "io"), ("pythonhosted", "org"))
    ]
    for name in names:
        path = ROOT / name
        if path.suffix in (".parquet", ".png") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not [host for host in hosts if host in text], name
