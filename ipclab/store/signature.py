"""The signature of a bundle: FILE.sig beside it, of an SSH key, made and checked by `ssh-keygen -Y`.

A digest says that a file is whole, a signature whose it is: nothing else tells scaled times from
measured ones.
"""

import subprocess
from pathlib import Path

from ipclab.errors import LabError, UsageError

SPACE = "ipclab"  # what a signature is for: one for another use does not count
SECONDS = 120.0  # in which a person types the words that lock a key
LACKING = "install OpenSSH 8.2 or newer (ssh-keygen)"


def sign(file: Path, key: Path) -> Path:
    """Sign `file` with the SSH key `key` and return the signature's file.

    Raises `LabError` when ssh-keygen cannot.
    """
    signature = signature_of(file)
    signature.unlink(missing_ok=True)
    _keygen("sign", "-f", str(key), "-n", SPACE, str(file))
    return signature


def signature_of(file: Path) -> Path:
    """Return where the signature of `file` lies."""
    return file.with_name(f"{file.name}.sig")


def signed_by(file: Path, signers: Path | None = None) -> str:
    """Return who signed `file`: one of the `signers` (a file as SSH's allowed_signers), else a key.

    Empty where it has no signature and no signers are given. Raises `LabError` for a signature of
    something else, and with `signers` for none of theirs.
    """
    signature = signature_of(file)
    if not signature.is_file():
        if signers is None:
            return ""
        raise LabError(f"{file} is not signed", f"there is no {signature.name}", "ask for it")
    if signers is None:
        told = _keygen("check-novalidate", "-n", SPACE, "-s", str(signature), stdin=file)
        return told.partition(" with ")[2].strip()
    if not signers.is_file():
        raise UsageError(f"{signers} is no file", "", "give one as ssh-keygen(1), ALLOWED SIGNERS")
    found = _keygen("find-principals", "-s", str(signature), "-f", str(signers))
    name = found.splitlines()[0]
    asked = "-f", str(signers), "-I", name, "-n", SPACE, "-s", str(signature)
    told = _keygen("verify", *asked, stdin=file)
    # a pattern that anybody fits names nobody: the key does
    return told.partition(" with ")[2].strip() if set(name) & set("*?!") else name


def _keygen(action: str, *words: str, stdin: Path | None = None) -> str:
    """Return what ssh-keygen prints; `LabError` when it refuses, is not there or does not end."""
    command = ["ssh-keygen", "-Y", action, *words]
    try:
        with (stdin or Path("/dev/null")).open("rb") as content:
            done = subprocess.run(
                command, stdin=content, capture_output=True, text=True, timeout=SECONDS, check=False
            )
    except FileNotFoundError as error:
        raise LabError("no signature can be made or checked", str(error), LACKING) from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"ssh-keygen did not end in {SECONDS:g} s", "", "try it by hand") from error
    if done.returncode or (not done.stdout.strip() and action == "find-principals"):
        why = (done.stderr or done.stdout).strip().splitlines()
        what = "it cannot be signed" if action == "sign" else "the signature does not hold"
        fix = "see that key and file are those that are meant"
        raise LabError(what, why[-1] if why else "", fix)
    return done.stdout
