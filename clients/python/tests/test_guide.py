"""Runs every example of the guide."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentwire_client.testing import scripted_environment

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "embed-python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
SHELL = 'tool_call: {"id":"c1","name":"Shell","arguments":"{\\"command\\":\\"echo hi\\"}"}\n'
WEATHER = 'tool_call: {"id":"c1","name":"weather","arguments":"{\\"city\\":\\"Bern\\"}"}\n'
ANSWERS = [
    (["text: It greets."], "It greets.\nfinished: 0 tokens\n"),
    (["text: It greets."], "It greets.\n"),
    ([SHELL, "text: I may not."], "I may not.\n"),
    ([WEATHER, "text: 20 degrees."], "20 degrees.\n"),
    (['text: {"title": "Files", "count": 2}'], "Report(title='Files', count=2)\n"),
]


def test_every_example_is_run():
    assert len(EXAMPLES) == len(ANSWERS) + 1
    assert "agentwire_scripted" in EXAMPLES[-1]


@pytest.mark.parametrize(("number", "scripts", "printed"), [(n, *each) for n, each in enumerate(ANSWERS)])
def test_example(number, scripts, printed, tmp_path):
    command = os.environ.get("AGENTWIRE_COMMAND", "agentwire").split()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "agentwire").symlink_to(command[0])
    environment = scripted_environment(tmp_path / "home", tuple(scripts))
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    ended = subprocess.run(
        [sys.executable, "-c", EXAMPLES[number]], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (ended.stdout, ended.returncode) == (printed, 0), ended.stderr


exec(EXAMPLES[-1])
