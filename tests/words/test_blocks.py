"""Markdown in blocks that are translated, and values that are filled into text."""

from functools import partial

import pytest

from ipclab.errors import LabError
from ipclab.stats.quantity import Quantity
from ipclab.words import blocks, filling
from ipclab.words.filling import placeholders, variable_named
from ipclab.words.numbers import Formatter

SOURCE = """# 1. Title

Two
lines, {a} and `{b}`.

- one
  more
  1. nested

> quoted

| A | B \\| C |
|---|--:|
| {a} | z |

```
{code} stays
```"""
BLOCKS = [
    "1. Title",
    "Two lines, {a} and `{b}`.",
    "one more",
    "nested",
    "quoted",
    "A",
    "B | C",
    "{a}",
    "z",
]


def test_every_block_is_one_folded_msgid() -> None:
    assert blocks.split(SOURCE) == BLOCKS


def test_translations_go_back_to_where_the_blocks_were() -> None:
    changed = blocks.rewrite(SOURCE, lambda text: f"<{text.upper()}|>")
    assert blocks.split(changed) == [f"<{block.upper()}|>" for block in BLOCKS]
    assert "{code} stays" in changed
    assert "| <A\\|> | <B \\| C\\|> |" in changed


def test_a_line_break_in_chinese_is_no_space() -> None:
    assert blocks.translated("Text", lambda _: "一行，\n两行 of\nCPU") == "一行，两行 of CPU"


def test_what_nothing_is_known_of_keeps_its_line_breaks() -> None:
    assert blocks.translated("One\ntwo", str) == "One\ntwo"


def test_a_value_keeps_the_space_before_its_unit() -> None:
    assert blocks.join_lines(" It takes\n  7.91\u00a0ms\n") == "It takes 7.91\u00a0ms"


def test_values_are_filled_in_and_never_become_markup() -> None:
    told: dict[str, Quantity | str] = {"t": Quantity(1500, "ns"), "cpu": "A*B_[x]", "said": "1 < 2"}
    filled = filling.fill("{t} {{x}} {cpu} `{cpu}` {said}", told.__getitem__, Formatter("en"))
    assert filled == "1.50\u00a0µs {x} A\\*B\\_\\[x\\] `A*B_[x]` 1 \\< 2"


def test_an_address_is_one_placeholder() -> None:
    text = "{payload.write.copy[mapping=kept,size_bytes=84].p99.9:us} {a.b:x}"
    assert placeholders(text) == {
        ("payload.write.copy[mapping=kept,size_bytes=84].p99.9", "us"),
        ("a.b", "x"),
    }


def test_an_unknown_name_is_named_with_its_neighbour() -> None:
    with pytest.raises(LabError, match="'wirte': the prose asks for it; did you mean 'write'"):
        filling.fill(
            "{wirte:ms}", partial(variable_named, namespace={"write": "1"}), Formatter("en")
        )
