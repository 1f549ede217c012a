"""pytest fixtures: a kernel whose model answers what a test wrote down. Loaded as a plugin by itself.

    def test_bot(agentwire_scripted):
        with agentwire_scripted("text: Hello") as kernel:
            assert kernel.open().prompt("Hi").result().text == "Hello"

Each script is one answer of the model: lines of `text: ...`, `think: ...` and `tool_call: {"id", "name", "arguments"}`.
The executable is the one that AGENTWIRE_COMMAND names, or `agentwire` on PATH.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Callable, Iterator

import pytest

from . import sync
from .kernel import Connecting, connect

CONFIG = """default_model = "scripted"

[providers.scripted]
type = "_scripted_echo"
base_url = ""
api_key = ""

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 100000
"""


def scripted_environment(home: Path, scripts: tuple[str, ...]) -> dict[str, str]:
    """The environment of a server whose model answers with these scripts in turn; its sessions are below `home`."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(CONFIG)
    (home / "scripts.json").write_text(json.dumps(scripts))
    return {**os.environ, "KIMI_SHARE_DIR": str(home), "KIMI_SCRIPTED_ECHO_SCRIPTS": str(home / "scripts.json")}


def _command() -> list[str]:
    return os.environ.get("AGENTWIRE_COMMAND", "agentwire").split()


@pytest.fixture
def agentwire_scripted(tmp_path: Path) -> Iterator[Callable[..., sync.Kernel]]:
    """Starts a kernel with scripted answers; it is closed after the test."""
    made: list[sync.Kernel] = []

    def start(*scripts: str) -> sync.Kernel:
        home = tmp_path / f"agentwire-{len(made)}"
        kernel = sync.connect(command=_command(), env=scripted_environment(home, scripts), cwd=tmp_path)
        made.append(kernel)
        return kernel

    yield start
    for kernel in made:
        if kernel._loop._thread.is_alive():  # pyright: ignore[reportPrivateUsage]
            kernel.close()


@pytest.fixture
def agentwire_scripted_async(tmp_path: Path) -> Callable[..., Connecting]:
    """The same for `async with`."""
    count = iter(range(1000))

    def start(*scripts: str) -> Connecting:
        home = tmp_path / f"agentwire-async-{next(count)}"
        return connect(command=_command(), env=scripted_environment(home, scripts), cwd=tmp_path)

    return start
