"""Plain Typst from a document. All text goes in as string literals, so that nothing can become markup."""

from collections.abc import Iterable
from importlib import resources
from unicodedata import east_asian_width

from markdown_it.token import Token

from ipclab.lab.catalogue import N_
from ipclab.lab.markdown import join_lines
from ipclab.lab.numbers import Formatter
from ipclab.lab.table import Table
from ipclab.render import svg
from ipclab.render.document import Block, Document, Drawing, Prose, Sheet

_FAMILIES = {"ko": ("KR", "SC", "JP"), "zh": ("SC", "KR", "JP"), "en": ("KR", "SC", "JP")}
_REGIONS = {"ko": "kr", "zh": "cn", "en": "us"}
_TEXT_WIDTH_PT = 470
_MANY_COLUMNS, _MANY_ROWS, _WHOLE_LINES = 7, 30, 36
_LINE = 100  # narrow characters in a line of a table as wide as the page
_WHOLE_TEXT = 1_600  # characters: about half a page
_OPENED = {
    "bullet_list_open": "#list(",
    "list_item_open": "[",
    "blockquote_open": "#quote(block: true)[",
    "thead_open": "table.header(",
    "strong_open": "#strong[",
    "em_open": "#emph[",
    "th_open": "[",
    "td_open": "[",
}
_CLOSED = {
    "bullet_list_close": ");\n\n",
    "ordered_list_close": ");\n\n",
    "list_item_close": "],",
    "blockquote_close": "];\n\n",
    "thead_close": "),",
    "th_close": "],",
    "td_close": "],",
    "table_close": ");\n\n",
    "heading_close": "];\n\n",
    "paragraph_close": "\n\n",
    "strong_close": "];",
    "em_close": "];",
    "link_close": "];",
    "hr": "#line(length: 100%, stroke: 0.5pt);\n\n",
    "hardbreak": "#linebreak();",
}
_WORD_JOINER = "\u2060"


def source(document: Document) -> str:
    """Return the Typst source of a whole report, template included."""
    template = resources.files("ipclab.render").joinpath("templates/report.typ").read_text("utf-8")
    fields = {
        "title": string(document.title),
        "lang": string(document.lang),
        "region": string(_REGIONS.get(document.lang, "us")),
        "fonts": array(f"Noto Sans CJK {r}" for r in _FAMILIES.get(document.lang, _FAMILIES["en"])),
        "date": _date(document.date),
        "date-text": string(Formatter(document.lang).date(document.date) if document.date else ""),
        "run": string(document.run),
        "contents": string(document.translate(N_("Contents"))),
    }
    head = f"#show: report.with({', '.join(f'{key}: {value}' for key, value in fields.items())})\n"
    body = "".join(_block(block, document.lang) for block in document.blocks)
    return f"{template}\n{head}{attachments(document)}{body}"


def _date(iso: str) -> str:
    year, month, day = (int(part) for part in (iso[:10] or "1-1-1").split("-"))
    return f"datetime(year: {year}, month: {month}, day: {day})" if iso else "none"


def attachments(document: Document) -> str:
    """Return the calls that put the data files into the PDF."""
    return "".join(
        f'#pdf.attach({string(name)}, bytes({string(path.read_text("utf-8"))}), relationship: "data", '
        f'mime-type: "text/csv", description: {string(name)});\n'
        for name, path in document.attachments.items()
    )


def table(data: Table, label: str = "") -> str:
    """Return a figure that holds a table; its head repeats on each page, and it gets small when it is large."""
    aligns = ", ".join(column.align for column in data.columns)
    head = ", ".join(f"[{text(column.label)}]" for column in data.columns)
    rows = "\n".join("".join(f"[{text(cell)}], " for cell in row) for row in data.rows)
    small = len(data.columns) > _MANY_COLUMNS or len(data.rows) > _MANY_ROWS
    whole = _lines(data) <= _WHOLE_LINES
    caption = f"{label} {data.caption}" if label else data.caption
    notes = "".join(f"#note[{text(note)}];\n" for note in data.notes)
    return (
        f"#sheet({string(caption)}, small: {str(small).lower()}, whole: {str(whole).lower()}, "
        f"table(columns: {_widths(data)}, align: ({aligns},), table.header({head}),\n{rows}\n));\n{notes}\n"
    )


def _length(data: Table) -> int:
    return sum(len(cell) for row in data.rows for cell in row)


def _lines(data: Table) -> int:
    """Return at most how many lines the table takes: its columns as if equally wide, wide characters as two."""

    def lines(cell: str) -> int:
        width = sum(1 + (east_asian_width(letter) in "WF") for letter in cell)
        return 1 + width * len(data.columns) // _LINE

    return sum(max(map(lines, row), default=1) for row in data.rows)


