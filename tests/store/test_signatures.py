"""A bundle that somebody signed: whose it is, and what is refused."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ipclab.store.signature import signature_of
from tests.support.bundled import make_run

Run = Callable[..., "CompletedProcess[str]"]
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="there is no ssh-keygen")


def new_key(path: Path) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, timeout=60)
    return path


@pytest.fixture
def signed(ipclab: Run, tmp_path: Path) -> Path:
    run, key = make_run(tmp_path / "elsewhere"), new_key(tmp_path / "key")
    public = key.with_suffix(".pub").read_text()
    (tmp_path / "signers").write_text(f"lab@example.org {public}")
    done = ipclab("bundle", str(run.path), "run.ipclab", "--sign", "key")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "signed: run.ipclab.sig")
    return tmp_path / "run.ipclab"


def test_a_signature_tells_whose_a_bundle_is(ipclab: Run, signed: Path) -> None:
    done = ipclab("import", str(signed))
    assert done.returncode == 0 and done.stderr.startswith("signed by ED25519 key SHA256:")
    done = ipclab("import", str(signed), "--signers", "signers")
    assert (done.returncode, done.stderr) == (0, "signed by lab@example.org\n")


def other_key(signed: Path) -> None:
    key = new_key(signed.with_name("other"))
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", "ipclab", str(signed)]
    signature_of(signed).unlink()
    subprocess.run(command, check=True, timeout=60)


def other_use(signed: Path) -> None:
    key = signed.with_name("key")
    signature_of(signed).unlink()
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", "git", str(signed)]
    subprocess.run(command, check=True, timeout=60)


def other_bundle(signed: Path) -> None:
    signed.write_bytes(signed.read_bytes() + b"\0")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (other_key, "the signature does not hold"),
        (other_use, "the signature does not hold"),
        (other_bundle, "the signature does not hold"),
        (lambda signed: signature_of(signed).unlink(), "is not signed: there is no run.ipclab.sig"),
        (lambda signed: signed.with_name("signers").unlink(), "signers is no file"),
    ],
)
def test_what_none_of_the_signers_signed_is_refused(
    ipclab: Run, signed: Path, tmp_path: Path, change: Callable[[Path], None], says: str
) -> None:
    change(signed)
    done = ipclab("import", str(signed), "--signers", "signers")
    assert done.returncode and says in done.stderr and done.stderr.count("\n") == 1
    assert not [*(tmp_path / "data").rglob("run.json")]


def test_a_key_that_is_none_signs_nothing(ipclab: Run, tmp_path: Path) -> None:
    run = make_run(tmp_path / "elsewhere")
    done = ipclab("bundle", str(run.path), "run.ipclab", "--sign", "nothing")
    assert done.returncode == 1 and "it cannot be signed" in done.stderr
