"""Words that a run neither holds nor asks are told; a run without the study knows none to tell."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from ipclab.errors import UsageError
from ipclab.lab.factors import check_levels

ASKED = SimpleNamespace(levels={"arm": ("main", "published")})
RUN: Any = SimpleNamespace(questions=SimpleNamespace(of=lambda study: ASKED))
HELD = pd.DataFrame({"op": ["write"], "metric": ["mean"]})


def test_a_mistyped_level_is_told_with_the_nearest() -> None:
    told = r"payload has no arm 'maain'; did you mean 'main'\?$"
    with pytest.raises(UsageError, match=told):
        check_levels(RUN, "payload", HELD, {"arm": "maain"}, {})
    with pytest.raises(UsageError, match=r"payload has no metric 'maen'; did you mean 'mean'"):
        check_levels(RUN, "payload", HELD, {"metric": "maen"}, {})


def test_a_run_without_the_study_is_asked_for_any_metric() -> None:
    check_levels(RUN, "payload", pd.DataFrame(), {"metric": "some-metric", "arm": "main"}, {})


def test_what_an_older_run_does_not_know_is_known_of_the_installed_study() -> None:
    check_levels(RUN, "payload", HELD, {"arm": "paced"}, {"arm": ("paced",)})
    with pytest.raises(UsageError, match=r"did you mean 'paced'\?$"):
        check_levels(RUN, "payload", HELD, {"arm": "pacd"}, {"arm": ("paced",)})
