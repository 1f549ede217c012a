import asyncio
import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentwire_client import (
    ApprovalAsked,
    CallEnded,
    Ended,
    Hook,
    PeerGone,
    Refused,
    Text,
    connect,
    sync,
    tool,
)
from agentwire_client.testing import scripted_environment

WEATHER = 'tool_call: {"id":"c1","name":"weather","arguments":"{\\"city\\":\\"Bern\\"}"}\n'
SHELL = 'tool_call: {"id":"c2","name":"Shell","arguments":"{\\"command\\":\\"echo hi > made\\"}"}\n'


def run(work):
    return asyncio.run(asyncio.wait_for(work, 60))


def test_events_and_result_in_any_order_and_number(agentwire_scripted_async):
    async def main():
        async with agentwire_scripted_async("text: Hello") as kernel, await kernel.open() as session:
            turn = session.prompt("Hi")
            result = await turn
            assert (result.outcome, result.text, result.error) == ("finished", "Hello", None)
            for _ in range(2):
                events = [event async for event in turn]
                assert "".join(event.text for event in events if isinstance(event, Text)) == "Hello"
                assert events[-1] == Ended(None, None, result)

    run(main())


def test_tools_return_values_and_raise_errors(agentwire_scripted_async):
    cities = []

    @tool
    async def weather(city: str) -> dict:
        """The weather of a city."""
        cities.append(city)
        if len(cities) > 1:
            raise ValueError("no data")
        return {"degrees": 20}

    async def main():
        scripts = (WEATHER, WEATHER.replace("c1", "c9"), "text: done")
        async with agentwire_scripted_async(*scripts) as kernel:
            session = await kernel.open(tools=[weather])
            turn = session.prompt("Weather?")
            await turn
            ended = [(event.is_error, event.output) async for event in turn if isinstance(event, CallEnded)]
            assert ended == [(False, '{"degrees": 20}'), (True, "weather failed: no data")]

    run(main())
    assert cities == ["Bern", "Bern"]
    assert weather.parameters["properties"] == {"city": {"type": "string"}}


def test_approvals_by_callback_and_one_that_raises(agentwire_scripted_async):
    asked = []

    async def approve(ask):
        asked.append(ask.tool)
        if len(asked) > 1:
            raise RuntimeError("not today")
        await ask.once()

    async def main():
        async with agentwire_scripted_async(SHELL, SHELL.replace("c2", "c3"), "text: done") as kernel:
            session = await kernel.open(approve=approve)
            turn = session.prompt("Make it")
            assert (await turn).outcome == "finished"
            outputs = [event.output async for event in turn if isinstance(event, CallEnded)]
            assert "not today" in outputs[1]

    run(main())
    assert asked == ["Shell", "Shell"]


def test_what_waits_is_listed_and_settled_once(agentwire_scripted_async):
    async def main():
        async with agentwire_scripted_async(SHELL, "text: done") as kernel:
            session = await kernel.open()
            turn = session.prompt("Make it")
            async for event in turn:
                if isinstance(event, ApprovalAsked):
                    break
            assert (await session.prompt("More")).error.code == "busy"
            [ask] = await session.waiting()
            assert await ask.once() is True
            assert await ask.reject() is False
            assert (await turn).outcome == "finished"

    run(main())


def test_a_hook_blocks(agentwire_scripted_async):
    async def main():
        async with agentwire_scripted_async(SHELL, "text: done") as kernel:
            hook = Hook("PreToolUse", lambda input, target: f"no {target}")
            session = await kernel.open(hooks=[hook])
            turn = session.prompt("Make it")
            await turn
            [ended] = [event async for event in turn if isinstance(event, CallEnded)]
            assert "no Shell" in ended.output

    run(main())


def test_structured_output_as_a_dataclass(agentwire_scripted_async):
    @dataclass
    class Report:
        title: str
        count: int

    async def main():
        async with agentwire_scripted_async('text: {"title": "T", "count": 2}') as kernel:
            result = await (await kernel.open()).prompt("Report", output=Report)
            assert result.output == Report("T", 2)

    run(main())


