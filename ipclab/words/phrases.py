"""Levels, operations and topics as they stand in a sentence (`phrases.toml`)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ipclab.paths import table_beside
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.filling import escaped
from ipclab.words.numbers import trimmed
from ipclab.words.words import Words

KILO = 1000  # bytes, from which their unit is chosen
FINALS = 28  # ends that a Korean syllable may have; the first is none
TABLE = table_beside(__file__, "phrases.toml")
MEASURES = TABLE["measure"]
LEVELS = TABLE["level"]
_TIGHT = re.compile(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%\]])(?=[\u4e00-\u9fff])")
_SPLIT = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
_ARTICLE = re.compile(r"^(a|an|one) ")
CLOSE = "python", "size_bytes", "object", "backend", "placement"  # in Chinese by the operation
Levels = Mapping[str, Any]


class SideForms(NamedTuple):
    """What tells a side from the other: alone, as a side, and (Korean) before 보다."""

    noun: str
    side: str
    than: str


def named(factor: str, level: Any, words: Words) -> str:
    """Return how a level is written in a sentence, as Markdown."""
    if factor == "size_bytes":
        size = int(level)
        spec = labels.spec(factor, size) or ("scaled" if size >= KILO else "")
        return trimmed(words.numbers.format(Quantity(size, "B"), spec))
    if factor == "since":
        return words.numbers.format(Quantity(float(level), "ns"))
    return escaped(words.level(factor, level))


def _forms(factor: str, level: Any, words: Words) -> list[str]:
    """Return the forms of a level; one that has none is told as `factor = level`."""
    known = LEVELS.get(factor, {})
    if isinstance(level, float) and level.is_integer():
        level = int(level)
    key = str(level).lower() if isinstance(level, bool) else str(level)
    entry = known.get(key, known.get("*"))
    written = named(factor, level, words)
    if entry is not None:
        return [form.replace("{}", written) for form in entry[words.lang]]
    told = f"{escaped(words.label(factor))} = {written}"
    if words.lang == "ko":
        return [f"{told}인", told, f"{told}일 때", f"{told}일 때보다"]
    if words.lang == "zh":
        return [told, f"{told} 时"]
    return [f"with {told}", f"with {told}"]


def side(levels: Levels, words: Words) -> SideForms:
    """Return what tells a side from the other: by one level, a mechanism in brackets behind it."""
    names = _in_order([name for name in levels if name != "backend"] or levels, words.lang)
    parts = [_forms(name, levels[name], words) for name in names]
    inside = ""
    if "backend" in levels and "backend" not in names:
        brackets = {"zh": "（{}）", "ko": "({})"}.get(words.lang, " ({})")
        inside = brackets.format(named("backend", levels["backend"], words))
    if words.lang == "ko":
        noun = "·".join(part[1] for part in parts) + inside
        if inside:  # a kind with its mechanism takes the particles of a mechanism
            return SideForms(
                noun, *(form.replace("{}", noun) for form in LEVELS["backend"]["*"]["ko"][2:])
            )
        return SideForms(noun, *(" ".join(part[place] for part in parts) for place in (2, 3)))
    said = ("、" if words.lang == "zh" else " ").join(part[1] for part in parts) + inside
    if words.lang == "en":
        return SideForms(said, said, said)
    # a level is a side with 时 behind it, and alone without
    noun = "、".join(part[1].removesuffix("时").rstrip() for part in parts) + inside
    return SideForms(noun, said, said)


def with_and(said: str) -> str:
    """Return Korean with 과 behind a closed last syllable, else 와."""
    closed = "가" <= said[-1] <= "힣" and (ord(said[-1]) - ord("가")) % FINALS
    return f"{said}{'과' if closed else '와'}"


def _in_order(names: Iterable[str], lang: str) -> list[str]:
    """Return factors as a sentence names them; one that has no place stands before the last."""
    order = TABLE["order"][lang]
    return sorted(names, key=lambda each: order.index(each) if each in order else len(order) - 1)


def name(levels: Levels, words: Words) -> str:
    """Return what one of several is called: its mechanism or way, else what tells it apart."""
    for factor in ("way", "backend"):
        if factor in levels:
            return named(factor, levels[factor], words)
    return side(levels, words).noun


class Topic(NamedTuple):
    """What all sides share, with the operation: as a subject, and with Korean particles."""

    plain: str
    with_topic: str
    with_subject: str


def topic(levels: Levels, words: Words) -> Topic:
    """Return what is compared: the operation, at the levels that all sides share."""
    lang = words.lang
    op = str(levels.get("op") or "round-trip")
    forms = TABLE["op"].get(op, TABLE["op"]["*"])[lang]
    called = escaped(words.label(op))  # in the forms of what has none of its own
    metric = TABLE["of"].get(levels.get("metric"), {})
    names = _in_order([each for each in levels if each != "op"], lang)
    parts = {each: form for each in names if (form := _forms(each, levels[each], words)[0])}
    if lang == "ko":
        forms = [form.replace("{}", called) for form in forms]
        if metric:
            forms = [form.format(forms[0]) for form in metric["ko"]]
        lead = " ".join(parts.values())
        return Topic(*(f"{lead} {form}".strip() for form in forms))
    subject = forms.replace("{}", called)
    if lang == "en":
        if metric:
            subject = metric["en"].format(_ARTICLE.sub("", subject))
        said = " ".join([subject, *parts.values()])
    else:
        close = " ".join(parts.pop(each) for each in CLOSE if each in parts)
        lead = "、".join(parts.values())
        said = (f"{lead}的" if lead else "") + close + subject
        said = metric["zh"].format(said) if metric else said
    return Topic(said, said, said)


def spaced(text: str) -> str:
    """Return Chinese with a space between Han and Latin letters or digits, none elsewhere."""
    text = _SPLIT.sub("", re.sub(r" {2,}", " ", _TIGHT.sub(" ", text)))
    return re.sub(r" ?([：，；。（）、]) ?", r"\1", text)
