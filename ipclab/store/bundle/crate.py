"""The run described as an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1), so that an archive can index it.

Written by hand: it is one JSON file, and `rocrate` stamps times and random names into what must be the same bytes.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from ipclab.store.bundle.contents import CRATE, Entry
from ipclab.store.files import dump_json

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
CONFORMS = "https://w3id.org/ro/crate/1.1"
LICENCE = "https://spdx.org/licenses/MIT"
FORMATS = {".parquet": "application/vnd.apache.parquet", ".json": "application/json", ".csv": "text/csv"}
SOFTWARE, MACHINE, MEASURING, AUTHORS = "#ipclab", "#machine", "#measuring", "#authors"
SHOWN = ("cpu_model", "cores", "threads", "memory_installed", "kernel_release", "architecture", "virtualisation")
ABOUT = {
    "run.json": "What was measured, on what, and the digest of every file",
    "calibration.json": "How far comparisons on this machine can be trusted",
    "points": "Raw samples of one point",
    "machine": "What the machine said of itself",
    "raw": "Kept as a study made it",
}


def crate(run: str, about: Mapping[str, Any], files: Iterable[Entry]) -> bytes:
    """Return `ro-crate-metadata.json` of the run called `run`; the same bytes for the same run."""
    parts = [_file(entry) for entry in sorted(files, key=lambda entry: entry.name)]
    head = {"@id": CRATE, "@type": "CreativeWork", "conformsTo": {"@id": CONFORMS}, "about": {"@id": "./"}}
    graph = [head, _root(run, about, parts), *_context(about), *parts]
    return dump_json({"@context": CONTEXT, "@graph": graph})


def _root(run: str, about: Mapping[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    begun = dt.datetime.fromisoformat(about["begun"])
    studies = ", ".join(about["parameters"]["studies"])
    profile = about["parameters"]["profile"]
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"ipclab run {run}",
        "identifier": run,
        "description": f"Costs of inter-process communication measured on one machine: {studies}; profile {profile}.",
        "datePublished": begun.date().isoformat(),
        "dateCreated": begun.isoformat(),
        "license": {"@id": LICENCE},
        "author": {"@id": AUTHORS},
        "keywords": "inter-process communication, benchmark, raw samples",
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "mentions": {"@id": MEASURING},
    }


def _context(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    facts = about["machine"]["facts"]
    known = [{"@type": "PropertyValue", "name": n, "value": facts[n]} for n in SHOWN if facts.get(n) is not None]
    commit = f"; commit {facts['git_commit']}" if facts.get("git_commit") else ""
    software = {"@id": SOFTWARE, "@type": "SoftwareApplication", "name": "ipclab"}
    properties = [{**each, "@id": f"{MACHINE}-{each['name']}"} for each in known]
    return [
        {**software, "softwareVersion": f"{facts.get('ipclab', 'unknown')}{commit}", "license": {"@id": LICENCE}},
        {
            "@id": MACHINE,
            "@type": "Thing",
            "name": "the machine that was measured",
            "identifier": about["machine"]["digest"],
            "additionalProperty": [{"@id": each["@id"]} for each in properties],
        },
        *properties,
        {
            "@id": MEASURING,
            "@type": "CreateAction",
            "name": "measuring",
            "instrument": [{"@id": SOFTWARE}, {"@id": MACHINE}],
            "startTime": about["begun"],
            "endTime": about["finished"],
            "result": {"@id": "./"},
        },
        {"@id": AUTHORS, "@type": "Organization", "name": "The ipclab authors"},
        {"@id": LICENCE, "@type": "CreativeWork", "name": "MIT License", "identifier": "MIT"},
    ]


def _file(entry: Entry) -> dict[str, Any]:
    name = entry.name
    suffix = name[name.rfind(".") :] if "." in name.rpartition("/")[2] else ""
    told = {"@id": name, "@type": "File", "name": name, "description": ABOUT[name.partition("/")[0]]}
    kind = FORMATS.get(suffix, "text/plain")
    return {**told, "contentSize": str(entry.size), "encodingFormat": kind, "sha256": entry.sha256}