def test_cancel_and_sessions_that_are_found_again(agentwire_scripted_async):
    async def main():
        async with agentwire_scripted_async(SHELL, "text: again") as kernel:
            session = await kernel.open()
            turn = session.prompt("Make it")
            async for event in turn:
                if isinstance(event, ApprovalAsked):
                    await turn.cancel()
            assert (await turn).outcome == "cancelled"
            assert await session.cancel() is False
            await session.close()
            again = await kernel.open(id=session.id)
            assert (await again.prompt("Once more")).text == "again"
            assert session.id in [each["id"] async for each in kernel.sessions()]
            types = [event["type"] async for event in again.history()]
            assert types.count("turn.ended") == 2
            await kernel.delete(session.id)

    run(main())


def test_everything_settles_when_the_server_dies(agentwire_scripted_async):
    async def main():
        async with agentwire_scripted_async(SHELL) as kernel:
            session = await kernel.open()
            turn = session.prompt("Make it")
            async for event in turn:
                if isinstance(event, ApprovalAsked):
                    os.kill(kernel._transport._process.pid, signal.SIGKILL)
                    break
            with pytest.raises(PeerGone) as caught:
                await turn
            assert "SIGKILL" in str(caught.value)
            with pytest.raises(PeerGone):
                await session.prompt("More")

    run(main())


def test_refusals_name_what_is_wrong(agentwire_scripted_async):
    async def main():
        async with agentwire_scripted_async() as kernel:
            with pytest.raises(Refused) as caught:
                await kernel.open(id="nobody")
            assert caught.value.code == "session-not-found"
            with pytest.raises(Refused) as caught:
                await kernel.open(color="red")
            assert "color" in str(caught.value)
        with pytest.raises(PeerGone, match="could not be started"):
            await connect(command="/nowhere/agentwire")

    run(main())


def test_the_twin_without_async(agentwire_scripted):
    with agentwire_scripted("text: one", "text: two") as kernel:
        session = kernel.open()
        turn = session.prompt("Hi")
        assert "".join(event.text for event in turn if isinstance(event, Text)) == "one"
        assert session.prompt("Again").result().text == "two"
        assert [each["id"] for each in kernel.sessions()] == [session.id]
    with pytest.raises(PeerGone):
        sync.connect(command="/nowhere/agentwire")


@pytest.fixture
def gateway(tmp_path):
    """A gateway with scripted answers: starts it, gives its address and token, ends it."""
    pytest.importorskip("httpx")
    started = []

    def start(*scripts):
        home = tmp_path / "gateway"
        environment = scripted_environment(home, scripts)
        command = [*os.environ.get("AGENTWIRE_COMMAND", "agentwire").split(), "serve", "--port", "0", "--json"]
        process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        started.append(process)
        announced = json.loads(process.stdout.readline())
        tokens = json.loads(Path(announced["tokens"]).read_text())["tokens"]
        token = next(each["token"] for each in tokens if each["scope"] == "control")
        return {"url": announced["url"], "token": token}

    yield start
    for process in started:
        process.terminate()
        process.wait()


def test_over_http(gateway, tmp_path):
    place = gateway(SHELL, "text: done")

    async def main():
        async with connect(**place) as kernel:
            session = await kernel.open(work_dir=tmp_path, approve=lambda ask: ask.once())
            turn = session.prompt("Make it")
            assert (await turn).text == "done"
            cursor = [event.cursor async for event in turn if event.cursor][0]
            async for event in session.events(after=cursor):
                if event["type"] == "turn.ended":
                    break
        with pytest.raises(Refused) as caught:
            await connect(url=place["url"], token="x" * 40)
        assert caught.value.code == "http-401"
        with pytest.raises(PeerGone):
            await connect(url="http://127.0.0.1:1", token=place["token"])

    run(main())
    assert (tmp_path / "made").read_text() == "hi\n"
