"""The shared dictionary's facts, tables, figures and claims, on a made-up run and on the text's own table."""

import csv
import datetime as dt
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ipclab.claims import shared_dict as claims
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, Claim, judge
from ipclab.claims.published import texts
from ipclab.facts import shared_dict
from ipclab.facts.comparisons import Contest, contests, entries
from ipclab.facts.derive import derived
from ipclab.facts.fact import Fact
from ipclab.facts.rows import Rows, tidy
from ipclab.facts.shared_dict_levels import PUBLISHED, codec_question, contest, lmdb_question, question
from ipclab.facts.shared_dict_says import EACH, ORDERS, TOTAL
from ipclab.facts.summaries import READ, SUMMARIES, THROUGHPUT, WRITE, summaries
from ipclab.figures.registry import draw
from ipclab.figures.shared_dict_drawings import DRAWINGS
from ipclab.paths import Paths
from ipclab.lab.catalogue import LANGUAGES, Catalogue
from ipclab.lab.numbers import Formatter
from ipclab.store import run as folder
from ipclab.store.files import sha256
from ipclab.store.samples import Measured, encode
from ipclab.tables import registry as tables
from ipclab.tables.shared_dict_choice import USES
from ipclab.view import View
from tests.commands import ROOT
from tests.made import make_launch
from tests.shared_dict_made import BYTES, ENTRIES, measured, point, points

TEXT = texts(Paths(ROOT))
TABLES = [name for name in tables.TABLES if name.startswith("shared-dict")]
ON_OWN_TABLE = {
    **{"1.1": HOLDS, "1.2": HOLDS, "1.2b": FAILS, "1.3": HOLDS, "1.4": HOLDS, "1.5": NOT_TESTABLE, "1.6": FAILS},
    **dict.fromkeys(("1.7", "1.8", "1.9"), NOT_TESTABLE),
}


class Made:
    """Rows, contests and facts of measured points."""

    def __init__(self, found: Sequence[Measured]) -> None:
        """Derive them."""
        self.rows = tidy(found)
        self.contests: list[Contest] = contests([entry for each in found for entry in entries(each)])
        self.facts = {fact.name: fact for fact in shared_dict.facts(self.rows, self.contests)}

    def view(self, lang: str = "en") -> View:
        """Return the view of a reader of `lang`."""
        words = Catalogue.load(lang)
        facts = self.facts | {f"text.{name}": fact for name, fact in TEXT.items()}
        numbers = Formatter(lang, words.translate)
        return View(lang, {"id": "made"}, facts, self.rows, words, numbers, Path(), self.contests)

    def value(self, name: str) -> float:
        """Return a fact's number."""
        value = self.facts[f"shared_dict.{name}"].value
        assert isinstance(value, int | float), name
        return float(value)


@pytest.fixture(scope="module")
def made() -> Made:
    """The whole made-up run."""
    return Made([measured(each) for each in points()])


NOTHING = Made([])


def test_facts_have_unique_names_and_no_invented_value(made: Made) -> None:
    every = list(shared_dict.facts(Rows(), []))
    assert len({fact.name for fact in every}) == len(every)
    assert {fact.kind for fact in every if fact.value is not None} == {"computed"}
    assert {fact.name for fact in every} == set(made.facts)
    absent = {name for name, fact in made.facts.items() if fact.value is None}
    assert not {name for name in absent if name.startswith("shared_dict.says.")}


def test_three_hundred_messages_are_not_one(made: Made) -> None:
    zmq, shm = (f"published.{backend}" for backend in ("zmq-push", "shared-memory"))
    assert [made.value(f"{stem}.messages.largest") for stem in (zmq, shm)] == [300, 1]
    assert made.value(f"{zmq}.per_message.largest") == made.value(f"{zmq}.write.largest") / 300
    assert made.value(f"{shm}.per_message.largest") == made.value(f"{shm}.write.largest")
    assert made.value(f"{shm}.per_read.largest") == made.value(f"{shm}.write.largest") / 300
    assert made.value("published.slower.largest") > 90
    assert made.value("published.message_slower.largest") < 1.1
    assert made.value(f"{shm}.reads.largest") == 100
    assert made.facts["shared_dict.says.total"].value == TOTAL[0]


def test_shares_are_of_the_sum_of_both_parts(made: Made) -> None:
    for op, parts in (("write", ("encode", "transport")), ("read", ("decode", "transport"))):
        found = [made.facts[f"shared_dict.share.{op}.{part}.lmdb.small"] for part in parts]
        assert sum(float(str(fact.value)) for fact in found) == pytest.approx(1)
        assert all(fact.high is not None and fact.high <= 1 for fact in found)


def test_bytes_are_those_of_the_points(made: Made) -> None:
    names = ("small", "medium", "large", "largest")
    assert [made.value(f"bytes.pickle.{name}") for name in names] == list(BYTES["pickle"])
    assert made.value("bytes_per_entry.pickle.large") == 55.039
    assert made.facts["shared_dict.bytes.pickle.huge"].value is None


