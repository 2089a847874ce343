"""What a run's reports need of the texts: their facts, what they derive wrongly, and the count of verdicts."""

from collections.abc import Mapping

from ipclab.claims import corrected, registry
from ipclab.claims.derivations import DERIVATIONS
from ipclab.claims.derived import recompute
from ipclab.claims.published import books, texts
from ipclab.facts.fact import Fact
from ipclab.paths import Paths


def audited(run: Mapping[str, Fact], paths: Paths) -> dict[str, Fact]:
    """Return the texts' facts as `text.<name>` and the audit's own as `audit.<name>`; `run` are the run's facts."""
    text = texts(paths)
    found = {f"text.{name}": fact for name, fact in text.items()}
    outcomes = list(recompute(DERIVATIONS, books(paths)))
    every = (*registry.facts(text, run), *corrected.facts(outcomes, text, run))
    return found | {fact.name: fact for fact in every}
