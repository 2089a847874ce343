"""The sentence of a finding, in one language (`sentences.toml`).

A finding is data: its kind, verdict and measure, its topic (levels that all sides share), sides
(what tells each apart) and values, which are numbers (`Amount`) or levels of a side.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ipclab.paths import table_beside
from ipclab.stats.quantity import Quantity
from ipclab.words import filling, labels, phrases
from ipclab.words.amounts import FEW_WITHIN, Amount, factor, number, ratio
from ipclab.words.filling import escaped
from ipclab.words.words import Words

SENTENCES = table_beside(__file__, "sentences.toml")
MOST_NAMED = 3  # of several that are alike
# What is counted, by what tells one from another, and how a sentence says where.
CASES = {"backend": ("cases", "through"), "point": ("points", "at")}
Finding = Mapping[str, Any]
Filled = dict[str, str]


def sentence(finding: Finding, words: Words) -> str:
    """Return the sentence of a finding; nothing where nothing was measured.

    Raises `KeyError` for a kind or a verdict that has no sentence.
    """
    if finding["verdict"] == "missing":
        return ""
    if finding["kind"] == "text":
        return text(finding["values"], words)
    template = SENTENCES[finding["kind"]][finding["verdict"]][words.lang]
    about = phrases.topic(finding["topic"], words)
    put = {
        "t": about.plain,
        "T": about.plain[:1].upper() + about.plain[1:],
        "t은": about.with_topic,
        "t이": about.with_subject,
    }
    measure = phrases.MEASURES[finding["measure"]][words.lang]
    put["of"] = measure.get("of", "").format(**put)
    for name in ("longer", "longer_is", "shorter", "shorter_is", "what"):
        put[name] = measure.get(name, "")
    put |= FILLS[finding["kind"]](finding, words, measure, put)
    said = template.format(**put)
    return phrases.spaced(said) if words.lang == "zh" else said


def text(data: Mapping[str, Any], words: Words) -> str:
    """Return a text of a notebook (`text`, a msgid) filled with `values`, as Markdown."""
    values = {name: _value_of(plain, words) for name, plain in data["values"].items()}
    return filling.fill(words.translate(data["text"]), values.__getitem__, words.numbers)


def _value_of(plain: Any, words: Words) -> Quantity | str:
    """Return a value of a text: a number with its unit, a word, a level, or a list of these."""
    if isinstance(plain, str):
        return words.translate(labels.NAMES.get(plain, labels.LEVELS.get(plain, plain)))
    if isinstance(plain, Mapping):
        return words.level(plain["factor"], plain["level"])
    if plain and isinstance(plain[0], int | float):
        return Quantity(*Amount.read(plain))
    return words.joined(str(_value_of(each, words)) for each in plain)


def subject(finding: Finding, words: Words) -> str:
    """Return what a finding is about: its topic and, of two sides, these."""
    about = phrases.topic(finding["topic"], words).plain
    sides = [phrases.side(side, words).noun for side in finding["sides"][:2]]
    colon = SENTENCES["page"][words.lang]["colon"]
    said = f"{about}{colon}{_word(words, 'or').join(sides)}" if sides else about
    return phrases.spaced(said) if words.lang == "zh" else said


def _word(words: Words, name: str) -> str:
    return str(SENTENCES["word"][words.lang][name])


def _amount(finding: Finding, name: str) -> Amount:
    return Amount.read(finding["values"][name])


def _sides(first: phrases.Side, second: phrases.Side) -> Filled:
    return {"a": first.side, "b": second.side, "a이": first.side, "b보다": second.than}


def _nouns(put: Filled, first: phrases.Side, second: phrases.Side, words: Words) -> Filled:
    """Return the sides; in Korean both are nouns where neither is compared with 보다."""
    if words.lang == "ko":
        put |= {"a": first.noun, "b": second.noun}
    return put


def _within(of: Amount, words: Words) -> str:
    if of.within() > FEW_WITHIN:
        return ""
    said = factor(of.within(), words, _word(words, "times"))
    return _word(words, "within").format(w=said)


def _compared(finding: Finding, words: Words, measure: Any, put: Filled) -> Filled:
    first, second = (phrases.side(side, words) for side in finding["sides"])
    verdict, values = finding["verdict"], finding["values"]
    filled = _nouns(_sides(first, second), first, second, words)
    if verdict == "alike":
        w = factor(_amount(finding, "ratio").within(), words, _word(words, "times"))
        return filled | {"pred": measure["alike"].format(w=w, **filled)}
    if verdict == "open":
        return filled | {"w": _within(_amount(finding, "ratio"), words)}
    if verdict not in ("less", "more"):
        quick, slow = (first, second) if values.get("quick", 0) == 0 else (second, first)
        return filled | {"quick": quick.side, "slow": slow.noun}
    over = _amount(finding, "ratio")
    told = ratio(over, words)
    more_is_better = phrases.MEASURES[finding["measure"]].get("better") == "more"
    best = "a" if (verdict == "more") == more_is_better else "b"
    value = _written(finding, best, words)
    if told.key not in measure:  # who has less of it is told of by who has more
        first, second = second, first
        told = ratio(over.inverse(), words)
        best = "b" if best == "a" else "a"
    filled = _sides(first, second)
    said = ""
    if words.lang == "ko":
        noun = (first if best == "a" else second).noun
        said = _word(words, "beside").format(side=noun, v=value)
    else:
        filled[best] = _beside(filled[best], value, words)
    return filled | {
        "pred": measure[told.key].format(n=told.n, i=told.interval, **filled),
        "value": said,
    }


def _written(finding: Finding, name: str, words: Words, spec: str = "") -> str:
    """Return a value as its measure is written."""
    measure = phrases.MEASURES[finding["measure"]]
    spec = f"{spec},int,bare" if "unit" in measure else spec
    written = number(_amount(finding, name), words, spec)
    return str(measure.get("unit", "{v}")).format(v=written)


def _beside(side: str, value: str, words: Words) -> str:
    """Return a side with its value in the one parenthesis that it may have."""
    for close in (")", "）"):
        if side.endswith(close):
            return f"{side[:-1]}{_word(words, ', ')}{value}{close}"
    return _word(words, "beside").format(side=side, v=value)


def _counted(words: Words, name: str, count: int) -> str:
    """Return a phrase for a number of things: without any, with one, with several."""
    if count in (0, 1):
        return str(SENTENCES["word"][words.lang].get(f"{name}{count}", "")).format(n=count)
    return _word(words, name).format(n=count)


def listed(sides: Sequence[phrases.Levels], words: Words) -> str:
    """Return the names of sides, of many the first."""
    names = [phrases.name(side, words) for side in sides]
    said = _word(words, ", ").join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    if more <= 0:
        return said
    return said + _counted(words, "more", more if words.lang == "en" else len(names))


def _fastest(finding: Finding, words: Words, measure: Any, put: Filled) -> Filled:
    values = finding["values"]
    if finding["verdict"] == "few":
        return {}
    states = {
        "busy": _word(words, "busy") if values["busy"] else "",
        "fast": number(_amount(finding, "fast"), words),
        "slow": number(_amount(finding, "slow"), words),
    }
    return _ranked(finding, words, "others", ("longer", "as_long")) | states


def _cheapest(finding: Finding, words: Words, measure: Any, put: Filled) -> Filled:
    if finding["verdict"] == "few":
        return {}
    return _ranked(finding, words, "dearer", ("more_of", "as_much"))


def _ranked(finding: Finding, words: Words, others: str, forms: tuple[str, str]) -> Filled:
    """Return the first of a ranking and who is next: by so many per cent (`forms`), or times."""
    sides, values = finding["sides"], finding["values"]
    first = phrases.side(sides[0], words)
    filled = {
        "a": first.side if words.lang != "zh" else phrases.name(sides[0], words),
        "a이": first.side,
        "a_name": phrases.name(sides[0], words),
        "v": number(_amount(finding, "best"), words, "interval"),
        "rest": listed(sides[1:], words),
        "others": _counted(words, others, values["slower"]),
        "w": _within(_amount(finding, "within"), words) if "within" in values else "",
    }
    if "next" in values:
        told = ratio(_amount(finding, "ratio"), words)
        by_share = told.key.endswith("pct")
        longer = _word(words, forms[0] if by_share else forms[1]).format(n=told.n)
        filled |= {
            "next": phrases.name(values["next"], words),
            "longer": longer,
            "i": told.interval,
        }
        if words.lang == "ko" and by_share:  # the interval stands behind its number
            filled |= {"longer": f"{told.n}{told.interval} 더", "i": ""}
    return filled


def _effect(finding: Finding, words: Words, measure: Any, put: Filled) -> Filled:
    values = finding["values"]
    first, second = (phrases.side(side, words) for side in finding["sides"])
    filled = _sides(first, second)
    if finding["verdict"] in ("alike", "open", "few", "state"):
        filled = _nouns(filled, first, second, words)
    case, within = CASES.get(values["by"], ("other", "in"))
    filled |= {name: str(values[name]) for name in ("all", "more", "less")}
    words_of = SENTENCES["word"][words.lang]
    cases = _word(words, case)
    filled |= {"cases": cases, "cases_of": cases, "through": words_of.get(within, "")}
    filled |= {"more_verb": measure["longer"], "less_verb": measure.get("takes_shorter", "")}
    for way, name in ((w, n) for w in ("more", "less") for n in ("most", "least")):
        if f"{way}_{name}" in values:
            levels, plain = values[f"{way}_{name}"]
            filled[f"{way}_{name}"] = _whose(levels, Amount.read(plain), words, measure)
    for way in ("more", "less"):
        most = filled.get(f"{way}_most", "")
        several = _word(words, "up_to").format(v=most)
        filled[f"{way}_up_to"] = most if values[way] == 1 else several
    filled["same"] = number(Amount(values["same"], "share"), words, "pct,int")
    left = values["all"] - values["more"] - values["less"]
    filled["rest"] = _counted(words, "rest", left) if left else ""
    return filled


def _much(over: Amount, words: Words, measure: Any) -> str:
    told = ratio(over, words)
    form = {"more": "times", "less": "fast", "more_pct": "pct", "less_pct": "pct_less"}[told.key]
    return str(measure[form]).format(n=told.n) + told.interval


def _whose(levels: phrases.Levels, over: Amount, words: Words, measure: Any) -> str:
    whose = phrases.topic(levels, words).plain if "op" in levels else phrases.name(levels, words)
    others = {factor: level for factor, level in levels.items() if factor != "backend"}
    if "op" not in levels and "backend" in levels and others:
        whose += _word(words, ", ") + phrases.side(others, words).noun
    return _word(words, "whose").format(ratio=_much(over, words, measure), name=whose)


def _reach(finding: Finding, words: Words, measure: Any, put: Filled) -> Filled:
    first, second = (phrases.side(side, words) for side in finding["sides"])
    values = finding["values"]
    filled = _sides(first, second)
    if finding["verdict"] == "open":
        filled = _nouns(filled, first, second, words)
    verbs = measure["longer"], measure.get("takes_shorter", measure.get("shorter", ""))
    if words.lang == "ko":
        verbs = measure["longer_is"], measure["shorter_is"]
    verb, back = verbs if values["way"] == "more" else verbs[::-1]
    filled |= {"verb": verb, "back": back, "x": escaped(words.label(values["x"]).lower())}
    for name in ("at_first", "at_last", "at_next"):
        if name in values:
            filled[name] = _much(Amount.read(values[name]), words, measure)
    for name in ("first", "last", "next"):
        if name in values:
            filled[name] = phrases.named(values["x"], values[name], words)
    return filled


def _spread(finding: Finding, words: Words, measure: Any, put: Filled) -> Filled:
    values = finding["values"]
    filled = {}
    for name in ("least", "most"):
        levels, plain = values[name]
        filled[name] = number(Amount.read(plain), words)
        filled[f"{name}_name"] = phrases.name(levels, words)
    if words.lang == "en":
        filled["least"] = measure["value"].format(v=filled["least"])
    return filled


def _value(finding: Finding, words: Words, measure: Any, put: Filled) -> Filled:
    written = _written(finding, "value", words, "interval")
    return {"v": measure["value"].format(v=written, **put)}


FILLS: dict[str, Callable[[Finding, Words, Any, Filled], Filled]] = {
    "compare": _compared,
    "fastest": _fastest,
    "cheapest": _cheapest,
    "effect": _effect,
    "reach": _reach,
    "spread": _spread,
    "value": _value,
}
