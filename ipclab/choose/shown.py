"""An answer for readers of one language: a sentence, and frames that a notebook or a terminal shows as tables."""

from html import escape
from math import isfinite
from typing import Any

import pandas as pd

from ipclab.choose.answer import ANSWERED, EXCLUDED, GUESS, NOTHING, UNMEASURED, WORSE, Answer
from ipclab.choose.need import MUSTS
from ipclab.choose.promises import DROPS, ENDLESS, SERVED, SILENT, STUCK, TORN, WAITS
from ipclab.lab.catalogue import N_
from ipclab.lab.data import DASH, Data
from ipclab.stats.compare import FASTER, NOT_TESTED, SAME
from ipclab.stats.compare import UNDECIDED as NOT_SHOWN
from ipclab.stats.quantity import Quantity

SHOWN = 8  # mechanisms of which more is told than their time
EVIDENCE = {
    **{"": N_("the fastest"), SAME: N_("shown to be the same"), WORSE: N_("shown to be slower")},
    **{NOT_SHOWN: N_("not told apart"), NOT_TESTED: N_("too few launches to tell")},
    FASTER: N_("shown to be faster in the rounds that both have"),  # while over all of them its median is not the least
}
WHY = {
    **{"deadline": N_("deadline"), "rate": N_("rate"), "cpus": N_("CPUs"), "no-loss": N_("no loss")},
    **{"survives-writer-crash": N_("survives a crash of the writer"), "no-daemon": N_("no daemon")},
    **{"other-languages": N_("other languages"), "across-hosts": N_("across hosts"), "no-root": N_("no root")},
    "a message reaches one consumer": N_("a message reaches one consumer"),
    "every message reaches all": N_("every message reaches all"),
}
CRASH = {
    **{SERVED: N_("readers are told, or keep the last content"), TORN: N_("torn content is read")},
    **{SILENT: N_("readers are not told"), STUCK: N_("a new writer reaches nobody")},
}
FULL = {WAITS: N_("the sender waits"), DROPS: N_("messages are dropped"), ENDLESS: N_("no end of room was seen")}
CHANGE = {
    "rate": N_("a rate above this"),
    "deadline": N_("a deadline below this"),
    "cpus": N_("a budget below so many CPUs"),
}
ASKED = {
    **{"size": N_("size"), "way": N_("way"), "rate": N_("messages a second"), "consumers": N_("consumers")},
    **{"sharing": N_("a message is for"), "placement": N_("placement"), "work_us": N_("work of a consumer")},
    **{
        "deadline_us": N_("deadline"),
        "quantile": N_("at the quantile"),
        "cpus": N_("CPUs at most"),
        "must": N_("must"),
    },
}
LEVELS = {
    **{"one-way": N_("one way"), "round-trip": N_("asked and answered"), "state": N_("shared state")},
    **{"each": N_("each consumer"), "one": N_("one of the consumers")},
}


def verdict(lab: Data, found: Answer) -> str:
    """Return the answer in a sentence or two."""
    names, told = (
        lab.joined([lab.level("backend", name) for name in found.best]),
        {"launches": lab.numbers.number(found.launches, 0)},
    )
    told["seconds"] = lab.numbers.format(Quantity(found.seconds * 1e9, "ns"))
    if found.state == NOTHING:
        return lab.say(N_("No mechanism fits: each was shown to miss something that the need demands."))
    if found.state == ANSWERED and len(found.best) == 1:
        return lab.say(N_("Take {names}: every other mechanism that fits was shown to be slower."), names=names)
    if found.state == ANSWERED:
        return lab.say(N_("Take one of {names}: they were shown to be the same, the others to be slower."), names=names)
    none = lab.say(N_("Undecided: of what may fit, nothing has been measured."))
    begin = lab.say(N_("Undecided; among the best so far: {names}."), names=names) if found.best else none
    if isfinite(found.launches):
        end = lab.say(N_("About {launches} launches more would decide, in some {seconds}."), **told)
    else:
        end = lab.say(N_("No number of launches decides it: something that the need demands was not measured."))
    return f"{begin} {end}"


