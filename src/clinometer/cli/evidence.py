"""``clinometer bundle`` and ``verify``: evidence that another person can recompute."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clinometer.cli.options import FILE, FOLDER, OUT, command
from clinometer.cli.output import echo, remark
from clinometer.errors import ExitCode

#: A private key, which no copy is made of: no address, unlike other files.
KEY = click.Path(path_type=Path)


@command("bundle")
@click.argument("results", type=FOLDER)
@click.option("--out", required=True, type=OUT, help="Archive, ending in .zip.")
@click.option("--auditor", help="Who made the audit, for the audit card.")
@click.option("--scope", help="What the audit is to decide.")
@click.option("--access", help="How the model was reached: API, weights, product.")
@click.option("--expires", help="Date after which the audit says nothing of the model.")
@click.option("--logs", is_flag=True,
              help="Also inspect's logs; no number needs them.")  # fmt: skip
@click.option("--sign", type=KEY, metavar="KEY",
              help="Sign with this private key of OpenSSH, or the .pub of one that ssh-agent "
                   "holds.")  # fmt: skip
def bundle_command(
    results: Path, out: Path, logs: bool, sign: Path | None, **card: str | None
) -> None:
    """Write RESULTS as one archive from which every number can be recomputed.

    The same results, and the same ed25519 key, give the same bytes. clinometer verify checks it.
    """
    from clinometer.comparing.bundling import bundle
    from clinometer.comparing.verifying import verify

    card_fields = {name: text for name, text in card.items() if text is not None}
    bundle(results, out, card_fields, key=sign, logs=logs)
    check = verify(out)  # what does not follow is better known before it is published
    echo(f"{check.files} files, {out.stat().st_size:,} bytes: {out}")
    echo(f"seal {check.seal}")
    if sign is not None:
        echo(f"signed with {check.signature.key}")
    for problem in check.problems:
        remark(problem)
    sys.exit(ExitCode.FAIL if check.problems else ExitCode.DONE)


@command("verify")
@click.argument("archive", type=FILE)
@click.option("--models", is_flag=True,
              help="Also measure again what takes the models, such as hidden states.")  # fmt: skip
@click.option("--inputs", type=FOLDER, metavar="DIR",
              help="Also measure again what takes files, as networks: their folder.")  # fmt: skip
@click.option("--signer", type=FILE, metavar="FILE",
              help="Who has to have signed it: a file of allowed signers (ssh-keygen), or a "
                   "public key (.pub).")  # fmt: skip
def verify_command(archive: Path, models: bool, inputs: Path | None, signer: Path | None) -> None:
    """Check every byte of ARCHIVE and recompute its tables; nothing is asked.

    ARCHIVE may have been packed again, or be the folder that it was unpacked to.

    Says whether it is unchanged, whether each number follows from the answers, what is as stored
    and was not recomputed, and who signed it. Exit code 0: everything is as stated; 1: something
    differs, and is named; 3: nothing could be recomputed, or another version made it.
    """
    from clinometer.comparing.verifying import verify

    check = verify(archive, models=models, inputs=inputs, signer=signer)
    for problem in check.problems:
        echo(problem)
    unchanged = "no" if check.changed else f"yes, {check.files} files are those of the manifest"
    echo(f"unchanged: {unchanged}")
    if check.packing:
        echo(check.packing)
    if not check.changed:
        tables = f"; recomputed: {', '.join(check.tables)}" if check.tables else ""
        echo(f"follows from the answers: {_FOLLOWS[check.follows]}{check.obstacle}{tables}")
        as_stored = ", ".join(check.as_stored) or "nothing"
        echo(f"as stored, not recomputed (see --models, --inputs): {as_stored}")
    for note in check.notes:
        echo(f"not checked on this machine: {note}")
    echo(check.signature.text)
    echo(f"seal {check.seal}")
    if check.problems:
        sys.exit(ExitCode.FAIL)
    sys.exit(ExitCode.DONE if check.holds else ExitCode.NOT_COMPLETE)


#: Whether numbers follow from the answers → what is said of it.
_FOLLOWS = {True: "yes", False: "no", None: "not known, "}
