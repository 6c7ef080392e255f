"""The examples of docs/lab/package.md, section by section, as they stand there."""
import doctest
import os

import pytest
from conftest import TOP

TORCH = "## Ops for PyTorch"


def run(text):
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "docs"}, "docs/lab/package.md", "docs/lab/package.md", 0)
    said = []
    before = os.getcwd()
    os.chdir(TOP)
    try:
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, out=said.append)
    finally:
        os.chdir(before)
    assert test.examples and not runner.failures, "".join(said)


@pytest.mark.skipif(not os.path.exists(TOP + "/docs/lab/package.md"), reason="the page is not here")
def test_examples():
    run(open(TOP + "/docs/lab/package.md").read().split(TORCH)[0])


@pytest.mark.skipif(not os.path.exists(TOP + "/docs/lab/package.md"), reason="the page is not here")
def test_examples_with_torch(toolkit):
    pytest.importorskip("torch", reason="torch is not here")
    run(open(TOP + "/docs/lab/package.md").read().split(TORCH)[1])
