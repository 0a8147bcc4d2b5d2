"""``tiltmeter list``: instruments, studies, stereotypes and wordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tiltmeter.stimuli import NetworkStudy, Study

__all__ = ["command"]


@click.command("list")
@click.argument("study", required=False, metavar="[STUDY|FILE]")
def command(study: str | None) -> None:
    """List instruments, modes and studies, or the stereotypes and wordings of STUDY."""
    from tiltmeter.stimuli import NetworkStudy, open_study

    if study is None:
        _everything()
        return
    loaded = open_study(study)
    click.echo(f"{loaded.name}: {loaded.title}")
    if isinstance(loaded, NetworkStudy):
        _identities(loaded)
        return
    _wordings(loaded)
    click.echo("stereotypes")
    for key, stereotype in loaded.stereotypes.items():
        groups = f"{', '.join(stereotype.marginalized)} | {', '.join(stereotype.default)}"
        flag = " *" if any(stereotype.defect(v) for v in ("", *stereotype.variations)) else ""
        click.echo(f"  {key:24}{stereotype.category:12}{groups}{flag}")
    if any(s.defect(v) for s in loaded.stereotypes.values() for v in ("", *s.variations)):
        click.echo("* has a known defect of the source, kept verbatim; the report states it")


def _everything() -> None:
    from tiltmeter.instruments.catalogue import INSTRUMENTS
    from tiltmeter.modes import MODES
    from tiltmeter.states.word_tests import load_tests
    from tiltmeter.states.words import SHIPPED, read_words
    from tiltmeter.stimuli import (
        load_network_study,
        load_study,
        shipped_network_studies,
        shipped_studies,
    )

    click.echo("instruments")
    for name, instrument in INSTRUMENTS.items():
        measure = instrument.measures[-1]
        title = measure.title.partition(":")[0]
        click.echo(f"  {name:24}{title} ({measure.reference})")
    click.echo("response modes")
    for mode in MODES.values():
        click.echo(f"  {mode.name:24}{mode.title}")
    click.echo("studies")
    for name in shipped_studies():
        shipped = load_study(name)
        count = len(shipped.stereotypes)
        click.echo(f"  {name:24}{shipped.title} ({count} stereotype{'s' * (count > 1)})")
    click.echo("stereotypes")
    for name in shipped_studies():
        click.echo(f"  {name:24}{', '.join(load_study(name).stereotypes)}")
    click.echo("studies of networks")
    for name in shipped_network_studies():
        click.echo(f"  {name:24}{', '.join(load_network_study(name).identities)}")
    tests = ", ".join(test.stereotype for test in load_tests("caliskan2017"))
    click.echo("association tests in hidden states (tiltmeter weat)")
    click.echo(f"  {'caliskan2017':24}{tests}")
    click.echo("groups of words for profiles (tiltmeter profile)")
    for name in SHIPPED:
        groups = read_words(name).groups.items()
        click.echo(f"  {name:24}{', '.join(f'{group} ({len(w)})' for group, w in groups)}")
    click.echo("tiltmeter list STUDY shows the wordings and groups of a study")


def _identities(study: NetworkStudy) -> None:
    """Print the primes and targets of each identity."""
    for key, identity in study.identities.items():
        click.echo(f"{key} ({identity.approach})")
        if identity.approach != "stereotypes":
            click.echo(f"  primes  {', '.join(identity.primes)}")
            continue
        pairs = (f"{' – '.join(pair.values())}" for pair in identity.pairs)
        click.echo(f"  pairs of primes ({' – '.join(identity.categories)}): {', '.join(pairs)}")
        for category, words in identity.targets.items():
            click.echo(f"  targets of {category}: {', '.join(words)}")


def _wordings(study: Study) -> None:
    from tiltmeter.instruments.catalogue import INSTRUMENTS

    for instrument in INSTRUMENTS.values():
        wordings = instrument.wordings(study)
        apart = [name for name, one in wordings.items() if not one.text]
        if wordings:
            own = ", each stereotype with its own wordings" if apart else ""
            click.echo(f"variations of {instrument.name}{own}")
        for name, one in wordings.items():
            if one.text:
                mark = "" if one.by_default else " (not asked by default)"
                click.echo(f"  {name:24}{one.text}{mark}")
        if apart:
            shown = (f"{n}{'' if wordings[n].by_default else ' (not by default)'}" for n in apart)
            click.echo(f"  {', '.join(shown)}")
    if study.interventions:
        click.echo("interventions")
        for name, text in study.interventions.items():
            click.echo(f"  {name:24}{text}")
    _contents(study)


def _contents(study: Study) -> None:
    if study.dimensions:
        click.echo("dimensions (asked of every stereotype)")
        for name, pole in study.dimensions.items():
            click.echo(
                f"  {name:24}{', '.join(pole.tied[:3])}, … | {', '.join(pole.counter[:3])}, …"
            )
    if study.objects:
        click.echo(f"objects to describe: {', '.join(study.objects)}")
