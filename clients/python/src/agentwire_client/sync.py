"""The same without async: every method waits. The connection lives in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Any, Awaitable, Callable, Iterator, TypeVar

from . import kernel as _async
from .events import TurnEvent, TurnResult
from .session import Session as _AsyncSession
from .turn import Turn as _AsyncTurn

T = TypeVar("T")


class _Loop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agentwire-client", daemon=True)
        self._thread.start()

    def run(self, work: Awaitable[T]) -> T:
        async def wait() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()

    def call(self, make: Callable[[], T]) -> T:
        async def wait() -> T:
            return make()

        return self.run(wait())

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _next(loop: _Loop, events: Any) -> Iterator[Any]:
    iterator = events.__aiter__()
    while True:
        try:
            yield loop.run(iterator.__anext__())
        except StopAsyncIteration:
            return


class Turn:
    """Iterate it for its events, call `result` for its result."""

    def __init__(self, loop: _Loop, turn: _AsyncTurn) -> None:
        self._loop, self._turn = loop, turn

    @property
    def id(self) -> str:
        return self._turn.id

    def __iter__(self) -> Iterator[TurnEvent]:
        return _next(self._loop, self._turn)

    def result(self) -> TurnResult:
        return self._loop.run(self._turn)

    def cancel(self) -> None:
        self._loop.run(self._turn.cancel())

    def steer(self, text: str) -> None:
        self._loop.run(self._turn.steer(text))


class _Waiting:
    """Passes every method on, and waits for what it returns."""

    def __init__(self, loop: _Loop, wrapped: Any) -> None:
        self._loop, self._wrapped = loop, wrapped

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._wrapped, name)
        if not callable(value):
            return value

        def call(*args: Any, **named: Any) -> Any:
            make: Callable[[], Any] = lambda: value(*args, **named)
            made = self._loop.call(make)
            if isinstance(made, _AsyncTurn):
                return Turn(self._loop, made)
            if hasattr(made, "__aiter__"):
                return _next(self._loop, made)
            result: Any = self._loop.run(made)
            return Session(self._loop, result) if isinstance(result, _AsyncSession) else result

        return call

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Session(_Waiting):
    """A session: the methods of `agentwire_client.Session`. Callbacks run in the thread of the connection."""


class Kernel(_Waiting):
    """A connection: the methods of `agentwire_client.Kernel`."""

    def close(self) -> None:
        self._loop.run(self._wrapped.close())
        self._loop.end()


def connect(**options: Any) -> Kernel:
    """Connects as `agentwire_client.connect` does. Close it, or use it with `with`."""
    loop = _Loop()
    try:
        return Kernel(loop, loop.run(_async.connect(**options)))
    except BaseException:
        loop.end()
        raise
