"""The environment's files say the same, and nothing of this machine or of a registry is in them."""

import json
import re
import tomllib

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ipclab.paths import INSTALL
from tests.support.commands import ROOT, ran

PROJECTS = [ROOT / "pyproject.toml", *sorted(ROOT.glob("packages/*/pyproject.toml"))]
PROJECT = tomllib.loads(PROJECTS[0].read_text())["project"]
OURS = {"ipclab", "ipclab-more"}


def required() -> set[str]:
    """Return the names of what our packages, their setup and their tests need."""
    lines: list[str] = []
    for file in PROJECTS:
        told = tomllib.loads(file.read_text())
        lines += told["project"]["dependencies"]
        for group in ("setup", "dev"):
            lines += told.get("dependency-groups", {}).get(group, [])
    return {Requirement(line).name.lower() for line in lines} - OURS


def test_conda_brings_a_python_that_fits() -> None:
    told = (ROOT / "environment.yml").read_text()
    assert f"- python{PROJECT['requires-python']}\n" in told


def test_an_installation_is_told_extras_that_there_are() -> None:
    (told,) = re.findall(r"'ipclab\[(.*)\]'", INSTALL["setup"])
    assert {*told.split(",")} == {*PROJECT["optional-dependencies"]}


def test_binder_and_the_container_are_set_up_by_what_is_here() -> None:
    assert (ROOT / ".binder/environment.yml").resolve() == ROOT / "environment.yml"
    build = ROOT / ".binder/postBuild"
    (script,) = re.findall(r"^exec (\S+)", build.read_text(), re.M)
    assert build.stat().st_mode & 0o111 and (ROOT / script).stat().st_mode & 0o111
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    make, target = container["postCreateCommand"].split()
    assert make == "make" and re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)
    image, _, version = container["image"].partition(":")
    number, _, system = version.partition("-")
    assert image == "python" and system
    assert number in SpecifierSet(PROJECT["requires-python"])


def test_the_locks_pin_every_package_with_hashes_and_no_address() -> None:
    pinned: set[str] = set()
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_text()
        pinned |= set(re.findall(r"^([a-z0-9-]+)==", text, re.M))
        assert text.count("--hash=sha256:") >= len(pinned)
        assert "://" not in text
    assert required() <= pinned
    setup = (ROOT / "scripts/setup.sh").read_text()
    assert setup.count("pip install") == setup.count("--require-hashes") + 2  # ours, without others


def test_no_address_of_a_registry_is_committed() -> None:
    names = ran(["git", "ls-files"], cwd=ROOT).stdout.split()
    assert names
    hosts = [
        ".".join(parts) for parts in (("pypi", "org"), ("crates", "io"), ("pythonhosted", "org"))
    ]
    for name in names:
        path = ROOT / name
        # cargo names the index that all crates come from in each entry of its lock
        if path.suffix in (".parquet", ".png") or path.name == "Cargo.lock" or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not [host for host in hosts if host in text], name
