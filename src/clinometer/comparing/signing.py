"""Signatures of a bundle, made and checked by OpenSSH's ``ssh-keygen -Y``.

The seal line is signed, which fixes the manifest and so every byte, in the namespace
``clinometer-bundle``: a signature made for something else does not count. The signature comes with
the archive and is not trusted; neither is the key that it names, until it is one of a known signer.

Reference
    OpenSSH, ``PROTOCOL.sshsig``: the format; ``ssh-keygen(1)``: the commands, and the file of
    allowed signers.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from clinometer.errors import InputError, one_line
from clinometer.results.bundles import SIGNATURE
from clinometer.texts import read_text, write_text

__all__ = ["NAMESPACE", "UNSIGNED", "Signature", "check_key", "check_signature", "sign"]

NAMESPACE = "clinometer-bundle"

#: Seconds in which a passphrase is typed or a key touched, and in which a signature is checked.
SIGNING_S = 300
CHECKING_S = 60

#: Largest signature, and file of signers, in bytes. One with a key of 16,384 bits has 6,000.
MOST_SIGNATURE = 1 << 16
MOST_SIGNERS = 1 << 20

#: A line of a public key, which in a file of allowed signers stands behind the signer's name.
_KEY = r"(ssh|ecdsa|sk)-\S+\s+AAAA"
_PUBLIC_KEY = re.compile(_KEY)
_ALLOWED = re.compile(rf"[^#].*\s{_KEY}")

Status = Literal["none", "unchecked", "fits", "known", "stranger", "broken"]

#: Status → what is said of a signature.
_TEXTS: dict[Status, str] = {
    "none": "unsigned; whether this is the archive that was published, its seal tells",
    "unchecked": "signed; the signature is not checked, as the archive was changed",
    "fits": "signed with {key}; by whom is not checked: give --signer",
    "known": "signed by {signer}, with {key}",
    "stranger": "signed with {key}, which is not of a known signer",
    "broken": "signed, and the signature does not hold",
}


@dataclass(frozen=True)
class Signature:
    """What was found out about the signature of a bundle."""

    status: Status
    key: str = ""  # its kind and fingerprint
    signer: str = ""  # the name that the allowed signers have for it
    problem: str = ""  # why it does not hold

    @property
    def text(self) -> str:
        """Say who signed, as far as it was checked."""
        return _TEXTS[self.status].format(key=self.key, signer=self.signer)


UNSIGNED = Signature("none")


def check_key(key: Path, directory: Path) -> None:
    """Raise InputError if a key is no file, or lies in a directory that is bundled."""
    if not key.is_file():
        raise InputError(f"--sign {key}: no such file; ssh-keygen -t ed25519 makes a key")
    if key.resolve().is_relative_to(directory.resolve()):
        raise InputError(f"--sign {key}: lies in the results that are bundled; move it elsewhere")


def sign(seal: Path, key: Path) -> None:
    """Sign a seal line; the signature is written beside it, as `SIGNATURE`.

    Raises InputError if ssh-keygen is missing, or cannot sign with the key.
    """
    with_key = ("-q", "-n", NAMESPACE, "-f", str(key.absolute()))
    done = _ssh_keygen("sign", *with_key, str(seal), seconds=SIGNING_S)
    if not done.succeeded:
        raise InputError(
            f"--sign {key}: {done.reason}; give a private key of OpenSSH, or the .pub of one that "
            "ssh-agent holds"
        )


def check_signature(signature: Path, seal: Path, signer: Path | None = None) -> Signature:
    """Check the signature of a seal line.

    Parameters
    ----------
    signature
        The signature; there need not be one.
    seal
        The file with the seal line.
    signer
        Who may have signed: a file of allowed signers, or of public keys.

    Raises
    ------
    InputError
        If ssh-keygen is missing, or `signer` is no such file.
    """
    allowed = None if signer is None else _allowed_signers(signer)
    if not signature.is_file():
        missing = "" if signer is None else f"{SIGNATURE}: missing; nobody in {signer} signed"
        return Signature("none", problem=missing)
    if signature.stat().st_size > MOST_SIGNATURE:
        return Signature("broken", problem=f"{SIGNATURE}: larger than {MOST_SIGNATURE:,} bytes")
    fits = _ssh_keygen("check-novalidate", *_signature_options(signature), data=seal.read_bytes())
    key = re.search(r" with (.+ key \S+)$", fits.output)
    if not fits.succeeded or key is None:
        problem = f"{SIGNATURE}: not a signature of this archive: {fits.reason}"
        return Signature("broken", problem=problem)
    if allowed is None:
        return Signature("fits", key[1])
    name = _find_signer(signature, seal, allowed)
    if name is None:
        problem = f"{SIGNATURE}: made with {key[1]}, of nobody in {signer}"
        return Signature("stranger", key[1], problem=problem)
    return Signature("known", key[1], name)


def _find_signer(signature: Path, seal: Path, allowed: str) -> str | None:
    """Return the name of the allowed signer whose signature it is."""
    with tempfile.TemporaryDirectory(prefix="clinometer-") as folder:
        file = Path(folder) / "allowed_signers"
        write_text(file, allowed)
        allowed_file = ("-f", str(file))
        names = _ssh_keygen(
            "find-principals", "-s", str(signature), *allowed_file
        ).output.splitlines()
        for name in names:
            options = (*allowed_file, "-I", name, *_signature_options(signature))
            if _ssh_keygen("verify", *options, data=seal.read_bytes()).succeeded:
                return name
    return None


def _allowed_signers(signer: Path) -> str:
    """Return a file of allowed signers, in which public keys have the name of their file."""
    lines = read_text(signer, MOST_SIGNERS).splitlines()
    name = re.sub(r"[^\w.@+-]", "_", signer.name)
    signers = [f"{name} {line}" if _PUBLIC_KEY.match(line) else line for line in lines]
    if not any(map(_ALLOWED.match, signers)):
        raise InputError(
            f"--signer {signer}: no public key in it; give a file of allowed signers (a line each: "
            "NAME ssh-ed25519 AAAA…) or a public key (.pub)"
        )
    return "\n".join((*signers, ""))


def _signature_options(signature: Path) -> tuple[str, ...]:
    return "-n", NAMESPACE, "-s", str(signature)


class _Finished(NamedTuple):
    """What ssh-keygen did."""

    succeeded: bool
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """Return the first line of the errors that is no banner, without a prompt before it."""
        lines = [line for line in self.errors.splitlines() if not line.startswith("@")]
        return one_line(lines[0].split("passphrase: ")[-1]) if lines else "no reason given"


def _ssh_keygen(
    command: str, *arguments: str, data: bytes = b"", seconds: int = CHECKING_S
) -> _Finished:
    """Call ``ssh-keygen -Y``; InputError where it is missing, or takes too long."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise InputError(
            "ssh-keygen: not found; install OpenSSH 8.2 or later (openssh-client) for signatures"
        )
    call = [program, "-Y", command, *arguments]
    try:
        done = subprocess.run(call, input=data, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"ssh-keygen -Y {command}: not done within {seconds} seconds") from None
    output, errors = (text.decode(errors="replace").strip() for text in (done.stdout, done.stderr))
    return _Finished(done.returncode == 0, output, errors)
