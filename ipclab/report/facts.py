"""The facts of a machine as reports list them, and what differences of them affect."""

from collections.abc import Mapping

from ipclab.machine.facts import FACTS, WORDS, Fact, Value

REASONS: dict[str, str] = WORDS["reasons"]
TOPICS = tuple(WORDS["affects"].values())


def shown_facts(
    facts: Mapping[str, Value], reasons: Mapping[str, str]
) -> list[tuple[Fact, Value, str]]:
    """Return each fact that reports list: its stored value, else why there is none (msgid)."""
    listed = []
    for fact in FACTS:
        if fact.shown:
            value = facts.get(fact.name)
            reason = REASONS.get(reasons.get(fact.name, ""), REASONS["absent"])
            listed.append((fact, value, reason if value is None else ""))
    return listed
