from functools import partial

import pytest

from ipclab.errors import LabError
from ipclab.prose import prose
from ipclab.prose.language import placeholders
from ipclab.stats.quantity import Quantity
from ipclab.words import filling
from ipclab.words.filling import variable_named
from ipclab.words.numbers import Formatter
from tests.support.tellers import Plain

SOURCE = """# 1. Title

Two
lines, {a} and `{b}`.[^n]

- one
  more
  1. nested

> quoted

| A | B \\| C |
|---|--:|
| {a} | z |

[^n]: the
  note

```
{code} stays
```"""
BLOCKS = [
    "1. Title",
    "Two lines, {a} and `{b}`.[^n]",
    "one more",
    "nested",
    "quoted",
    "A",
    "B | C",
    "{a}",
    "z",
    "the note",
]


def test_every_block_is_one_folded_msgid() -> None:
    assert prose.split(SOURCE) == BLOCKS


def test_translations_go_back_to_where_the_blocks_were() -> None:
    changed = prose.rewrite(SOURCE, lambda text: f"<{text.upper()}|>")
    assert prose.split(changed) == [f"<{block.upper()}|>" for block in BLOCKS]
    assert "{code} stays" in changed
    assert "| <A\\|> | <B \\| C\\|> |" in changed


def test_a_line_break_in_chinese_is_no_space() -> None:
    shown = prose.render("Text", Plain(lambda _: "一行，\n两行 of\nCPU"))
    assert shown == "一行，两行 of CPU"


def test_a_value_keeps_the_space_before_its_unit() -> None:
    """A chosen sentence once had its spaces joined after its values were filled in."""
    assert prose.join_lines(" It takes\n  7.91\u00a0ms\n") == "It takes 7.91\u00a0ms"


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


@pytest.mark.parametrize(
    ("measured", "shown"), [(True, "Maps win. They take {a}."), (False, "Maps win.")]
)
def test_beside_an_answer_nothing_is_said_of_values_that_are_missing(
    measured: bool, shown: str
) -> None:
    cell = "? gain : 1\n> Maps win.\n~ Nobody knows.\n< Reads win.\nThey take {a}."
    assert prose.render(cell, Plain(measured=measured)) == shown


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ("| maps | {it} |", "Before\n\n| You have | Take |\n|---|---|\n| maps | {it} |"),
        ("", "Before"),
    ],
)
def test_a_table_without_rows_is_left_out_with_its_caption(row: str, shown: str) -> None:
    head = "Before\n\n| You have | Take |\n|---|---|\n"
    cell = (
        f"{head}? gain : 1\n> {row}\n< | reads | {{it}} |\n~\n\n: What to do {{#advice}}\n\nAfter"
    )
    caption = "\n\n: What to do {#advice}\n\nAfter" if row else "\n\n\nAfter"
    assert prose.render(cell, Plain()) == shown + caption
