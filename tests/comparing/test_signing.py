"""Signatures of bundles: made and checked by ssh-keygen, by whom, and what does not fit."""

import shutil
import subprocess
import zipfile

import polars as pl
import pytest

from clinometer.audits.recording import audit_recorded
from clinometer.cli.evidence import bundle_command, verify_command
from clinometer.comparing.bundling import bundle
from clinometer.comparing.showing import show
from clinometer.comparing.verifying import verify
from clinometer.errors import InputError
from clinometer.results.bundles import seal_line, write_archive

needs_openssh = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="needs ssh-keygen (openssh-client)"
)


def make_key(path, passphrase=""):
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-C", "", "-N", passphrase, "-f", str(path)]
    subprocess.run(make, check=True)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Recorded answers of two models as results directories ``a`` and ``b``, and two keys."""
    root = tmp_path_factory.mktemp("signing")
    for model in ("a", "b"):
        rows = {"model": model, "stereotype": "power", "variation": "replication"}
        answers = pl.DataFrame({**rows, "iteration": [0, 1], "response": 2 * ["weak - karen"]})
        answers.write_csv(root / f"{model}.csv")
        audit_recorded(root / f"{model}.csv", root / model)
    if shutil.which("ssh-keygen"):
        for name in ("key", "other"):
            make_key(root / name)
    return root


@pytest.fixture(scope="module")
def signed(folder):
    return bundle(folder / "a", folder / "signed.zip", key=folder / "key")


def rewritten(archive, folder, change):
    """Write an archive again with changed files."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder / "files")
    change(folder / "files")
    paths = (path for path in (folder / "files").rglob("*") if path.is_file())
    files = {path.relative_to(folder / "files").as_posix(): path for path in paths}
    write_archive(folder / "changed.zip", files)
    return folder / "changed.zip"


def exit_code(command, *arguments):
    with pytest.raises(SystemExit) as stop:
        command.main([str(argument) for argument in arguments], standalone_mode=False)
    return stop.value.code


@needs_openssh
def test_a_signer_is_known_by_a_public_key_or_by_a_name(folder, signed, tmp_path):
    verification = verify(signed, signer=folder / "key.pub")
    assert (verification.signature.status, verification.signature.signer) == ("known", "key.pub")
    key = (folder / "key.pub").read_text(encoding="utf-8")
    (tmp_path / "allowed").write_text(f"# auditors\nalice@example.org {key}", encoding="utf-8")
    verification = verify(signed, signer=tmp_path / "allowed")
    assert verification.signature.signer == "alice@example.org" and verification.holds


@needs_openssh
def test_without_a_signer_it_is_said_that_nobody_vouches(signed, capsys):
    assert exit_code(verify_command, signed) == 0
    (line,) = (
        printed for printed in capsys.readouterr().out.splitlines() if printed.startswith("signed")
    )
    assert line.startswith("signed with ED25519 key SHA256:")
    assert line.endswith("; by whom is not checked: give --signer")


@needs_openssh
def test_another_signer_is_a_failure(folder, signed, capsys):
    assert exit_code(verify_command, signed, "--signer", folder / "other.pub") == 1
    out = capsys.readouterr().out
    assert out.startswith("SHA256.sig: made with ED25519 key SHA256:")
    assert "which is not of a known signer" in out


@needs_openssh
def test_a_key_that_is_allowed_for_something_else_is_nobodys(folder, signed, tmp_path):
    key = (folder / "key.pub").read_text(encoding="utf-8")
    (tmp_path / "allowed").write_text(f'alice namespaces="git" {key}', encoding="utf-8")
    assert verify(signed, signer=tmp_path / "allowed").signature.status == "stranger"


def test_unsigned_is_said_and_fails_only_where_a_signer_is_asked_for(folder, tmp_path, capsys):
    unsigned = bundle(folder / "a", tmp_path / "unsigned.zip")
    assert exit_code(verify_command, unsigned) == 0
    assert "\nunsigned; " in capsys.readouterr().out
    (tmp_path / "alice.pub").write_text("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", encoding="utf-8")
    assert exit_code(verify_command, unsigned, "--signer", tmp_path / "alice.pub") == 1
    assert capsys.readouterr().out.startswith("SHA256.sig: missing; nobody in ")


