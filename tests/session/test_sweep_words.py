"""A sweep of a notebook that is asked wrong says what to write in the notebook."""

import pytest

import ipclab
from ipclab.errors import UsageError


@pytest.mark.parametrize(
    ("wrong", "right"), [("size", "sizes"), ("size_bytes", "sizes"), ("backend", "backends")]
)
def test_a_parameter_is_named_as_a_notebook_writes_it(wrong: str, right: str) -> None:
    with pytest.raises(UsageError) as said:
        ipclab.measure("payload", **{wrong: [1]})
    assert right in str(said.value)
    assert "--" not in str(said.value)
