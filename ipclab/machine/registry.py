"""What a fact is, and how group modules declare theirs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ipclab.machine.privacy import scrub
from ipclab.machine.source import AbsentError, Source

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None
Reader: TypeAlias = Callable[[Source], object]

# Formatter hints: how a table shows a value. Units are SI or "bytes"; the rest have none.
FORMATS = {str: "text", int: "integer", float: "decimal", bool: "yes-no", list: "list", dict: "mapping"}
UNIT_FORMATS = {"bytes": "bytes", "ns": "duration", "Hz": "frequency", "%": "percent"}


@dataclass(frozen=True)
class FactSpec:
    """One fact about a machine: its name, group, English label (a msgid), type, unit and reader."""

    name: str
    group: str
    label: str
    type: type
    unit: str
    format: str
    identifies: bool
    read: Reader = field(repr=False)

    def take(self, source: Source) -> tuple[Value, str]:
        """Return the value and "", or None and the reason why there is none; never raises for bad input."""
        try:
            value = self.read(source)
        except AbsentError as absent:
            return None, absent.reason
        except (ValueError, KeyError, IndexError, OSError, ArithmeticError):
            return None, "unparsable"
        if not fits(value, self.type):
            return None, f"mistyped: {type(value).__name__}"
        if isinstance(value, str):  # free text that an owner may have set, such as the product's name
            value = scrub(value, source.system.uname()[0])
        return value, ""  # type: ignore[return-value]  # `fits` has checked it


def fits(value: object, kind: type) -> bool:
    """Tell whether `value` is JSON-able and exactly of the declared type (a bool is no int)."""
    if type(value) is not kind:
        return False
    if isinstance(value, list):
        return all(type(item) in {str, int, float} for item in value)
    if isinstance(value, dict):
        return all(type(key) is str and type(item) in {str, int, float} for key, item in value.items())
    return True


@dataclass
class Group:
    """The facts of one module, in the order of a table."""

    name: str
    label: str
    specs: list[FactSpec] = field(default_factory=list)

    def fact(self, label: str, kind: type, *, unit: str = "", identifies: bool = False) -> Callable[[Reader], Reader]:
        """Declare the decorated reader as a fact; its name is the function's without the underscore."""

        def declare(read: Reader) -> Reader:
            self.add(read.__name__.lstrip("_"), label, kind, read, unit=unit, identifies=identifies)
            return read

        return declare

    def file(
        self,
        name: str,
        label: str,
        path: str,
        parse: Callable[[str], object] = int,
        kind: type = int,
        *,
        unit: str = "",
    ) -> None:
        """Declare a fact that is `parse` of the stripped text of one file."""
        self.add(name, label, kind, lambda source: parse(source.text(path).strip()), unit=unit)

    def add(self, name: str, label: str, kind: type, read: Reader, *, unit: str = "", identifies: bool = False) -> None:
        """Append a fact to the group."""
        shown = FORMATS[kind] if kind in {list, dict} else UNIT_FORMATS.get(unit, FORMATS[kind])
        self.specs.append(FactSpec(name, self.name, label, kind, unit, shown, identifies, read))
