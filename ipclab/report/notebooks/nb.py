"""nbformat without the two seconds that building grammars takes.

jsonschema, which it imports, imports rfc3987_syntax where that is installed, as it is beside
JupyterLab: 38 grammars of addresses in any script, which no notebook has to be checked for.
"""

import importlib.util
import sys
from types import ModuleType

GRAMMARS = "rfc3987_syntax"


def is_valid_syntax(term: str, value: str) -> bool:
    """Tell whether `value` is a `term` (iri, iri_reference); the grammars are built at the first."""
    from rfc3987_syntax import is_valid_syntax as check

    return bool(check(term, value))


_later = GRAMMARS not in sys.modules and importlib.util.find_spec(GRAMMARS) is not None
if _later:
    sys.modules[GRAMMARS] = ModuleType(GRAMMARS)
    vars(sys.modules[GRAMMARS])["is_valid_syntax"] = is_valid_syntax
import nbformat  # noqa: E402

if _later:
    del sys.modules[GRAMMARS]

__all__ = ["nbformat"]
