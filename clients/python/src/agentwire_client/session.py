"""A session as a program uses it: turns, asks, its own tools and hooks, events."""

from __future__ import annotations

import asyncio
import base64
import inspect
import os
import uuid
from dataclasses import dataclass
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Sequence, TypeVar, Union

from ._protocol import PublicEvent
from .asks import Approval, Question
from .errors import PeerGone, Refused
from .events import ApprovalAsked, Cursor, QuestionAsked, cursor_of
from .tools import Tool, read_output, schema_of
from .transport import Attachment, Transport
from .turn import Turn

T = TypeVar("T")
Ask = Union[Approval, Question]

_RETRY_TIMES = (0.2, 0.5, 1, 2, 4, 8, 8, 8, 8, 8)


@dataclass(frozen=True)
class Hook:
    """A hook that this program decides. `run(input, target)` returns None to allow, or why it blocks; it may be async."""

    event: str
    run: Callable[[dict[str, Any], str], Any]
    matcher: str | None = None
    """A regular expression searched in the target, such as the name of the tool; None for everything."""
    timeout: float | None = None
    """Seconds; None for 30. A hook that is late allows."""


@dataclass(frozen=True)
class PromptFile:
    name: str
    type: str
    """Its media type, such as `image/png`."""
    data: bytes

    @classmethod
    def read(cls, path: str | os.PathLike[str], media_type: str) -> PromptFile:
        with open(path, "rb") as file:
            return cls(os.path.basename(path), media_type, file.read())


