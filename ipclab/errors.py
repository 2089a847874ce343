"""Errors that a person can act on: one line that says what, why and the mend."""


class LabError(Exception):
    """The work failed. `what` went wrong, `why`, and the `mend`; printed as one line, exit code 1."""

    exit_code = 1

    def __init__(self, what: str, why: str = "", mend: str = "") -> None:
        """Keep the three parts; `str()` joins them."""
        super().__init__(what, why, mend)
        self.what, self.why, self.mend = what, why, mend

    def __str__(self) -> str:
        """Return the parts as one line."""
        line = self.what if not self.why else f"{self.what}: {self.why}"
        if self.mend:
            line = f"{line}; {self.mend}"
        return " ".join(line.split())


class UsageError(LabError):
    """The call was wrong: an unknown name, a size of 0, a mistyped parameter. Exit code 2."""

    exit_code = 2