def asked(lab: Data, found: Answer) -> pd.DataFrame:
    """Return what was asked, without what was left open."""
    need = found.need.told() | {"size": None, "deadline_us": None, "work_us": None}
    sizes = [
        (Quantity(size, "B" if found.need.sized == "size_bytes" else "count"), share)
        for size, share in found.need.size.items()
    ]
    shares = [
        f"{lab.numbers.format(size)} ({lab.numbers.format(Quantity(share, 'share'))})"
        if share < 1
        else lab.numbers.format(size)
        for size, share in sizes
    ]
    need["size"] = lab.joined(shares)
    for name in ("deadline_us", "work_us"):
        need[name] = (
            lab.numbers.format(Quantity(getattr(found.need, name) * 1e3, "ns")) if getattr(found.need, name) else None
        )
    need |= {"rate": lab.numbers.number(found.need.rate, 0) if found.need.rate else lab.say(N_("closed loop"))}
    need |= {"must": lab.joined([lab.say(WHY[name]) for name in found.need.must])}
    need["quantile"] = f"p{found.need.quantile * 100:g}" if found.need.deadline_us else None
    need["sharing"] = need["sharing"] if found.need.consumers > 1 else None
    rows = [(lab.say(word), _level(lab, name, need[name])) for name, word in ASKED.items() if need[name]]
    return pd.DataFrame(rows, columns=[lab.say(N_("Asked")), lab.say(N_("Value"))])


def ranking(lab: Data, found: Answer) -> pd.DataFrame:
    """Return the mechanisms that were not excluded, the best first: time, ratio to the fastest, load, evidence."""
    rows = []
    for row in found.rows[found.rows.status != EXCLUDED].to_dict("records"):
        told = row["value"] if row["status"] != UNMEASURED else row["estimate"]
        evidence = N_("not measured") if row["status"] == UNMEASURED else EVIDENCE[row["verdict"] or ""]
        rows.append(
            {
                **{"mechanism": row["backend"], "evidence": lab.say(evidence), "time": _marked(lab, told)},
                **{
                    "ratio": _ratio(lab, row["ratio"]),
                    "cpus": _bare(lab, row["cpus"]),
                    "limit": _bare(lab, row["limit"]),
                },
                "launches": int(row["launches"]) or None,
            }
        )
    heads = {
        **{"mechanism": N_("Mechanism"), "evidence": N_("Verdict"), "time": N_("Time")},
        **{"ratio": N_("× fastest"), "cpus": N_("CPUs busy"), "limit": N_("× limit"), "launches": N_("Launches")},
    }
    return _headed(lab, rows, heads)


def promises(lab: Data, found: Answer) -> pd.DataFrame:
    """Return what was measured of each mechanism that was not excluded beside its time."""
    rows = [
        {
            **{
                "mechanism": row["backend"],
                "keeps_up": lab.numbers.format(row["keeps_up"], "int,bare,interval") if row["keeps_up"] else None,
                "quantile": _marked(lab, row["quantile"]),
            },
            "lost": None if row["lost"] is None or row["lost"] != row["lost"] else int(row["lost"]),
            "full": lab.say(FULL[row["full"]]) if row["full"] else None,
            "crash": lab.say(CRASH[row["crash"]]) if row["crash"] else None,
            "open": lab.joined([_demand(lab, name) for name in row["open"]]) or None,
        }
        for row in found.rows[found.rows.status != EXCLUDED].head(SHOWN).to_dict("records")
    ]
    heads = {
        **{"mechanism": N_("Mechanism"), "keeps_up": N_("Messages a second at most")},
        **({"quantile": N_("At the quantile")} if found.need.deadline_us else {}),
        **{
            "lost": N_("Lost"),
            "full": N_("When nobody receives"),
            "crash": N_("When the writer is killed"),
            "open": N_("Not shown"),
        },
    }
    return _headed(lab, rows, heads)


def excluded(lab: Data, found: Answer) -> pd.DataFrame:
    """Return the mechanisms that do not fit, and why."""
    rows: dict[str, list[str]] = {}
    for row in found.rows[found.rows.status == EXCLUDED].to_dict("records"):
        why = lab.joined([_demand(lab, name) for name in row["why"]])
        rows[why] = [*rows.get(why, []), row["backend"]]
    told = [{"why": why, "mechanisms": lab.joined(names)} for why, names in rows.items()]
    return _headed(lab, told, {"why": N_("Excluded by"), "mechanisms": N_("Mechanisms")})


