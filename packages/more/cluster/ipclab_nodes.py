"""A run of ipclab on each node as a ReFrame test: its bundle is kept, its medians are performance
values.

cd packages/more/cluster
reframe -C site.py -c ipclab_nodes.py -r --distribute=idle+
"""

import json
import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function, variable

HERE = Path(__file__).resolve().parents[3]
BUNDLE, VALUES = "node.ipclab", "values.json"


@rfm.simple_test
class ipclab_node(rfm.RunOnlyRegressionTest):  # noqa: N801 - ReFrame's style
    """One run on one node. `baseline` is an earlier VALUES of the same kind: its intervals are the
    references.
    """

    valid_systems = ["*"]  # noqa: RUF012
    valid_prog_environs = ["*"]  # noqa: RUF012
    study = parameter(["round_trip"], type=str, loggable=True)
    size = parameter([100], type=int, loggable=True)
    profile = variable(str, value="quick")
    more = variable(str, value="")  # further words of 'ipclab measure'
    baseline = variable(str, value="")
    ipclab = variable(str, value=str(HERE / ".venv/bin/ipclab"))
    exclusive_access = True
    num_tasks = 1
    time_limit = "2h"
    keep_files = [BUNDLE, VALUES]  # noqa: RUF012

    @run_before("run")
    def commands(self):
        """Measure with data of this job's own, and print the medians of the finished run."""
        ipclab = shlex.quote(self.ipclab)
        self.prerun_cmds = [
            'export IPCLAB_DATA="$PWD/data" IPCLAB_NODE="${SLURMD_NODENAME:-$(hostname -s)}"'
        ]
        self.executable = f'{ipclab} measure --label "$IPCLAB_NODE" --bundle {BUNDLE}'
        self.executable_opts = [
            f"--profile={self.profile}",
            f"--study={self.study}",
            f"--size={self.size}",
            self.more,
        ]
        asked = f"--study {self.study} --metric p50 --format json"
        self.postrun_cmds = [f"{ipclab} values {BUNDLE} {asked} > {VALUES}"]

    @sanity_function
    def finished(self):
        """The run was finished, and its numbers can be read."""
        return sn.all(
            [sn.path_isfile(BUNDLE), sn.assert_true(self.medians(Path(self.stagedir) / VALUES))]
        )

    @run_before("performance")
    def numbers(self):
        """Take each median as a performance value; what a baseline has is held to its interval."""
        known = self.medians(Path(self.baseline)) if self.baseline else {}
        references = {}
        for name, row in self.medians(Path(self.stagedir) / VALUES).items():
            self.perf_variables[name] = sn.make_performance_function(
                sn.defer(row["value"]), row["unit"]
            )
            if name in known:
                references[name] = interval(known[name])
        self.reference = {"*": references}

    @staticmethod
    def medians(file):
        """Return the rows of a file of `ipclab values` that have a number, by their point and op."""
        rows = json.loads(file.read_text("utf-8"))["values"]
        return {f"{row['op']} {row['point']}": row for row in rows if row["value"] is not None}


def interval(row):
    """Return a reference of ReFrame: a value, how far below and above it another may lie, and the
    unit.
    """
    value, low, high = row["value"], row["low"], row["high"]
    ends = [None if end is None else end / value - 1 for end in (low, high)]
    return value, *ends, row["unit"]
