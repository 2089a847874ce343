"""What a notebook holds as data, as Markdown in a language: findings, texts, advice, what is open.

`{"schema": 1, "kind": ..., "data": ...}` is what outputs hold under `MIME`, whatever language the
notebook was executed in.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ipclab.words import output, phrases
from ipclab.words.amounts import from_data, number
from ipclab.words.sentences import SENTENCES, listed, sentence, subject, text
from ipclab.words.words import Words

UNDECIDED = ("open", "few", "state", "limit", "missing")
MOST_NAMED = 3  # findings that are open for one reason
_words = cache(Words.load)


def markdown(made: Mapping[str, Any], lang: str) -> str:
    """Return what an output of `MIME` says in `lang`; nothing where nothing was measured.

    Raises `LabError` for a schema that is not known here.
    """
    return WRITERS[output.kind_of(made)](made["data"], _words(lang))


def _findings(data: Mapping[str, Any], words: Words) -> str:
    """Return sentences as one paragraph; a lead is an item of the list of leads."""
    said = [text for each in data["findings"] if (text := sentence(each, words))]
    if not said:
        return ""
    paragraph = ("" if words.lang == "zh" else " ").join(said)
    paragraph += f" [](#{data['see']})" if data.get("see") else ""
    return f"1. {paragraph}" if data.get("lead") else paragraph


def _text(data: Mapping[str, Any], words: Words) -> str:
    said = text(data, words)
    return f"1. {said}" if data.get("lead") else said


def _advice(data: Mapping[str, Any], words: Words) -> str:
    page = SENTENCES["page"][words.lang]
    lines = [f"| {page['topic']} | {page['take']} | {page['because']} |", "| --- | --- | --- |"]
    for finding in data["findings"]:
        topic = phrases.topic(finding["topic"], words).plain
        if finding["kind"] == "cheapest":
            topic = page["scarce"].format(topic=topic)
        lines.append(f"| {topic} | {_choice(finding, words)} | {_because(finding, words)} |")
    table = "\n".join(lines)
    table = phrases.spaced(table) if words.lang == "zh" else table
    if data.get("title"):
        table += f"\n\n: {words.translate(data['title'])} {{#{data['name']}}}"
    return table


def _choice(finding: Mapping[str, Any], words: Words) -> str:
    """Return what to take: the better side, or the first with those that are as good."""
    sides = finding["sides"]
    if finding["kind"] == "compare" and finding["verdict"] != "alike":
        more_is_better = phrases.MEASURES[finding["measure"]].get("better") == "more"
        best = 0 if (finding["verdict"] == "more") == more_is_better else 1
        return phrases.side(sides[best], words).noun
    if finding["kind"] != "compare":
        sides = sides[: 1 + finding["values"]["as_good"]]
    if len(sides) == 1:
        return phrases.name(sides[0], words)
    page = SENTENCES["page"][words.lang]
    if finding["kind"] == "compare":
        return str(page["either"]).format(names=listed(sides, words))
    first = phrases.name(sides[0], words)
    return str(page["first"]).format(name=first, rest=listed(sides[1:], words))


def _because(finding: Mapping[str, Any], words: Words) -> str:
    if finding["kind"] not in ("fastest", "cheapest"):
        return sentence(finding, words).rstrip(".。")
    best = number(from_data(finding["values"]["best"]), words, "interval")
    name = phrases.name(finding["sides"][0], words)
    if finding["kind"] == "cheapest":
        return str(SENTENCES["page"][words.lang]["cpu"]).format(name=name, v=best)
    busy = SENTENCES["word"][words.lang]["busy"] if finding["values"]["busy"] else ""
    return f"{name} {best}{busy}"


def _open(data: Mapping[str, Any], words: Words) -> str:
    """Return how many findings are open, by reason, and what would decide them."""
    page = SENTENCES["page"][words.lang]
    findings: Sequence[Mapping[str, Any]] = data["findings"]
    by_reason = {reason: [f for f in findings if f["verdict"] == reason] for reason in UNDECIDED}
    count = sum(map(len, by_reason.values()))
    if not count:
        return str(page["none"]).format(all=len(findings))
    lines = [page["open1" if count == 1 else "open"].format(open=count, all=len(findings)), ""]
    between = "；" if words.lang == "zh" else "; "
    for reason, those in by_reason.items():
        if those:
            named = list(dict.fromkeys(subject(each, words) for each in those if each["topic"]))
            which = between.join(named[:MOST_NAMED])
            if len(named) > MOST_NAMED:
                which += str(page["further"]).format(n=len(named) - MOST_NAMED)
            key = "near" if reason == "open" else reason
            lines.append(page[key].format(n=len(those), which=which))
    return "\n".join(lines)


WRITERS = {"finding": _findings, "text": _text, "advice": _advice, "open": _open}


def output_markdown(data: Mapping[str, Any], lang: str) -> str:
    """Return the Markdown of an output that is a text: a finding, advice, words by language."""
    if data.get("kind") in WRITERS and "data" in data:
        return markdown(data, lang)
    return str(output.said(data, lang))