def changes(lab: Data, found: Answer) -> pd.DataFrame:
    """Return what would change the answer: relaxed demands, limits of the first, and sizes from which another wins."""
    rows = []
    for row in found.changes.to_dict("records"):
        kind, _, names = row["change"].partition(":")
        if names:
            said = lab.say(
                N_("without this demand: {names}"), names=lab.joined([_demand(lab, name) for name in names.split(",")])
            )
            gain = {"backend": row["backend"], "ratio": _ratio(lab, row["amount"])}
            rows.append({"change": said, "then": lab.say(N_("{backend} takes {ratio} of the time"), **gain)})
        else:
            rows.append({"change": lab.say(CHANGE[kind]), "then": lab.numbers.format(row["amount"], "interval")})
    for row in found.crossings.to_dict("records"):
        unit = "B" if found.need.sized == "size_bytes" else "count"
        low, high, about = (
            lab.numbers.format(
                Quantity(float(f"{row[name]:.2g}") if name == "about" else row[name], unit),
                "scaled" if unit == "B" else "",
            )
            for name in ("low", "high", "about")
        )
        between = lab.say(N_("a size between {low} and {high}, at about {about}"), low=low, high=high, about=about)
        then = lab.say(N_("above it {above}, below it {below}"), above=row["above"], below=row["below"])
        rows.append({"change": between, "then": then})
    return _headed(lab, rows, {"change": N_("What would change the answer"), "then": N_("How")})


def missing(lab: Data, found: Answer) -> pd.DataFrame:
    """Return the points that the run lacks, and what measuring them costs."""
    rows = [
        {
            **{"mechanism": name, "size": lab.joined([str(size) for size in part["size"]])},
            **{"launches": int(part.launches.sum()), "seconds": Quantity(part.seconds.sum() * 1e9, "ns")},
        }
        for name, part in found.missing.groupby("backend")
    ]
    heads = {"mechanism": N_("Mechanism"), "size": N_("Size"), "launches": N_("Launches"), "seconds": N_("Takes about")}
    return _headed(lab, rows, heads)


PARTS = (asked, ranking, promises, excluded, changes, missing)


def text(lab: Any, found: Answer) -> str:
    """Return the whole answer as text for a terminal."""
    tables = [lab.table(each(lab, found), "").to_frame() for each in PARTS]
    told = [table.to_string(index=False, justify="left") for table in tables if len(table)]
    return "\n\n".join([verdict(lab, found), *told])


def paragraph(told: str) -> str:
    """Return a sentence as HTML."""
    return f"<p>{escape(told)}</p>"


def _headed(lab: Data, rows: list[dict[str, Any]], heads: dict[str, str]) -> pd.DataFrame:
    """Return the rows with translated heads, without columns that are empty throughout."""
    made = pd.DataFrame(rows, columns=list(heads)).astype(object).where(lambda cells: cells.notna(), None)
    kept = [name for name in heads if made[name].map(lambda cell: cell is not None).any()]
    return made[kept].rename(columns={name: lab.say(word) for name, word in heads.items()}).fillna(DASH)


def _marked(lab: Data, told: Quantity | None) -> Any:
    """Return a time; one that was estimated is marked and has no interval."""
    if not told:
        return None
    return lab.numbers.format(told, "marked" if told.kind == GUESS else "interval")


def _bare(lab: Data, told: Quantity | None) -> str | None:
    return lab.numbers.format(told, "x" if told.unit == "1" else "") if told else None


def _demand(lab: Data, name: str) -> str:
    return lab.say(WHY[name]) if name in WHY else name


def _ratio(lab: Data, told: Quantity | None) -> str | None:
    if not told:
        return None
    whole = told.low is not None and isfinite(told.low)
    return lab.numbers.format(told, "x,interval" if whole else "x")


def _level(lab: Data, name: str, value: Any) -> str:
    if value in LEVELS:
        return lab.say(LEVELS[value])
    return lab.level(name, value) if name == "placement" else str(value)


assert set(MUSTS) <= WHY.keys()  # noqa: S101  every demand has words
