"""Text of a run in each kind of document: it shows its letters, and becomes nothing else."""

import csv
import io
from html.parser import HTMLParser

import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from ipclab.errors import plain
from ipclab.store.questions import Bound, limit_filled, questions_told
from ipclab.text import Text
from ipclab.words.filling import fill
from ipclab.words.words import Words

HOSTILE = (
    "=1+1 <script>alert(1)</script> $\\frac{$ **b** `c` [l](javascript:x) ![i](y) {x:>2000000000}"
    " #set page(width: 1pt) \\end{document} & &amp; ~~s~~ | _e_ \x1b[31m \u202e @x //z"
)
TEXTS = [HOSTILE, f"\n\n# {HOSTILE}", f"- {HOSTILE}", f"$${HOSTILE}$$", "+1-2", "\t=x", "@SUM(A1)"]


class Elements(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def words_of(text: str) -> list[str]:
    return plain(text).split()


@pytest.mark.parametrize("text", TEXTS)
def test_text_of_a_run_shows_its_letters_in_each_kind_of_document(text: str) -> None:
    shown = Text(text)
    assert shown.line == plain(shown.line) and "\n" not in shown.line
    elements = Elements(markdown2html_mistune(f"It is {shown.markdown}."))
    assert elements.found == ["p"]
    assert [*words_of(text)][-1] in elements.text
    ((cell,),) = csv.reader(io.StringIO(f'"{shown.csv.replace(chr(34), chr(34) * 2)}"'))
    assert cell[0] not in "=@\t" and (cell[0] not in "+-" or cell.replace(".", "")[1:].isdigit())


def test_what_fills_a_text_is_no_template() -> None:
    value = "{other} {x:>2000000000}"
    told = fill("It is {name}.", {"name": value}.__getitem__, Words("en").numbers)
    assert Elements(markdown2html_mistune(told)).text.strip() == f"It is {value}."


@pytest.mark.parametrize("name", ["{arm:>2000000000}", "{0}", "a}{b", "<b>"])
def test_the_name_of_a_limit_is_no_template(name: str) -> None:
    told = {"studies": [{"name": "x", "bounds": [{"op": "o", "native": name}]}]}
    with pytest.raises(ValueError, match="native"):
        questions_told({"questions": told})


def test_the_name_of_a_limit_has_levels() -> None:
    bound = Bound("o", native="echo-{mechanism}")
    assert limit_filled(str(bound.native), {"mechanism": "{arm}"}) == "echo-{arm}"
    assert limit_filled("a-{lacking}", {}) == "a-"