class Session:
    """Made by `Kernel.open`. Use it as an async context manager, or call `close`."""

    def __init__(
        self,
        transport: Transport,
        session_id: str,
        work_dir: str,
        *,
        client: dict[str, Any],
        approve: Callable[[Approval], Any] | None = None,
        question: Callable[[Question], Any] | None = None,
        tools: Sequence[Tool] = (),
        hooks: Sequence[Hook] = (),
        on_event: Callable[[PublicEvent], Any] | None = None,
    ) -> None:
        self.id = session_id
        self.work_dir = work_dir
        self._transport = transport
        self._client = client
        self._approve = approve
        self._question = question
        self._tools = {each.name: each for each in tools}
        self._hooks = {f"hook-{number}": each for number, each in enumerate(hooks, 1)}
        self._on_event = on_event
        self._turns: dict[str, Turn] = {}
        self._starting: dict[str, Turn] = {}
        self._outputs: dict[Turn, Any] = {}
        self._asks: dict[str, Ask] = {}
        self._handled: dict[str, asyncio.Task[Any]] = {}
        self._attachment: Attachment | None = None
        self._cursor: Cursor | None = None
        self._gone: PeerGone | None = None
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def prompt(
        self,
        input: str | list[dict[str, Any]],
        *,
        output: Any = None,
        output_retries: int = 2,
        files: Sequence[PromptFile] = (),
        key: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Starts a turn. Iterate it for its events, await it for its result.

        `output` is the form of the answer: a JSON Schema, a type with annotations, or a pydantic model. `key` names the
        turn: sending the prompt again after a lost connection does not start another. A prompt that the server refuses,
        for example `busy` while another turn runs, is a result with the outcome `failed`.
        """
        turn = Turn(self.cancel, self.steer)
        given = dict(options or {})
        if output is not None:
            self._outputs[turn] = output
            given["answerForm"] = {"schema": schema_of(output), "retries": output_retries}
        params: dict[str, Any] = {
            "sessionId": self.id,
            "input": input,
            "key": key or uuid.uuid4().hex,
            "options": given,
        }
        if files:
            params["files"] = [
                {"name": each.name, "type": each.type, "data": base64.b64encode(each.data).decode()} for each in files
            ]
        self._spawn(self._start(turn, params))
        return turn

    async def steer(self, text: str) -> None:
        """Adds input to the running turn. Raises Refused, `no-turn`, when none runs."""
        await self._transport.request("turn.steer", {"sessionId": self.id, "input": text})

    async def cancel(self) -> bool:
        """Cancels the running turn; False when none ran."""
        try:
            await self._transport.request("turn.cancel", {"sessionId": self.id})
            return True
        except Refused as error:
            if error.code != "no-turn":
                raise
            return False

    async def waiting(self) -> list[Ask]:
        """What waits for an answer now."""
        snapshot = await self.snapshot()
        asks = (self._to_ask(event) for event in snapshot["openInteractions"])
        return [ask for ask in asks if ask is not None]

    async def snapshot(self) -> dict[str, Any]:
        """The state of the session."""
        return await self._transport.request("session.snapshot", {"sessionId": self.id})

    async def set_mode(self, mode: str) -> None:
        """Sets `default`, `plan`, `auto` or `yolo`."""
        await self._transport.request("mode.set", {"sessionId": self.id, "mode": mode})

    async def set_model(self, model: str, *, thinking: bool | None = None) -> None:
        """Chooses the model of the next turns by its alias."""
        await self._transport.request("model.set", {"sessionId": self.id, "model": model, "thinking": thinking})

    async def rename(self, title: str) -> None:
        await self._transport.request("sessions.rename", {"sessionId": self.id, "title": title})

    async def history(self, *, after: Cursor | None = None) -> AsyncIterator[PublicEvent]:
        """The stored events after a cursor, or from the first on, as the server has them at this moment."""
        place: dict[str, Any] = {} if after is None else {"after": after._asdict()}
        while True:
            page = await self._transport.request("session.history", {"sessionId": self.id, **place})
            for event in page["events"]:
                yield event
            if page["isEnd"]:
                return
            place = {"after": page["cursor"]}

    async def events(self, *, after: Cursor | None = None) -> AsyncIterator[PublicEvent]:
        """The events after a cursor, or from now on, without an end; durable ones are never missed.

        `cursor_of` gives the cursor of one, to continue after it in any later process.
        """
        cursor = after
        while True:
            place: dict[str, Any] = {} if cursor is None else {"after": cursor._asdict()}
            attachment = await self._again(lambda: self._transport.attach({"sessionId": self.id, **place}))
            cursor = cursor or Cursor(**attachment.state["snapshot"]["cursor"])
            try:
                async for event in attachment.events():
                    cursor = cursor_of(event) or cursor
                    yield event
                return
            except PeerGone:
                if not self._transport.reconnects:
                    raise
            finally:
                await attachment.close()

    async def close(self) -> None:
        """Leaves the session; it stays stored, and a running turn goes on. Idempotent."""
        if self._closed:
            return
        self._closed = True
        if self._attachment is not None:
            await self._attachment.close()
        self._lose(PeerGone("The session was closed by the client."))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _open(self) -> None:
        attachment = await self._attach()
        for refused in attachment.state["tools"]["rejected"]:
            await attachment.close()
            raise Refused("invalid-input", f"The tool {refused['name']} was refused: {refused['reason']}")
        self._spawn(self._follow(attachment))

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _start(self, turn: Turn, params: dict[str, Any]) -> None:
        self._starting[params["key"]] = turn
        try:
            if self._gone is not None:
                raise self._gone
            turn.id = (await self._again(lambda: self._transport.request("turn.start", params)))["turnId"]
        except Refused as error:
            self._starting.pop(params["key"], None)
            turn.end({"status": "failed", "error": {"code": error.code, "message": str(error)}})
        except PeerGone as error:
            self._starting.pop(params["key"], None)
            turn.lose(error)

    async def _attach(self) -> Attachment:
        params: dict[str, Any] = {
            "sessionId": self.id,
            "client": self._client,
            "answers": True,
            "tools": [
                {"name": each.name, "description": each.description, "parameters": each.parameters}
                for each in self._tools.values()
            ],
            "hooks": [
                {
                    "id": name,
                    "event": hook.event,
                    **({} if hook.matcher is None else {"matcher": hook.matcher}),
                    **({} if hook.timeout is None else {"timeout": hook.timeout}),
                }
                for name, hook in self._hooks.items()
            ],
        }
        if self._attachment is not None:
            params["replaces"] = self._attachment.state["clientId"]
        if self._cursor is not None:
            params["after"] = self._cursor._asdict()
        attachment = await self._transport.attach(params)
        self._attachment = attachment
        if self._cursor is None:
            self._cursor = Cursor(**attachment.state["snapshot"]["cursor"])
            for event in attachment.state["snapshot"]["openInteractions"]:
                self._take(event)
        return attachment

    async def _follow(self, attachment: Attachment) -> None:
        """Takes the events until the session is closed or lost for good."""
        while True:
            try:
                async for event in attachment.events():
                    self._take(event)
                self._lose(PeerGone("The server closed the session."))
                return
            except (PeerGone, Refused) as error:
                gone = error if isinstance(error, PeerGone) else PeerGone(str(error))
                if self._closed or not self._transport.reconnects:
                    self._lose(gone)
                    return
                try:
                    attachment = await self._again(self._attach)
                except (PeerGone, Refused):
                    self._lose(gone)
                    return

    async def _again(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Tries again while the server cannot be reached, where the transport can connect again."""
        for wait in _RETRY_TIMES if self._transport.reconnects else ():
            try:
                return await attempt()
            except PeerGone:
                if self._closed:
                    raise
                await asyncio.sleep(wait)
        return await attempt()

    def _lose(self, gone: PeerGone) -> None:
        self._gone = self._gone or gone
        for turn in [*self._turns.values(), *self._starting.values()]:
            turn.lose(self._gone)
        self._turns.clear()
        self._starting.clear()

    def _take(self, event: PublicEvent) -> None:
        self._cursor = cursor_of(event) or self._cursor
        kind, turn = event["type"], self._turn_of(event)
        if kind == "interaction.requested":
            self._take_request(event, turn)
        elif kind == "turn.ended" and not event["agentPath"]:
            self._end_turn(event, turn)
        elif turn is not None:
            turn.take(event)
        if kind == "interaction.resolved":
            self._asks.pop(event["interactionId"], None)
            handler = self._handled.pop(event["interactionId"], None)
            if handler is not None and handler is not asyncio.current_task():
                # An answer of ours that is on its way has been read by now.
                handler.cancel()
        if self._on_event is not None:
            self._on_event(event)

    def _turn_of(self, event: PublicEvent) -> Turn | None:
        turn_id = event["turnId"]
        if turn_id is None:
            return None
        if event["type"] == "turn.started" and not event["agentPath"]:
            starting = self._starting.pop(event.get("key") or "", None)
            if starting is not None:
                starting.id = turn_id
                self._turns[turn_id] = starting
        return self._turns.get(turn_id)

    def _end_turn(self, event: PublicEvent, turn: Turn | None) -> None:
        if turn is None:
            return
        del self._turns[event["turnId"]]
        outcome: dict[str, Any] | None = event["outcome"]
        formed: dict[str, Any] = outcome.get("formed", {}) if outcome is not None else {}
        hint = self._outputs.pop(turn, None)
        if formed.get("kind") != "formed":
            turn.end(outcome)
            return
        try:
            turn.end(outcome, read_output(hint, formed["value"]))
        except Exception as error:  # pydantic's own, which need not be installed
            message = f"The answer does not fit the model: {error}"
            turn.end({"status": "failed", "error": {"code": "invalid-input", "message": message}})

    def _take_request(self, event: PublicEvent, turn: Turn | None) -> None:
        interaction = event["interaction"]
        ask_id = interaction["id"]
        if ask_id in self._handled:
            return
        kind = interaction["kind"]
        if kind in ("approval", "question"):
            ask = self._to_ask(event)
            if ask is not None and turn is not None:
                turn.add((ApprovalAsked if isinstance(ask, Approval) else QuestionAsked)(None, cursor_of(event), ask))  # type: ignore[arg-type]
            if ask is not None:
                self._handled[ask_id] = self._spawn(self._call_back(ask))
        elif kind == "client-tool" and interaction["name"] in self._tools:
            self._handled[ask_id] = self._spawn(self._call_tool(self._tools[interaction["name"]], interaction))
        elif kind == "hook" and interaction["subscriptionId"] in self._hooks:
            if self._attachment is None or interaction.get("clientId") == self._attachment.state["clientId"]:
                hook = self._hooks[interaction["subscriptionId"]]
                self._handled[ask_id] = self._spawn(self._decide(hook, interaction))

    async def _call_tool(self, called: Tool, interaction: dict[str, Any]) -> None:
        is_error, output = await called.call(interaction["arguments"])
        result: dict[str, Any] = {
            "is_error": is_error,
            "output": "" if is_error else output,
            "message": output if is_error else "",
            "display": [],
        }
        await self._respond(interaction["id"], {"kind": "client-tool", "result": result})

    async def _decide(self, hook: Hook, interaction: dict[str, Any]) -> None:
        try:
            reason = hook.run(interaction["input"], interaction["target"])
            if inspect.isawaitable(reason):
                reason = await reason
        except Exception as error:  # a hook guards something: one that fails must not let it through
            reason = f"The hook failed: {error}"
        answer = {"kind": "hook", "action": "allow" if not reason else "block", "reason": reason or ""}
        await self._respond(interaction["id"], answer)

    async def _call_back(self, ask: Ask) -> None:
        callback: Callable[[Any], Any] | None = self._approve if isinstance(ask, Approval) else self._question
        if callback is None:
            return
        try:
            value = callback(ask)
            if inspect.isawaitable(value):
                await value
        except PeerGone:
            pass
        except Exception as error:  # whatever the callback raises rejects
            await (ask.reject(str(error)) if isinstance(ask, Approval) else ask.dismiss())

    def _to_ask(self, event: PublicEvent) -> Ask | None:
        interaction = event["interaction"]
        ask_id, kind = interaction["id"], interaction["kind"]
        if ask_id not in self._asks:

            async def respond(answer: dict[str, Any]) -> bool:
                return await self._respond(ask_id, answer)

            if kind == "approval":
                self._asks[ask_id] = Approval(interaction, respond)
            elif kind == "question":
                self._asks[ask_id] = Question(interaction, respond)
        return self._asks.get(ask_id)

    async def _respond(self, interaction_id: str, answer: dict[str, Any]) -> bool:
        params: dict[str, Any] = {"sessionId": self.id, "interactionId": interaction_id, "answer": answer}
        if self._attachment is not None:
            params["clientId"] = self._attachment.state["clientId"]
        return (await self._again(lambda: self._transport.request("interaction.respond", params)))["settled"]