def _widths(data: Table) -> str:
    """Return the widths of the columns: those of a long table of sentences follow from how much each has to say."""
    if _length(data) <= _WHOLE_TEXT or any(column.align != "left" for column in data.columns):
        return str(len(data.columns))
    lengths = [sum(len(row[place]) for row in data.rows) / len(data.rows) for place in range(len(data.columns))]
    return array_of(f"{max(1.0, length) ** 0.5:.2f}fr" for length in lengths)


def array_of(values: Iterable[str]) -> str:
    """Return a Typst array of values that are Typst already."""
    return "(" + "".join(f"{value}, " for value in values) + ")"


def string(value: str) -> str:
    r"""Return a Typst string literal: only `\` and `"` have a meaning in it."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array(values: Iterable[str]) -> str:
    """Return a Typst array of strings."""
    return array_of(string(value) for value in values)


def text(value: str) -> str:
    """Return text as markup that shows exactly it."""
    return f"#{string(value)};" if value else ""


def _block(block: Block, lang: str) -> str:
    match block:
        case Prose(tokens):
            return _prose(tokens, lang)
        case Sheet(data, label):
            return table(data, label)
        case Drawing():
            width = "100%" if svg.width_pt(block.svg) > _TEXT_WIDTH_PT else "auto"
            caption = f"{block.label} {block.caption}" if block.caption else block.label
            image = f'image(bytes({string(block.svg)}), format: "svg", alt: {string(block.alt)}, width: {width})'
            return f"#drawing({string(caption)}, {image});\n\n"
        case _:
            return f"#raw(block: true, {string(block.text)});\n\n"


def _prose(tokens: list[Token], lang: str) -> str:
    parts = []
    for index, token in enumerate(tokens):
        if token.type == "inline":
            parts.append(_inline(token.children or [], lang))
        elif token.type == "heading_open":
            parts.append(f"#heading(level: {token.tag[1]})[")
        elif token.type == "ordered_list_open":
            parts.append(f"#enum(start: {token.attrGet('start') or 1}, ")
        elif token.type == "table_open":
            parts.append(_table_head(tokens[index:]))
        elif token.type in ("fence", "code_block"):
            parts.append(f"#raw(block: true, {string(token.content.rstrip())});\n\n")
        else:
            parts.append(_OPENED.get(token.type) or _CLOSED.get(token.type, ""))
    return "".join(parts)


def _table_head(tokens: list[Token]) -> str:
    """Return the opening of a Markdown table, with as many columns as its first row has."""
    end = next(i for i, token in enumerate(tokens) if token.type == "tr_close")
    styles = [str(t.attrGet("style") or "") for t in tokens[:end] if t.type == "th_open"]
    aligns = "".join(f"{s.rpartition(':')[2] or 'left'}, " for s in styles)
    return f"#table(columns: {len(styles)}, align: ({aligns}), "


def _inline(tokens: list[Token], lang: str) -> str:
    parts: list[str] = []
    for index, token in enumerate(tokens):
        if token.type == "text":
            parts.append(text(_glued(tokens, index, lang)))
        elif token.type == "code_inline":
            parts.append(f"#raw({string(token.content)});")
        elif token.type == "softbreak":
            parts.append(_break(tokens, index))
        elif token.type == "link_open":
            target = str(token.attrGet("href"))
            parts.append("#[" if target[:1] in ("", "#") else f"#link({string(target)})[")
        elif token.type == "footnote_reference":
            parts.append(f"#footnote[{_inline(token.meta['note'].children or _children(token), lang)}];")
        else:
            parts.append(_OPENED.get(token.type) or _CLOSED.get(token.type, ""))
    return "".join(parts)


def _children(token: Token) -> list[Token]:
    return [Token("text", "", 0, content=token.meta["note"].content)]


def _break(tokens: list[Token], index: int) -> str:
    around = [tokens[i].content if 0 <= i < len(tokens) else "" for i in (index - 1, index + 1)]
    return " " if join_lines("\n".join(around)) != "".join(around).strip() else ""


def _glued(tokens: list[Token], index: int, lang: str) -> str:
    """Return a text, kept on the line of what it follows: a Korean particle after bold or code."""
    value = tokens[index].content
    closed = index > 0 and tokens[index - 1].type in ("strong_close", "em_close", "link_close", "code_inline")
    return _WORD_JOINER + value if lang == "ko" and closed and value[:1].strip() else value
