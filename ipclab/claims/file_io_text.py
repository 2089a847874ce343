"""The file-reading text's own figures as facts, under the names that the run's facts have."""

from ipclab.facts.fact import Fact
from ipclab.facts.file_io_found import FACTORS, NEAR, PAGE
from ipclab.facts.named import published
from ipclab.studies.file_io.experiments import EXP_SMALL, USUAL, file_sets

SOURCE = "seed 004"
WIDE = 32 << 20
CASES = {"base": 4, "big": 4, "long": 4, "longest": 4}


def file_io_facts(rows: list[dict[str, str]]) -> dict[str, Fact]:
    """Return every printed number as `file_io.said.*`, and what follows from them under the run's names."""
    said: dict[str, Fact] = {}
    for row in rows:
        name = f"file_io.said.{row['label'].replace('+', '-')}.{row['quantity']}"
        said[name] = published(name, float(row["value_si"]), row["unit_si"], f"{SOURCE}, {row['section']}")
    return said | {fact.name: fact for fact in (*_derived(said), *_true(said))}


def _derived(said: dict[str, Fact]) -> list[Fact]:
    def text(label: str, quantity: str = "elapsed") -> float:
        return float(said[f"file_io.said.{label}.{quantity}"].value or 0)

    def best(*labels: str) -> float:
        return min(text(label) for label in labels)

    over = {case: 1 - text(f"serial.{case}.1R-3C") / text(f"serial.{case}.4SYNC") for case in CASES}
    threads = {n: 1 - text(f"serial.longest.1R-{n - 1}C") / text(f"serial.longest.{n}SYNC") for n in (5, 6, 7, 8)}
    large = [text(f"soon.exp-large.{count}RnC") for count in (1, 2, 4, 16)]
    read = text("map.page", "latency")
    faults = [text("map.page-mapped", end) / read for end in ("fault_low", "fault_high")]
    reads = ("map.exp-small.12RnC-12C", "map.exp-small.9RnC-15C", "map.exp-small.8RnC-16C")
    small = [best(*(f"map.exp-small.{n}SYNC" for n in (16, 24, 32))), best(*reads)]
    wide = [best(*(f"map.exp-large.{n}SYNC" for n in (8, 16, 24, 32)))]
    wide.append(best(*(f"map.exp-large.{n}RnC" for n in (4, 8, 16, 24))))
    many = [best(*(f"massive.{n}SYNC" for n in (8, 16, 24, 32, 48, 64))), best("massive.8RnC-8C", "massive.12RnC-12C")]
    values = {
        "overlap.read_ratio": text("overlap.overlapped") / text("overlap.serial", "corrected"),
        "overlap.cold.ratio": text("overlap.overlapped") / text("overlap.serial"),
        "serial.base.cold.ratio": 1 - over["base"],
        "call.linear": text(f"call.{WIDE}", "call") / text(f"call.{NEAR}", "call"),
        "call.open_growth": text(f"call.{WIDE}", "open") / text(f"call.{PAGE}", "open"),
        "flight.growth": text("flight.16RnC", "call_last") / text("flight.1RnC", "call_last"),
        "soon.small.cold.4-16": text("soon.exp-small.4RnC") / text("soon.exp-small.16RnC"),
        "soon.small.cold.16-32": text("soon.exp-small.16RnC") / text("soon.exp-small.32RnC"),
        **{
            f"soon.large.cold.{factor}.over_one": each / large[0]
            for factor, each in zip(FACTORS, large[1:], strict=True)
        },
        "roles.x2.mixed_over_rnc": text("roles.12RnC-12C") / text("roles.24RnC"),
        "map.small.cold.ratio": small[0] / small[1],
        "map.small.warm.ratio": small[0] / small[1],
        "map.large.cold.ratio": wide[0] / wide[1],
        "massive.rnc_over_mixed": text("massive.16RnC") / text("massive.8RnC-8C"),
        "massive.cold.ratio": many[0] / many[1],
    }
    shares = {
        **{f"serial.{case}.cold.gain": value for case, value in over.items()},
        "serial.growth": over["big"] - over["base"],
        **{f"serial.step.{n}": threads[n] - threads[n - 1] for n in (6, 7, 8)},
        "states.execution.more": text("serial.base.1R-3C", "execution") - text("serial.base.4SYNC", "execution"),
        "states.io_wait.more": text("serial.base.1R-3C", "io_wait") - text("serial.base.4SYNC", "io_wait"),
    }
    page = Fact("file_io.fault.4k.cold.over_read", sum(faults) / 2, "1", "", faults[0], faults[1], "published", SOURCE)
    found = [published(f"file_io.{name}", value, "1", SOURCE) for name, value in values.items()]
    return [*found, *(published(f"file_io.{name}", value, "share", SOURCE) for name, value in shares.items()), page]


def _true(said: dict[str, Fact]) -> list[Fact]:
    """Return what the text should have printed."""

    def text(name: str) -> float:
        return float(said[f"file_io.said.{name}"].value or 0)

    five = text("serial.longest.5SYNC.elapsed") - text("serial.longest.1R-4C.elapsed")
    small = file_sets("full")["exp-small"].size.expected() * EXP_SMALL[-1]
    values = {
        "compute_mean": (USUAL.mean, "ns"),
        "divisor": (1024, "count"),
        "bytes": (text("massive.files") * PAGE, "B"),
        "five": (5, "count"),
        "five_delta": (five, "ns"),
        "small_bytes": (round(small), "B"),
        "page": (PAGE, "B"),
    }
    return [Fact(f"file_io.true.{name}", value, unit, kind="computed") for name, (value, unit) in values.items()]
