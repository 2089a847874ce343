"""Rendering: one executed notebook into one file of a format, whole or not at all."""

import os
from pathlib import Path
from typing import Literal

from ipclab.errors import LabError, UsageError
from ipclab.report import document, ipynb, typst
from ipclab.report.compiler import compile_pdf
from ipclab.report.page import page

Format = Literal["html", "pdf", "ipynb"]


def render(executed: Path, fmt: Format, out: Path, locale: Path | None = None) -> None:
    """Write `executed` as `fmt` to `out`, which appears by rename; the same input gives the same bytes.

    Raises UsageError for an unknown format, LabError for what the format cannot show.
    """
    content = _content(executed, fmt, locale)
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(out)
    except OSError as error:
        raise LabError(f"cannot write {out}", error.strerror or str(error), "choose another --out") from error
    finally:
        partial.unlink(missing_ok=True)


def _content(executed: Path, fmt: Format, locale: Path | None) -> bytes:
    if fmt == "ipynb":
        return executed.read_bytes()
    read = document.read(ipynb.read(executed), executed.parent, locale)
    if fmt == "html":
        return page(read).encode()
    if fmt == "pdf":
        return compile_pdf(typst.source(read), read.date)
    raise UsageError(f"no format {fmt!r}", "there are html, pdf, ipynb")
