"""A connection to a kernel: its sessions and models."""

from __future__ import annotations

import os
from typing import Any, AsyncIterator, Callable, Mapping, Sequence

from ._protocol import PublicEvent
from .asks import Approval, Question
from .session import Hook, Session
from .tools import Tool
from .transport import HttpTransport, StdioTransport, Transport


class Kernel:
    """Made by `connect`. Use it as an async context manager, or call `close`."""

    def __init__(self, transport: Transport, client: str = "agentwire-client-python") -> None:
        self._transport = transport
        self._client = {"name": client, "version": None}
        self._sessions: list[Session] = []

    async def __aenter__(self) -> Kernel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def info(self) -> dict[str, Any]:
        """What serves here."""
        return await self._transport.request("server.info", {})

    async def models(self) -> dict[str, Any]:
        """The configured models, and which one a new session gets."""
        return await self._transport.request("models.list", {})

    async def open(
        self,
        *,
        work_dir: str | os.PathLike[str] | None = None,
        id: str | None = None,
        fork: str | None = None,
        messages: int | None = None,
        before: str | None = None,
        files: Mapping[str, Any] | None = None,
        model: str | None = None,
        mode: str | None = None,
        agent: str | None = None,
        instructions: Sequence[str] | None = None,
        budgets: Mapping[str, float] | None = None,
        grants: Sequence[str] | None = None,
        tools: Sequence[Tool] = (),
        hooks: Sequence[Hook] = (),
        approve: Callable[[Approval], Any] | None = None,
        question: Callable[[Question], Any] | None = None,
        on_event: Callable[[PublicEvent], Any] | None = None,
        **creation: Any,
    ) -> Session:
        """Creates a session, or opens the stored one with this `id`, or a copy of the one that `fork` names.

        A copy ends after `messages` messages or `before` a turn. With `files={"directory": ...}` it works in a new
        directory with the files as they were then; `"worktree": True` makes that a git worktree.

        `approve` and `question` answer what the agent asks, and may be async; without them it waits: see
        `Session.waiting`. Further arguments are those of `sessions.create` in the protocol.
        """
        named = {
            "workDir": None if work_dir is None else os.path.abspath(work_dir),
            "model": model,
            "mode": mode,
            "agent": agent,
            "instructions": None if instructions is None else list(instructions),
            "budgets": None if budgets is None else dict(budgets),
            "grants": None if grants is None else list(grants),
        }
        params = {**{key: value for key, value in named.items() if value is not None}, **creation}
        if id is not None:
            work = (await self._transport.request("session.snapshot", {"sessionId": id}))["workDir"]
        else:
            if fork is None:
                made = await self._transport.request("sessions.create", params)
            else:
                choices = {"messages": messages, "before": before, "files": None if files is None else dict(files)}
                cut = {key: value for key, value in choices.items() if value is not None}
                made = await self._transport.request("sessions.fork", {"sessionId": fork, **cut})
            id, work = str(made["sessionId"]), made["workDir"]
        session = Session(
            self._transport,
            id,
            work,
            client=self._client,
            approve=approve,
            question=question,
            tools=tools,
            hooks=hooks,
            on_event=on_event,
        )
        await session._open()  # pyright: ignore[reportPrivateUsage]
        self._sessions.append(session)
        return session

    async def sessions(self, *, work_dir: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """The stored sessions, the last used first."""
        query: dict[str, Any] = {} if work_dir is None else {"workDir": work_dir}
        while True:
            page = await self._transport.request("sessions.list", query)
            for each in page["sessions"]:
                yield each
            if page["next"] is None:
                return
            query["after"] = page["next"]

    async def archive(self, id: str) -> None:
        """Cancels the session's turn and hides the session; its files stay."""
        await self._transport.request("sessions.archive", {"sessionId": id})

    async def unarchive(self, id: str) -> None:
        """Brings an archived session back. Idempotent."""
        await self._transport.request("sessions.unarchive", {"sessionId": id})

    async def delete(self, id: str) -> None:
        """Deletes a session with all its files. Idempotent."""
        await self._transport.request("sessions.delete", {"sessionId": id})

    async def call(self, name: str, params: Mapping[str, Any]) -> Any:
        """Any other operation of the protocol."""
        return await self._transport.request(name, dict(params))

    async def close(self) -> None:
        """Leaves every session and ends the connection, and the server where `connect` started it. Idempotent."""
        for session in self._sessions:
            await session.close()
        await self._transport.close()


class Connecting:
    """`await` it for a Kernel, or use it with `async with`."""

    def __init__(self, make: Callable[[], Any], client: str) -> None:
        self._make = make
        self._client = client
        self._kernel: Kernel | None = None

    def __await__(self) -> Any:
        return self._connect().__await__()

    async def __aenter__(self) -> Kernel:
        self._kernel = await self._connect()
        return self._kernel

    async def __aexit__(self, *_: object) -> None:
        if self._kernel is not None:
            await self._kernel.close()

    async def _connect(self) -> Kernel:
        kernel = Kernel(await self._make(), self._client)
        try:
            await kernel.info()
        except BaseException:
            await kernel.close()
            raise
        return kernel


def connect(
    *,
    url: str | None = None,
    token: str | None = None,
    command: str | Sequence[str] = "agentwire",
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    on_stderr: Callable[[str], None] | None = None,
    client: str = "agentwire-client-python",
) -> Connecting:
    """Connects to a kernel. With `url` and `token` to a running gateway; otherwise it starts `command` and ends it again.

    Raises PeerGone when there is no server, or one that ends.
    """
    if url is not None:
        if token is None:
            raise TypeError("connect(url=...) needs a token: the gateway's gateway.json has one.")

        async def over_http() -> Transport:
            return HttpTransport(url, token)

        return Connecting(over_http, client)

    async def over_stdio() -> Transport:
        words = [command] if isinstance(command, str) else list(command)
        return await StdioTransport.start(words, args=args, env=env, cwd=cwd, on_stderr=on_stderr)

    return Connecting(over_stdio, client)
