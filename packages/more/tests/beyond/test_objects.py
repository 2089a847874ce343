"""Objects that are handed over: every way gives back the whole object or says why not, and faults
are seen.
"""

import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ipclab.spawn.proof import PayloadError
from ipclab_more.studies.objects import contents
from ipclab_more.studies.objects.contents import ARRAY, DICTIONARY, FRAME
from ipclab_more.studies.objects.proof import compare_objects
from ipclab_more.studies.objects.ways import WAYS, Room
from tests.support.commands import ran

CARRIED = [
    (name, kind) for kind in contents.MADE for name, way in WAYS.items() if not way.refuses(kind)
]


def room(folder: Path, size: int) -> Room:
    return Room(memoryview(mmap.mmap(-1, 2 * size + (1 << 20))), folder / "object")


def handed(way: str, kind: str, content: Any, where: Room) -> Any:
    """Return `content` after its way there, by a message that is another object than what was
    given.
    """
    chosen = WAYS[way]
    message = chosen.give(content, where)
    another = bytearray(message) if isinstance(message, bytes | memoryview) else message
    return chosen.take(another, where, kind)


@pytest.mark.parametrize(("way", "kind"), CARRIED)
def test_every_way_gives_the_whole_object(tmp_path: Path, way: str, kind: str) -> None:
    for size in (1_000, 100_000):
        content = contents.made_object(kind, size, 1, 0)
        came = handed(way, kind, content, room(tmp_path, size))
        compare_objects(0, content, came)
        assert contents.element_sum(came) == contents.element_sum(content)
        assert 0.5 * size < contents.own_bytes(content) < 1.6 * size


@pytest.mark.parametrize("kind", contents.MADE)
def test_the_object_before_is_not_the_same(kind: str) -> None:
    before, content = (contents.made_object(kind, 100_000, 1, number) for number in (0, 1))
    with pytest.raises(PayloadError, match="arrived wrong"):
        compare_objects(1, content, before)


def test_an_array_with_other_places_another_dtype_or_zeros_is_told() -> None:
    content = contents.made_object(ARRAY, 100_000, 1, 0)
    half = content.copy()
    half.view(np.uint8)[-4:] = 0
    for came in (np.roll(content, len(content) // 2), content.view(np.int64), half):
        with pytest.raises(PayloadError, match="arrived wrong"):
            compare_objects(0, content, came)


def test_a_frame_with_other_columns_another_dtype_or_half_a_text_is_told() -> None:
    content = contents.made_object(FRAME, 100_000, 1, 0)
    *texts, last = content["text"]
    for change in (
        {"share": content["weight"], "weight": content["share"]},
        {"number": content["number"].astype("uint64")},
        {"text": pd.array([*texts, last[:7] + "0" * 8 + "x"], dtype="str")},
    ):
        with pytest.raises(PayloadError, match="arrived wrong"):
            compare_objects(0, content, content.assign(**change))


def test_a_dictionary_with_an_entry_more_or_less_elsewhere_or_altered_is_told() -> None:
    content = contents.made_object(DICTIONARY, 10_000, 1, 0)
    first, *others = content
    shorter = {key: content[key] for key in others}
    own = content[first]
    text = own["text"]
    for came in (
        {**shorter, first: own},
        shorter,
        {**content, "more": own},
        {**content, first: content[others[0]]},
        {**content, first: own | {"valid": int(own["valid"])}},
        {**content, first: own | {"text": text[: len(text) // 2].ljust(len(text), "\0")}},
    ):
        with pytest.raises(PayloadError, match=r"entry .* differs"):
            compare_objects(0, content, came)
        with pytest.raises(PayloadError, match=r"entry .* differs"):
            compare_objects(0, came, content)


@pytest.mark.parametrize("kind", [ARRAY, FRAME])
@pytest.mark.parametrize("way", ["pickle5-shm", "arrow-mapped", "shared-memory"])
def test_what_is_read_in_place_is_the_room_itself_and_goes_stale_with_it(
    tmp_path: Path, way: str, kind: str
) -> None:
    if WAYS[way].refuses(kind):
        pytest.skip("it carries arrays only")
    content, where = contents.made_object(kind, 100_000, 1, 0), room(tmp_path, 100_000)
    came = handed(way, kind, content, where)
    compare_objects(0, content, came)
    # the next one, while the first is still held
    handed(way, kind, contents.made_object(kind, 100_000, 1, 1), where)
    with pytest.raises(PayloadError):
        compare_objects(0, content, came)


def test_a_file_that_is_replaced_stays_whole_for_who_maps_it(tmp_path: Path) -> None:
    content, where = contents.made_object(ARRAY, 100_000, 1, 0), room(tmp_path, 100_000)
    came = handed("joblib", ARRAY, content, where)
    handed("joblib", ARRAY, contents.made_object(ARRAY, 100_000, 1, 1), where)
    compare_objects(0, content, came)


@pytest.mark.parametrize("kind", [FRAME, DICTIONARY])
def test_a_way_that_cannot_carry_an_object_says_why(kind: str) -> None:
    refused = {name: way.refuses(kind) for name, way in WAYS.items() if way.refuses(kind)}
    assert [*refused] == ["shared-memory"]
    assert "objects of one process" in str(refused["shared-memory"])


@pytest.mark.parametrize("way", ["arrow", "arrow-mapped"])
def test_arrow_refuses_entries_that_are_not_alike(tmp_path: Path, way: str) -> None:
    content = contents.made_object(DICTIONARY, 1_000, 1, 0)
    content["key_0"]["valid"] = 1
    with pytest.raises(Exception, match="Expected integer, got bool"):
        handed(way, DICTIONARY, content, room(tmp_path, 1_000))


def test_contents_are_the_same_in_another_process() -> None:
    line = (
        "from ipclab_more.studies.objects import contents as c;"
        "print(*(c.element_sum(c.made_object(k, 9000, 7, 2)) for k in c.MADE))"
    )
    assert ran([sys.executable, "-c", line]).stdout.split() == [
        str(contents.element_sum(contents.made_object(kind, 9000, 7, 2))) for kind in contents.MADE
    ]
