"""Papermill's own engine, for which an error that its cell allows is what that cell shows."""

from typing import Any

from papermill.engines import NBClientEngine, papermill_engines

ENGINE = "ipclab"
ALLOWED = "raises-exception"  # the tag, as Jupyter has it


class Allowing(NBClientEngine):  # type: ignore[misc]  # papermill has no types
    """Executes as Jupyter does; papermill would end with any error that a cell shows."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, *given: Any, **named: Any) -> None:
        """Execute a notebook; an error that is allowed stays as the text that it printed."""
        super().execute_managed_notebook(nb_man, *given, **named)
        for cell in nb_man.nb.cells:
            if ALLOWED in cell.metadata.get("tags", []):
                for shown in cell.get("outputs", []):
                    _print(shown)


def _print(shown: Any) -> None:
    if shown.output_type == "error":
        text = "\n".join(shown.traceback)
        shown.clear()
        shown.update(output_type="stream", name="stdout", text=text)


papermill_engines.register(ENGINE, Allowing)
