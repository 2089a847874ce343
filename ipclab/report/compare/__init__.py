"""Runs of two or more machines compared, each with the first, as frames."""

LIMITS = "limits"
CHANGED, UNKNOWN = 1, 3  # exit codes, those of `ipclab ab`
FAIL_ON = {
    "slower": CHANGED,
    "faster": CHANGED,
    "undecided": UNKNOWN,
    "missing": UNKNOWN,
    LIMITS: UNKNOWN,
}
