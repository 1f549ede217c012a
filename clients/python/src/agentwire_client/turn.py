"""One turn: an async iterable of its events, and an awaitable of its result; both at any time and any number of times."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, AsyncIterator, Awaitable, Callable, Generator

from ._protocol import PublicEvent
from .errors import PeerGone
from .events import (
    CallOutput,
    Ended,
    Outcome,
    Text,
    Thinking,
    TurnError,
    TurnEvent,
    TurnResult,
    Usage,
    agent_of,
    cursor_of,
    to_event,
    usage_of,
)


class Turn:
    def __init__(self, cancel: Callable[[], Awaitable[Any]], steer: Callable[[str], Awaitable[None]]) -> None:
        self._events: list[TurnEvent] = []
        self._read = 0
        self._changed = asyncio.Event()
        self._result: asyncio.Future[TurnResult] = asyncio.get_running_loop().create_future()
        # Whoever only iterates learns of a failure there.
        self._result.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._cancel = cancel
        self._steer = steer
        self._text = ""
        self._streamed: dict[tuple[type, str | None], int] = {}
        self._usage = Usage()
        self.id = ""
        """Empty until the server has started it."""

    def __await__(self) -> Generator[Any, None, TurnResult]:
        return asyncio.shield(self._result).__await__()

    async def __aiter__(self) -> AsyncIterator[TurnEvent]:
        """Every event from the first on, to the `Ended` one. Raises PeerGone when the connection is lost before."""
        index = 0
        while True:
            while index < len(self._events):
                self._read = max(self._read, index + 1)
                yield self._events[index]
                index += 1
            if self._result.done():
                self._result.result()
                return
            self._changed.clear()
            await self._changed.wait()

    async def cancel(self) -> None:
        """Cancels the turn; its result says `cancelled`. Nothing happens once it is over."""
        if not self._result.done():
            await self._cancel()

    async def steer(self, text: str) -> None:
        """Adds input to the running turn. Raises Refused when it is over."""
        await self._steer(text)

    # What follows is for the session alone.

    def take(self, event: PublicEvent) -> None:
        kind, agent = event["type"], agent_of(event)
        if kind == "step.started" and agent is None:
            self._text = ""
        if kind == "status.changed" and agent is None:
            self._usage += usage_of(event) or Usage()
        if kind in ("content.delta", "content.completed"):
            self._take_content(event, agent)
            return
        made = to_event(event)
        if made is not None:
            self.add(made)

    def add(self, event: TurnEvent) -> None:
        last = self._events[-1] if self._events and self._read < len(self._events) else None
        merged = _merge(last, event)
        if merged is None:
            self._events.append(event)
        else:
            self._events[-1] = merged
        self._changed.set()

    def end(self, outcome: dict[str, Any] | None, output: Any = None) -> None:
        if self._result.done():
            return
        kind, error = _to_result(outcome)
        result = TurnResult(kind, self.id, self._text, output, self._usage, error)
        self._result.set_result(result)
        self.add(Ended(None, None, result))

    def lose(self, error: PeerGone) -> None:
        if not self._result.done():
            self._result.set_exception(error)
            self._changed.set()

    def _take_content(self, event: PublicEvent, agent: str | None) -> None:
        """Texts come in pieces and then whole. Of pieces that were missed, the rest comes with the whole."""
        part = event["part"]
        if part["type"] not in ("text", "think"):
            return
        made, text = (Text, part["text"]) if part["type"] == "text" else (Thinking, part["think"])
        cursor, key = cursor_of(event), (made, agent)
        if event["type"] == "content.delta":
            self._streamed[key] = self._streamed.get(key, 0) + len(text)
            self.add(made(agent, cursor, text))
            return
        streamed = self._streamed.pop(key, 0)
        if made is Text and agent is None:
            self._text += text
        if streamed < len(text):
            self.add(made(agent, cursor, text[streamed:]))


def _merge(one: TurnEvent | None, other: TurnEvent) -> TurnEvent | None:
    """Pieces of one text that nobody has read yet are one event; None for others."""
    if one is None or one.agent != other.agent:
        return None
    if isinstance(one, Text) and isinstance(other, Text):
        return replace(other, text=one.text + other.text)
    if isinstance(one, Thinking) and isinstance(other, Thinking):
        return replace(other, text=one.text + other.text)
    if isinstance(one, CallOutput) and isinstance(other, CallOutput) and one.call_id == other.call_id:
        return replace(other, text=one.text + other.text)
    return None


def _to_result(outcome: dict[str, Any] | None) -> tuple[Outcome, TurnError | None]:
    if outcome is None:
        return "failed", TurnError("closed", "The turn was interrupted: the server ended.")
    status = outcome["status"]
    if status == "finished" or status == "cancelled":
        return status, None
    if status == "truncated":
        return "truncated", TurnError("truncated", f"The answer is cut off: the model stopped with {outcome['reason']}.")
    if status == "max-steps":
        return "limit", TurnError("max-steps", f"The limit of {outcome['limit']} was reached.")
    error = outcome["error"]
    kind: Outcome = "refused" if error.get("isRefused") else "limit" if error["code"] == "budget-exhausted" else "failed"
    return kind, TurnError(error["code"], error["message"])
