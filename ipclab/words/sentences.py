"""The sentence of a finding, in one language (`sentences.toml`).

A finding is data: its kind, verdict and measure, its topic (levels that all sides share), sides
(what tells each apart) and values, which are numbers (lists, see `amounts`) or levels of a side.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from ipclab.paths import table_beside
from ipclab.stats.quantity import Quantity
from ipclab.words import filling, labels, phrases
from ipclab.words.amounts import FACTOR, from_data, inverse, number, ratio
from ipclab.words.filling import escaped
from ipclab.words.words import Words

SENTENCES = table_beside(__file__, "sentences.toml")
MOST_NAMED = 3  # of several that are alike
FEW_WITHIN = 2.0  # a "within" beyond this factor tells nothing
UNTOLD = "alike", "open", "few", "state"  # verdicts by which Korean joins the sides with 와
# What is counted, by what tells one from another, and how a sentence says where.
CASES = {"backend": ("cases", "through"), "point": ("points", "at")}
# What the others of a ranking do, and who is next by so many per cent, or times.
RANKED = {"fastest": ("others", "longer", "as_long"), "cheapest": ("dearer", "more_of", "as_much")}
FindingData = Mapping[str, Any]
Filled = dict[str, str]


def sentence(finding: FindingData, words: Words) -> str:
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
        return from_data(plain)
    return words.joined(str(_value_of(each, words)) for each in plain)


def subject(finding: FindingData, words: Words) -> str:
    """Return what a finding is about: its topic and, of two sides, these."""
    about = phrases.topic(finding["topic"], words).plain
    sides = [phrases.side(side, words).noun for side in finding["sides"][:2]]
    colon = SENTENCES["page"][words.lang]["colon"]
    said = f"{about}{colon}{_word(words, 'or').join(sides)}" if sides else about
    return phrases.spaced(said) if words.lang == "zh" else said


def _word(words: Words, name: str, /, **put: Any) -> str:
    return str(SENTENCES["word"][words.lang][name]).format(**put)


def _counted(words: Words, name: str, count: int) -> str:
    """Return a phrase for a number of things: without any, with one, with several."""
    if count > 1:
        return _word(words, name, n=count)
    one = f"{name}{count}"
    return _word(words, one, n=count) if one in SENTENCES["word"][words.lang] else ""


def _amount(finding: FindingData, name: str) -> Quantity:
    return from_data(finding["values"][name])


def _of_both(finding: FindingData, words: Words) -> list[phrases.SideForms]:
    return [phrases.side(side, words) for side in finding["sides"]]


def _sides(sides: Sequence[phrases.SideForms], joined: bool = False) -> Filled:
    first, second = sides
    put = {"a": first.side, "b": second.side, "a이": first.side, "b보다": second.than}
    if not joined:
        return put
    a, b = (side.than.removesuffix("보다") for side in sides)  # to which 보다 is added, or 와
    return put | {"a와": phrases.with_and(a), "b": b}


def _alike(over: Quantity, words: Words) -> tuple[float, str]:
    """Return the factor that a ratio lies within, of either direction, and as text."""
    low, high = over.ends
    within = max(high, 1 / low if low > 0 else inf)
    if within < FACTOR:
        return within, number(Quantity(within - 1, "share"), words, "pct")
    return within, _word(words, "times", n=number(Quantity(within), words, "bare"))


def _within(over: Quantity, words: Words) -> str:
    within, said = _alike(over, words)
    return "" if within > FEW_WITHIN else _word(words, "within", w=said)


def _compared(finding: FindingData, words: Words, measure: Any, put: Filled) -> Filled:
    filled = _sides_compared(finding, words, measure)
    return filled | {"best": _word(words, "best") if finding["values"].get("best") else ""}


def _sides_compared(finding: FindingData, words: Words, measure: Any) -> Filled:
    sides = _of_both(finding, words)
    verdict, values = finding["verdict"], finding["values"]
    if verdict not in ("less", "more"):
        korean = words.lang == "ko"
        filled = _sides(sides, joined=korean)
        if verdict == "alike":
            _, w = _alike(_amount(finding, "ratio"), words)
            return filled | {"pred": measure["alike"].format(w=w, **filled)}
        if verdict == "open":
            return filled | {"w": _within(_amount(finding, "ratio"), words)}
        place = values.get("quick", 0)
        quick, slow = sides[place], sides[1 - place]
        return filled | {"quick": quick.noun if korean else quick.side, "slow": slow.noun}
    over = _amount(finding, "ratio")
    told = ratio(over, words)
    more_is_better = phrases.MEASURES[finding["measure"]].get("better") == "more"
    best = 0 if (verdict == "more") == more_is_better else 1
    value = _written(finding, "ab"[best], words)
    if told.key not in measure:  # who has less of it is told of by who has more
        sides.reverse()
        told = ratio(inverse(over), words)
        best = 1 - best
    filled = _sides(sides) | {"value": ""}
    if words.lang == "ko":
        filled["value"] = _word(words, "beside", side=sides[best].noun, v=value)
    else:
        filled["ab"[best]] = _beside(filled["ab"[best]], value, words)
    return filled | {"pred": measure[told.key].format(n=told.n, i=told.interval, **filled)}


def _written(finding: FindingData, name: str, words: Words, spec: str = "") -> str:
    """Return a value as its measure is written."""
    measure = phrases.MEASURES[finding["measure"]]
    spec = f"{spec},int,bare" if "unit" in measure else spec
    written = number(_amount(finding, name), words, spec)
    return str(measure.get("unit", "{v}")).format(v=written)


def _beside(side: str, value: str, words: Words) -> str:
    """Return a side with its value in the one parenthesis that it may have."""
    if side.endswith((")", "）")):
        return f"{side[:-1]}{_word(words, 'comma')}{value}{side[-1]}"
    return _word(words, "beside", side=side, v=value)


def listed(sides: Sequence[phrases.Levels], words: Words) -> str:
    """Return the names of sides, of many the first."""
    names = [phrases.name(side, words) for side in sides]
    said = _word(words, ", ").join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    if more <= 0:
        return said
    return said + _counted(words, "more", more if words.lang == "en" else len(names))


def _ranked(finding: FindingData, words: Words, measure: Any, put: Filled) -> Filled:
    """Return the first of a ranking and who is next."""
    if finding["verdict"] == "few":
        return {}
    sides, values = finding["sides"], finding["values"]
    others, more, times = RANKED[finding["kind"]]
    first, name = phrases.side(sides[0], words).side, phrases.name(sides[0], words)
    filled = {
        "a": name if words.lang == "zh" else first,
        "a이": first,
        "a_name": name,
        "v": number(_amount(finding, "best"), words, "interval"),
        "rest": listed(sides[1:], words),
        "others": _counted(words, others, values["slower"]),
        "w": _within(_amount(finding, "within"), words) if "within" in values else "",
        "busy": _word(words, "busy") if values.get("busy") else "",
    }
    for state in {"fast", "slow"} & values.keys():
        filled[state] = number(_amount(finding, state), words)
    if "next" in values:
        told = ratio(_amount(finding, "ratio"), words)
        by_share = told.key.endswith("pct")
        filled["next"] = phrases.name(values["next"], words)
        filled["longer"] = _word(words, more if by_share else times, n=told.n)
        filled["i"] = told.interval
        if words.lang == "ko" and by_share:  # the interval stands behind its number
            filled |= {"longer": f"{told.n}{told.interval} 더", "i": ""}
    return filled


def _effect(finding: FindingData, words: Words, measure: Any, put: Filled) -> Filled:
    values = finding["values"]
    joined = words.lang == "ko" and finding["verdict"] in UNTOLD
    filled = _sides(_of_both(finding, words), joined)
    filled |= {name: str(values[name]) for name in ("all", "more", "less")}
    case, within = CASES.get(values["by"], ("other", "in"))
    through = SENTENCES["word"][words.lang].get(within, "")
    filled |= {"cases": _word(words, case), "through": through}
    filled |= {"more_verb": measure["longer"], "less_verb": measure.get("takes_shorter", "")}
    for way in ("more", "less"):
        for name in (f"{way}_most", f"{way}_least"):
            if name in values:
                levels, over = values[name]
                filled[name] = _whose(levels, over, words, measure)
        most = filled.get(f"{way}_most", "")
        filled[f"{way}_up_to"] = most if values[way] == 1 else _word(words, "up_to", v=most)
    filled["same"] = number(Quantity(values["same"], "share"), words, "pct,int")
    left = values["all"] - values["more"] - values["less"]
    filled["rest"] = _counted(words, "rest", left) if left else ""
    return filled


def _much(over: Sequence[Any], words: Words, measure: Any) -> str:
    told = ratio(from_data(over), words)
    form = {"more": "times", "less": "fast", "more_pct": "pct", "less_pct": "pct_less"}[told.key]
    return str(measure[form]).format(n=told.n) + told.interval


def _whose(levels: phrases.Levels, over: Sequence[Any], words: Words, measure: Any) -> str:
    """Return a ratio with whose it is."""
    if "op" in levels:
        whose = phrases.topic(levels, words).plain
    else:
        whose = phrases.name(levels, words)
        others = {factor: level for factor, level in levels.items() if factor != "backend"}
        if "backend" in levels and others:
            whose += _word(words, "comma") + phrases.side(others, words).noun
    return _word(words, "whose", ratio=_much(over, words, measure), name=whose)


def _reach(finding: FindingData, words: Words, measure: Any, put: Filled) -> Filled:
    values = finding["values"]
    joined = words.lang == "ko" and finding["verdict"] == "open"
    filled = _sides(_of_both(finding, words), joined)
    verbs = measure["longer"], measure.get("takes_shorter", measure.get("shorter", ""))
    if words.lang == "ko":
        verbs = measure["longer_is"], measure["shorter_is"]
    verb, back = verbs if values["way"] == "more" else verbs[::-1]
    filled |= {"verb": verb, "back": back, "x": escaped(words.label(values["x"]).lower())}
    for name in {"first", "last", "next"} & values.keys():
        filled[name] = phrases.named(values["x"], values[name], words)
    for name in {"at_first", "at_last"} & values.keys():
        filled[name] = _much(values[name], words, measure)
    return filled


def _spread(finding: FindingData, words: Words, measure: Any, put: Filled) -> Filled:
    filled = {}
    for name in ("least", "most"):
        levels, value = finding["values"][name]
        filled[name] = number(from_data(value), words)
        filled[f"{name}_name"] = phrases.name(levels, words)
    if words.lang == "en":
        filled["least"] = measure["value"].format(v=filled["least"])
    return filled


def _value(finding: FindingData, words: Words, measure: Any, put: Filled) -> Filled:
    written = _written(finding, "value", words, "interval")
    return {"v": measure["value"].format(v=written, **put)}


FILLS: dict[str, Callable[[FindingData, Words, Any, Filled], Filled]] = {
    "compare": _compared,
    "fastest": _ranked,
    "cheapest": _ranked,
    "effect": _effect,
    "reach": _reach,
    "spread": _spread,
    "value": _value,
}
