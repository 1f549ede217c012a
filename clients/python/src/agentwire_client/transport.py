"""Connections: requests, and the events of an attachment. One class per way to connect."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import deque
from typing import Any, AsyncIterator, Callable, Mapping, Protocol, Sequence

from ._protocol import Params, PublicEvent
from .errors import PeerGone, Refused

_STDERR_END = 4000
_LINE_LIMIT = 128 * 1024 * 1024


class Attachment(Protocol):
    state: dict[str, Any]

    def events(self) -> AsyncIterator[PublicEvent]: ...
    async def close(self) -> None: ...


class Transport(Protocol):
    reconnects: bool

    async def request(self, name: str, params: Params) -> Any: ...
    async def attach(self, params: Params) -> Attachment: ...
    async def close(self) -> None: ...


def to_refused(error: dict[str, Any]) -> Refused:
    data: dict[str, Any] = error.get("data") or {}
    return Refused(data.get("code") or str(error.get("code")), error["message"], data.get("details"))


class _StdioAttachment:
    def __init__(self, transport: StdioTransport, state: dict[str, Any]) -> None:
        self.state = state
        self._stream = state["stream"]
        self._transport = transport

    async def events(self) -> AsyncIterator[PublicEvent]:
        while True:
            batch = await self._transport.request("stream.next", {"stream": self._stream})
            for event in batch["events"]:
                yield event
            if batch["ended"]:
                return

    async def close(self) -> None:
        try:
            await self._transport.request("stream.close", {"stream": self._stream})
        except (PeerGone, Refused):
            pass


class StdioTransport:
    """Starts the executable and speaks JSON-RPC in lines over its stdin and stdout."""

    reconnects = False

    def __init__(self, process: asyncio.subprocess.Process, on_stderr: Callable[[str], None] | None, grace: float):
        self._process = process
        self._on_stderr = on_stderr
        self._grace = grace
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._ids = 0
        self._stderr: deque[str] = deque()
        self._gone: PeerGone | None = None
        self._closing = False
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        on_stderr: Callable[[str], None] | None = None,
        grace: float = 3,
    ) -> StdioTransport:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                "serve",
                "--stdio",
                *args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=None if env is None else dict(env),
                cwd=cwd,
                limit=_LINE_LIMIT,
            )
        except OSError as error:
            raise PeerGone(f"The program could not be started: {error}") from error
        return cls(process, on_stderr, grace)

    async def request(self, name: str, params: Params) -> Any:
        if self._gone is not None:
            raise self._gone
        self._ids += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[self._ids] = answer
        line = json.dumps({"jsonrpc": "2.0", "id": self._ids, "method": name, "params": params})
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            await self._process.stdin.drain()
        except ConnectionError:
            pass  # the reader reports the end
        return await answer

    async def attach(self, params: Params) -> Attachment:
        return _StdioAttachment(self, await self.request("session.attach", params))

    async def close(self) -> None:
        self._closing = True
        if self._process.stdin is not None:
            self._process.stdin.close()
        for wait, number in ((self._grace, signal.SIGTERM), (2.0, signal.SIGKILL)):
            try:
                await asyncio.wait_for(asyncio.shield(self._reader), wait)
                return
            except asyncio.TimeoutError:
                if self._process.returncode is None:
                    self._process.send_signal(number)
        await self._reader

    async def _read(self) -> None:
        assert self._process.stdout is not None and self._process.stderr is not None
        errors = asyncio.create_task(self._read_stderr(self._process.stderr))
        try:
            while line := await self._process.stdout.readline():
                self._take(line)
        except (ValueError, ConnectionError) as error:
            self._lose(PeerGone(f"A line of the program could not be read: {error}"))
        code = await self._process.wait()
        await errors
        how = f"exited with code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
        why = "The client was closed." if self._closing else f"The program {how}."
        self._lose(PeerGone(why, exit_code=code if code >= 0 else None, stderr="".join(self._stderr)[-_STDERR_END:]))

    async def _read_stderr(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(4096):
            text = piece.decode(errors="replace")
            self._stderr.append(text)
            while len(self._stderr) > 100:
                self._stderr.popleft()
            if self._on_stderr is not None:
                self._on_stderr(text)

    def _take(self, line: bytes) -> None:
        try:
            message: dict[str, Any] = json.loads(line)
            answer = self._pending.pop(message["id"])
        except (ValueError, KeyError, TypeError):
            return  # not an answer to a request of ours
        if answer.done():
            return
        if "error" in message:
            answer.set_exception(to_refused(message["error"]))
        else:
            answer.set_result(message.get("result"))

    def _lose(self, gone: PeerGone) -> None:
        self._gone = self._gone or gone
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(self._gone)
        self._pending.clear()


class _HttpAttachment:
    def __init__(self, response: Any, messages: AsyncIterator[tuple[str, Any]], state: dict[str, Any]) -> None:
        self.state = state
        self._response = response
        self._messages = messages
        self._closed = False

    async def events(self) -> AsyncIterator[PublicEvent]:
        try:
            async for name, data in self._messages:
                if name == "closed":
                    return
                if name == "failed":
                    raise to_refused(data["error"])
                if name == "reset":
                    yield {**data, "type": "session.reset", "turnId": None, "agentPath": [], "at": 0}
                if name in ("e", "v"):
                    yield data
        except PeerGone:
            if not self._closed:
                raise
            return
        if not self._closed:
            raise PeerGone("The server ended the stream of events.")

    async def close(self) -> None:
        self._closed = True
        await self._response.aclose()


class HttpTransport:
    """Connects to a gateway: requests by POST, events as server-sent events. Needs the extra `http`."""

    reconnects = True

    def __init__(self, url: str, token: str) -> None:
        try:
            import httpx
        except ImportError as error:
            raise ImportError("To connect to a gateway, install agentwire-client[http].") from error
        self._httpx = httpx
        self._url = url
        timeout = httpx.Timeout(10, read=None)
        self._client = httpx.AsyncClient(
            base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=timeout, trust_env=False
        )
        self._ids = 0

    async def request(self, name: str, params: Params) -> Any:
        self._ids += 1
        body = {"jsonrpc": "2.0", "id": self._ids, "method": name, "params": params}
        try:
            response = await self._client.post("/rpc", json=body)
        except (self._httpx.HTTPError, RuntimeError) as error:
            raise PeerGone(f"{self._url} could not be reached: {error}") from error
        self._check(response.status_code, response.text)
        answer = response.json()
        if "error" in answer:
            raise to_refused(answer["error"])
        return answer["result"]

    async def attach(self, params: Params) -> Attachment:
        request = self._client.build_request("POST", "/events", json=params, timeout=self._httpx.Timeout(10, read=45))
        try:
            response = await self._client.send(request, stream=True)
        except (self._httpx.HTTPError, RuntimeError) as error:
            raise PeerGone(f"{self._url} could not be reached: {error}") from error
        if response.status_code != 200:
            await response.aread()
            self._check(response.status_code, response.text)
        messages = self._messages(response)
        async for name, data in messages:
            if name == "state":
                return _HttpAttachment(response, messages, data)
            await response.aclose()
            raise to_refused(data["error"])
        raise PeerGone(f"{self._url} ended the stream of events.")

    async def close(self) -> None:
        await self._client.aclose()

    def _check(self, status: int, text: str) -> None:
        if status == 200:
            return
        try:
            own = json.loads(text)
            raise Refused(own.get("code") or f"http-{status}", own["error"])
        except (ValueError, KeyError):
            raise Refused(f"http-{status}", f"HTTP {status}") from None

    async def _messages(self, response: Any) -> AsyncIterator[tuple[str, Any]]:
        name, data = "message", ""
        try:
            async for line in response.aiter_lines():
                if line == "":
                    if data:
                        yield name, json.loads(data)
                    name, data = "message", ""
                elif line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    data += line[6:]
        except (self._httpx.HTTPError, RuntimeError) as error:
            raise PeerGone(f"The stream of events was lost: {error}") from error
