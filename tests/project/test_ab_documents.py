"""What docs/ci.md says of `ipclab ab`."""

import re
import shlex

import yaml

from ipclab_more.ab.command import ab
from tests.support.commands import ROOT


def test_the_documented_commands_are_understood():
    lines = re.findall(r"ipclab ab ([^`#\n]+)", (ROOT / "docs/ci.md").read_text())
    calls = [shlex.split(line.split("||")[0]) for line in lines]
    assert len(calls) > 8
    for call in calls:
        ab.make_context(
            "ab", [word for word in call if word != "..."] or ["--help"], resilient_parsing=True
        )


def test_the_documented_workflow_is_yaml_whose_steps_run_this_command():
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    (line,) = [
        step["run"]
        for step in yaml.safe_load(text)["jobs"]["ab"]["steps"]
        if "ipclab ab" in step.get("run", "")
    ]
    given = ab.make_context("ab", shlex.split(line)[2:]).params
    assert given["names"] == ("base", "head")
    assert len(given["formats"]) == len(given["outputs"]) == 3