def published(backend: str, total: int, later: int, read: int, at: int = 10_000) -> Measured:
    """Return a published point whose launches are all alike but for a nanosecond each."""
    launches = [
        make_launch(
            *((), None),
            write=[later + i] * 30,
            **{"write-total": [total + i], "read": [read + i] * 300, "read-total": [100 * read] * 3},
            read__transport=[read // 10] * 300,
            read__decode=[read - read // 10] * 300,
        )
        for i in range(7)
    ]
    for launch in launches:
        launch.facts = {"reads": 300, "messages": 30}
    return Measured(point("published", backend, at, 3), launches, "precise")


@pytest.mark.parametrize(("message", "told"), [(20_000, 0), (5_000, 1), (10_002, 2)])
def test_the_sentence_on_one_message_follows_the_data(message: int, told: int) -> None:
    zmq = published("zmq-push", 300 * message, message, 1_000)
    found = Made([published("shared-memory", 40_000, 10_000, 1_000), zmq])
    assert found.facts["shared_dict.says.each"].value == EACH[told]


@pytest.mark.parametrize(("large", "largest", "told"), [(900, 9_000, 1), (900, 11_000, 0), (1_000, 9_000, 2)])
def test_the_sentence_on_the_order_of_two_follows_the_data(large: int, largest: int, told: int) -> None:
    shm = [published("shared-memory", 1_000, 100, read, at) for read, at in ((1_000, 1_000), (10_000, 10_000))]
    lmdb = [published("lmdb", 1_000, 100, read, at) for read, at in ((large, 1_000), (largest, 10_000))]
    assert Made([*shm, *lmdb]).facts["shared_dict.says.orders"].value == ORDERS[told]


def test_contests_keep_conditions_apart_and_codecs_together(made: Made) -> None:
    many = contest(made.contests, "read", question("read-many", 3, 1_000))
    assert many
    assert sorted([many.fastest, *many.others]) == sorted(
        ["lmdb", "shared-memory", "posix-shm", "mpi-window", "zmq-pub", "mpi-bcast"]
    )
    codecs = contest(made.contests, "read", codec_question("posix-shm", 3))
    assert codecs
    assert (codecs.fastest, codecs.size_bytes, sorted(codecs.others)) == ("fixed", 0, ["json", "msgpack", "pickle"])
    durable = contest(made.contests, "write", lmdb_question("on", 3))
    assert durable
    assert sorted([durable.fastest, *durable.others]) == ["lmdb default", "lmdb writemap"]
    assert contest(made.contests, "read", question("read-many", 7, 1_000)) is None


def test_the_choice_follows_the_contests(made: Made) -> None:
    rows = tables.make(made.view(), "shared-dict-choice").rows
    assert len(rows) == len(USES) + 1
    use = USES[0]
    found = contest(made.contests, use.op, use.about(3))
    assert found
    assert rows[0][1].startswith(f"{', '.join(found.tied())} (")
    assert rows[0][2] == ", ".join(name for name in found.others if name not in found.tied())
    assert rows[0][2]
    assert rows[2][1].startswith("undecided (")
    assert rows[2][2] == "none"
    assert made.facts["shared_dict.fastest.read.largest"].value == "undecided"
    assert made.facts["shared_dict.fastest.read.small"].value == ", ".join(found.tied())
    empty = tables.make(NOTHING.view(), "shared-dict-choice").rows
    assert {row[1] for row in empty} == {"–", "not measured in this run"}


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_a_row_for_each_point(made: Made, name: str) -> None:
    assert all(tables.make(NOTHING.view(lang), name).caption for lang in LANGUAGES)
    table = tables.make(made.view("zh"), name)
    counts = {"shared-dict-main": 24, "shared-dict-stream": 42, "shared-dict-live": 8, "shared-dict-codecs": 8}
    counts |= {"shared-dict-write": 12, "shared-dict-read": 12, "shared-dict-lmdb": 4, "shared-dict-claims": 10}
    counts |= {"shared-dict-shares": 24, "shared-dict-throughput": 12, "shared-dict-readers": 10}
    assert len(table.rows) == counts.get(name, len(USES) + 1)


@pytest.mark.parametrize("name", DRAWINGS)
def test_figures_are_drawn_with_and_without_data(made: Made, name: str) -> None:
    assert "<svg" in draw(NOTHING.view(), name, None).svg
    full = draw(made.view("ko"), name, None)
    assert "<svg" in full.svg
    assert "{" not in full.alt + full.caption


def test_the_summaries_are_the_same_bytes_and_in_seconds() -> None:
    rows = tidy([published("zmq-push", 600_000_000, 2_000_000, 1_000_000)])
    found = summaries(rows)
    assert tuple(found) == SUMMARIES
    write, read, throughput = (dict(zip(head, lines[0], strict=True)) for head, lines in found.values())
    assert [len(lines) for _, lines in found.values()] == [1, 1, 1]
    assert {name: write[name] for name in ("backend", "data_size", "readers", "messages", "launches")} == {
        "backend": "zmq-push", "data_size": 10_000, "readers": 3, "messages": 300, "launches": 7,
    }  # fmt: skip
    assert write["write_time_s"] == 0.600000003  # the median of seven launches, a nanosecond apart
    assert write["write_time_per_message_s"] == 0.00200000001
    assert read["avg_read_time_s"] == 0.001000003
    assert (read["read_count"], throughput["reads_per_second"]) == (300, 1_000)
    assert throughput["reads_per_second_all_readers"] == 3_000
    assert found == summaries(tidy([published("zmq-push", 600_000_000, 2_000_000, 1_000_000)]))
    assert [(head, lines) for head, lines in summaries(Rows()).values()] == [(WRITE, []), (READ, []), (THROUGHPUT, [])]


def test_a_run_without_its_summaries_is_derived_again(paths: Paths) -> None:
    machine = {"digest": "m", "facts": {}, "reasons": {}}
    about = {"parameters": {"profile": "smoke"}, "seed": 1, "machine": machine, "sessions": [], "points": {}}
    run = folder.create(paths.runs, "m", about, dt.datetime.now(dt.UTC))
    found = published("lmdb", 10_000, 1_000, 1_000)
    run.add(found.point, encode(found))
    assert derived(run, paths) == run.path
    tables_before = {name: (run.path / name).read_bytes() for name in SUMMARIES}
    assert all(content.startswith(b"backend,data_size,readers,") for content in tables_before.values())
    assert all(run.about["files"][name] == sha256(run.path / name) for name in SUMMARIES)
    (run.path / SUMMARIES[0]).write_bytes(b"altered")
    (run.path / SUMMARIES[1]).unlink()
    derived(run, paths)
    assert {name: (run.path / name).read_bytes() for name in SUMMARIES} == tables_before


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_texts_own_table(claim: Claim) -> None:
    own = NOT_TESTABLE if claim.unstated else judge(claim, TEXT).word
    assert own == ON_OWN_TABLE[claim.id]
    assert judge(claim, {}).word == NOT_TESTABLE


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_decided_by_a_whole_run(made: Made, claim: Claim) -> None:
    assert judge(claim, made.facts).word != NOT_TESTABLE
    assert claim.fair is None or claim.fair(made.facts)


def test_rules_on_both_sides_of_their_bounds() -> None:
    rule = {claim.id: claim for claim in claims.CLAIMS}
    for share, word in ((0.85, HOLDS), (0.6, FAILS)):
        names = [f"shared_dict.published.{backend}.decode.largest" for backend in PUBLISHED]
        assert judge(rule["1.5"], {name: Fact(name, share, "share") for name in names}).word == word
    for size, word in ((100.0, HOLDS), (55.0, FAILS)):
        names = [f"shared_dict.bytes_per_entry.pickle.{name}" for name in claims.NAMES]
        assert judge(rule["1.8"], {name: Fact(name, size, "B") for name in names}).word == word
    for times, word in ((3.0, HOLDS), (1.0, FAILS)):
        names = [f"shared_dict.published.zmq-push.readers_ratio.{name}" for name in claims.NAMES]
        assert judge(rule["1.7"], {name: Fact(name, times, "1") for name in names}).word == word


def test_the_texts_own_contradictions() -> None:
    def said(name: str) -> float:
        return float(str(TEXT[f"shared_dict.{name}"].value))

    assert round(said("published.slower.largest")) == said("write_slower.zmq-push") == 145
    assert round(said("published.zmq-push.per_message.largest") / 1e6, 3) == 4.991
    assert round(1 / said("published.message_slower.largest"), 2) == 2.06
    assert said("published.lmdb.read.large") > said("published.shared-memory.read.large")
    assert said("published.lmdb.read.largest") < said("published.shared-memory.read.largest")
    growth = [round(said(f"published.lmdb.growth.{name}"), 1) for name in ("large", "largest")]
    assert growth == [11.8, 15.4]
    assert (said("readers"), said("reads"), said("bytes_per_entry")) == (3, 100, 100)


def test_every_cell_of_the_texts_tables_is_transcribed() -> None:
    text = (ROOT / "data/published/001_shared_dict.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    cells = {(row["quantity"], row["backend"], row["entries"]) for row in rows}
    assert len(cells) == len(rows)
    for op in ("write", "read"):
        wanted = {(op, backend, str(n)) for backend in PUBLISHED for n in ENTRIES}
        assert wanted | {(f"{op}_speed", backend, "10000") for backend in PUBLISHED} <= cells
    scale = {"s": 1e9}
    assert all(
        np.isclose(float(row["value"]) * scale.get(row["unit"], 1), float(row["value_si"]), rtol=1e-12) for row in rows
    )