@needs_openssh
def test_a_changed_manifest_with_its_old_signature_is_caught(folder, signed, tmp_path):
    def change(files):
        manifest = bytearray((files / "manifest.json").read_bytes())
        manifest[len(manifest) // 2] ^= 1
        (files / "manifest.json").write_bytes(manifest)

    verification = verify(rewritten(signed, tmp_path, change), signer=folder / "key.pub")
    assert verification.changed and (
        verification.signature.status,
        verification.signature.signer,
    ) == ("unchecked", "")


@needs_openssh
def test_a_new_seal_with_an_old_signature_is_caught(folder, signed, tmp_path):
    def change(files):
        with (files / "manifest.json").open("a") as manifest:
            manifest.write(" ")
        (files / "SHA256").write_text(seal_line(files / "manifest.json"))

    changed = rewritten(signed, tmp_path, change)
    for signer in (None, folder / "key.pub"):
        verification = verify(changed, signer=signer)
        assert (verification.changed, verification.signature.status, verification.holds) == (
            (),
            "broken",
            False,
        )
        assert verification.problems[0].startswith("SHA256.sig: not a signature of this archive")


@needs_openssh
def test_the_signature_of_another_archive_is_caught(folder, signed, tmp_path):
    second_bundle = bundle(folder / "b", tmp_path / "b.zip", key=folder / "key")
    with zipfile.ZipFile(second_bundle) as opened:
        signature = opened.read("SHA256.sig")
    changed = rewritten(
        signed, tmp_path, lambda files: (files / "SHA256.sig").write_bytes(signature)
    )
    assert verify(changed, signer=folder / "key.pub").signature.status == "broken"


@needs_openssh
@pytest.mark.parametrize("content", [b"", b"\0no signature", b"-----BEGIN SSH SIGNATURE-----\n",
                                     bytes(1 << 17)])  # fmt: skip
def test_what_is_no_signature_is_caught(signed, tmp_path, content):
    changed = rewritten(signed, tmp_path, lambda files: (files / "SHA256.sig").write_bytes(content))
    assert verify(changed).signature.status == "broken"


@needs_openssh
def test_a_signature_made_for_something_else_does_not_count(folder, signed, tmp_path):
    def change(files):
        (files / "SHA256.sig").unlink()
        call = ["ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", str(folder / "key")]
        subprocess.run([*call, str(files / "SHA256")], check=True)

    assert verify(rewritten(signed, tmp_path, change)).signature.status == "broken"


@needs_openssh
def test_the_same_run_and_key_give_the_same_bytes_and_no_private_key(folder, signed, tmp_path):
    again = bundle(folder / "a", tmp_path / "again.zip", key=folder / "key")
    assert again.read_bytes() == signed.read_bytes()
    private = (folder / "key").read_text(encoding="utf-8").splitlines()[1:-1]
    assert private and not any(line.encode() in signed.read_bytes() for line in private)


@needs_openssh
def test_a_signature_changes_neither_seal_nor_what_is_read(folder, signed, tmp_path):
    unsigned = bundle(folder / "a", tmp_path / "a.zip")
    assert verify(unsigned).seal == verify(signed).seal
    assert show(signed).answers.equals(show(folder / "a").answers)
    removed = rewritten(signed, tmp_path, lambda files: (files / "SHA256.sig").unlink())
    assert removed.read_bytes() == unsigned.read_bytes()


@needs_openssh
def test_a_key_that_does_not_open_is_a_line(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SSH_ASKPASS", shutil.which("false"))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    key = make_key(tmp_path / "locked", "passphrase")
    with pytest.raises(InputError, match="incorrect passphrase.*give a private key") as error:
        bundle(folder / "a", tmp_path / "a.zip", key=key)
    assert "\n" not in str(error.value) and not (tmp_path / "a.zip").exists()


def test_a_key_among_the_results_or_nowhere_is_refused(folder, tmp_path):
    (folder / "a" / "key.json").write_text("a private key", encoding="utf-8")
    with pytest.raises(InputError, match="lies in the results"):
        bundle(folder / "a", tmp_path / "a.zip", key=folder / "a" / "key.json")
    (folder / "a" / "key.json").unlink()
    with pytest.raises(InputError, match="no such file"):
        bundle(folder / "a", tmp_path / "a.zip", key=folder / "absent")


def test_a_file_without_a_public_key_is_no_signer(folder, tmp_path):
    unsigned = bundle(folder / "a", tmp_path / "unsigned.zip")
    (tmp_path / "private").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n", encoding="utf-8")
    with pytest.raises(InputError, match="no public key in it"):
        verify(unsigned, signer=tmp_path / "private")


def test_without_openssh_it_is_named(folder, tmp_path, monkeypatch):
    (tmp_path / "key").write_text("key", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="ssh-keygen: not found; install OpenSSH"):
        bundle(folder / "a", tmp_path / "a.zip", key=tmp_path / "key")


@needs_openssh
def test_the_command_signs(folder, tmp_path, capsys):
    out = tmp_path / "a.zip"
    assert exit_code(bundle_command, folder / "a", "--out", out, "--sign", folder / "key") == 0
    assert "\nsigned with ED25519 key SHA256:" in capsys.readouterr().out
    assert exit_code(verify_command, out, "--signer", folder / "key.pub") == 0
    assert "\nsigned by key.pub, with ED25519 key SHA256:" in capsys.readouterr().out
