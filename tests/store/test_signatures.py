"""A bundle that somebody signed: whose it is, and what is refused."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ipclab.store.record import Record
from ipclab.store.signature import signature_of
from tests.support.commands import Run

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="there is no ssh-keygen")


def keygen(*words: str) -> None:
    subprocess.run(["ssh-keygen", "-q", *words], check=True, timeout=60)


def new_key(path: Path) -> Path:
    keygen("-t", "ed25519", "-N", "", "-C", "", "-f", str(path))
    return path


def sign(bundle: Path, key: str, use: str) -> None:
    signature_of(bundle).unlink(missing_ok=True)
    keygen("-Y", "sign", "-f", str(bundle.with_name(key)), "-n", use, str(bundle))


def test_a_signature_tells_whose_a_bundle_is(
    ipclab: Run, elsewhere: Record, tmp_path: Path
) -> None:
    public = new_key(tmp_path / "key").with_suffix(".pub").read_text()
    (tmp_path / "signers").write_text(f"lab@example.org {public}")
    done = ipclab("bundle", str(elsewhere.path), "run.ipclab", "--sign", "key")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "signed: run.ipclab.sig")
    done = ipclab("import", "run.ipclab")
    assert done.returncode == 0 and done.stderr.startswith("signed by ED25519 key SHA256:")
    done = ipclab("import", "run.ipclab", "--signers", "signers")
    assert (done.returncode, done.stderr) == (0, "signed by lab@example.org\n")


def test_what_none_of_the_signers_signed_is_refused(
    ipclab: Run, bundle: Path, tmp_path: Path
) -> None:
    def refused(why: str) -> None:
        done = ipclab("import", str(bundle), "--signers", "signers")
        assert done.returncode and why in done.stderr and done.stderr.count("\n") == 1
        assert not [*(tmp_path / "data").rglob("run.json")]

    public = new_key(tmp_path / "key").with_suffix(".pub").read_text()
    new_key(tmp_path / "other")
    refused("is not signed: there is no run.ipclab.sig")
    sign(bundle, "key", "ipclab")
    refused("signers is no file")
    (tmp_path / "signers").write_text(f"lab@example.org {public}")
    for key, use in (("other", "ipclab"), ("key", "git")):
        sign(bundle, key, use)
        refused("the signature does not hold")
    sign(bundle, "key", "ipclab")
    bundle.write_bytes(bundle.read_bytes() + b"\0")
    refused("the signature does not hold")


def test_a_key_that_is_none_signs_nothing(ipclab: Run, elsewhere: Record) -> None:
    done = ipclab("bundle", str(elsewhere.path), "run.ipclab", "--sign", "nothing")
    assert done.returncode == 1 and "it cannot be signed" in done.stderr
