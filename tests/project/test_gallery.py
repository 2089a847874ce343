"""The gallery is what it says it was made of, small, and whole; `check` says when it is not."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ipclab.paths import checkout
from ipclab.render import gallery
from ipclab.render.staleness import MANIFEST, inputs
from ipclab.store.files import dump_json, sha256

FOLDER = gallery.folder_of(checkout())
MOST_BYTES = 6_500_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gallery that was made just now."""
    monkeypatch.setattr(gallery, "folder_of", lambda _: tmp_path)
    (tmp_path / "a.png").write_bytes(b"a")
    told = {"inputs": gallery.sources(checkout()), "made": {"a.png": sha256(tmp_path / "a.png")}}
    (tmp_path / MANIFEST).write_bytes(dump_json(told))
    return tmp_path


def test_a_gallery_of_today_is_current(folder: Path) -> None:
    assert gallery.stale(checkout()) == []


@pytest.mark.parametrize("kind", ["data", "code", "words", "lock", "claims"])
def test_each_kind_of_source_that_changed_is_named(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = inputs(checkout(), [])
    assert changed[kind]
    changed[kind].popitem()
    monkeypatch.setattr(gallery, "inputs", lambda *_: changed)
    assert gallery.stale(checkout()) == [f"gallery: {kind} changed since it was made: make gallery"]


def test_what_is_not_as_it_was_made_is_named(folder: Path) -> None:
    (folder / "a.png").write_bytes(b"b")
    assert gallery.stale(checkout()) == ["gallery: a.png is not what was made: make gallery"]
    (folder / MANIFEST).write_text("{")
    assert "cannot be read" in gallery.stale(checkout())[0]
    (folder / MANIFEST).unlink()
    assert gallery.stale(checkout()) == ["gallery: it was not made: make gallery"]


@pytest.mark.slow
def test_pictures_are_small_and_still_show_what_they_did() -> None:
    drawn = np.random.default_rng(0).integers(0, 255, (400, 1800, 3), np.uint8) // 64 * 64
    raw = io.BytesIO()
    Image.fromarray(drawn).save(raw, "PNG")
    with Image.open(io.BytesIO(gallery.small(raw.getvalue()))) as picture:
        assert picture.size == (gallery.PIXELS, 200)
        assert picture.mode == "P"
    assert len(gallery.small(raw.getvalue())) < len(raw.getvalue()) / 2


def test_the_committed_gallery_is_whole() -> None:
    page = (FOLDER / gallery.PAGE).read_text("utf-8")
    shown = set(re.findall(r"\]\(([\w.-]+)\)", page))
    files = {file.name for file in FOLDER.iterdir()}
    manifest = FOLDER / MANIFEST
    if manifest.is_file():  # else only its pictures are committed
        about = json.loads(manifest.read_text("utf-8"))
        assert about["made"].keys() | {MANIFEST} == files
        assert all(sha256(FOLDER / name) == digest for name, digest in about["made"].items())
        assert shown <= files
    assert {name for name in shown if name.endswith(".png")} <= files
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < MOST_BYTES
