"""What a program reads of a turn: a closed set of events, made from what the server sends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Union

from ._protocol import PublicEvent
from .asks import Approval, Question


class Cursor(NamedTuple):
    """A position in a session's history, for `Session.events(after=...)`."""

    epoch: str
    seq: int


@dataclass(frozen=True)
class Usage:
    """Tokens. The three counts of the input do not overlap."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )


Outcome = Literal["finished", "truncated", "refused", "cancelled", "limit", "failed"]


@dataclass(frozen=True)
class TurnError:
    code: str
    message: str


@dataclass(frozen=True)
class TurnResult:
    """How a turn ended."""

    outcome: Outcome
    turn_id: str
    """Empty for a turn that did not start."""
    text: str
    """The last answer of the agent."""
    output: Any = None
    """The answer in the form that `output` asked for; None without one."""
    usage: Usage = field(default_factory=Usage)
    """What the turn's own model calls consumed."""
    error: TurnError | None = None
    """Why it did not finish; None for `finished` and `cancelled`."""


@dataclass(frozen=True)
class Event:
    """What every event has."""

    agent: str | None
    """The subagent that it comes from; None for the session's own agent."""
    cursor: Cursor | None
    """None for what is not stored."""


@dataclass(frozen=True)
class Text(Event):
    text: str


@dataclass(frozen=True)
class Thinking(Event):
    text: str


@dataclass(frozen=True)
class Step(Event):
    n: int


@dataclass(frozen=True)
class CallStarted(Event):
    call_id: str
    name: str
    arguments: str | None
    """JSON text as the model wrote it."""


@dataclass(frozen=True)
class CallOutput(Event):
    call_id: str
    text: str


@dataclass(frozen=True)
class CallEnded(Event):
    call_id: str
    is_error: bool
    output: str


@dataclass(frozen=True)
class ApprovalAsked(Event):
    ask: Approval


@dataclass(frozen=True)
class QuestionAsked(Event):
    ask: Question


@dataclass(frozen=True)
class Settled(Event):
    ask_id: str


@dataclass(frozen=True)
class Plan(Event):
    text: str
    file: str


@dataclass(frozen=True)
class Retry(Event):
    attempt: int
    attempts: int
    seconds: float
    reason: str


@dataclass(frozen=True)
class UsageCounted(Event):
    context: float | None
    """The share of the context window that is used; None when unchanged."""
    tokens: Usage | None


@dataclass(frozen=True)
class Notice(Event):
    title: str
    text: str


@dataclass(frozen=True)
class Ended(Event):
    result: TurnResult


@dataclass(frozen=True)
class Unknown(Event):
    """Anything else, also what a later server sends: `name` is the type of the event in the protocol."""

    name: str
    raw: PublicEvent


TurnEvent = Union[
    Text,
    Thinking,
    Step,
    CallStarted,
    CallOutput,
    CallEnded,
    ApprovalAsked,
    QuestionAsked,
    Settled,
    Plan,
    Retry,
    UsageCounted,
    Notice,
    Ended,
    Unknown,
]


def cursor_of(event: PublicEvent) -> Cursor | None:
    """The position of a durable event; None for others."""
    epoch, seq = event.get("epoch"), event.get("seq")
    return None if epoch is None or seq is None else Cursor(epoch, seq)


def agent_of(event: PublicEvent) -> str | None:
    path = event["agentPath"]
    return path[-1]["agentId"] if path else None


def usage_of(event: PublicEvent) -> Usage | None:
    tokens = event.get("token_usage")
    if tokens is None:
        return None
    return Usage(
        tokens["input_other"], tokens["input_cache_read"], tokens["input_cache_creation"], tokens["output"]
    )


def output_text(output: str | list[dict[str, Any]]) -> str:
    """The text of a tool's output; media are left out."""
    if isinstance(output, str):
        return output
    return "\n".join(part["text"] for part in output if part["type"] == "text")


# Their texts are in the pieces, which the turn puts together.
_SILENT = frozenset(
    ["content.delta", "content.completed", "tool-call.started", "tool-call.delta", "turn.started"]
)


def to_event(event: PublicEvent) -> TurnEvent | None:
    """What the event is to a program, apart from what only the session can say: asks and the end."""
    agent, cursor = agent_of(event), cursor_of(event)
    kind = event["type"]
    if kind in _SILENT:
        return None
    if kind == "step.started":
        return Step(agent, cursor, event["n"])
    if kind == "tool.requested":
        call = event["call"]
        return CallStarted(agent, cursor, call["id"], call["function"]["name"], call["function"]["arguments"])
    if kind == "tool.progress":
        return CallOutput(agent, cursor, event["toolCallId"], event["text"])
    if kind == "tool.result":
        result = event["result"]
        text = output_text(result["output"])
        return CallEnded(agent, cursor, event["toolCallId"], result["is_error"], text or result["message"])
    if kind == "interaction.resolved":
        return Settled(agent, cursor, event["interactionId"])
    if kind == "plan.displayed":
        return Plan(agent, cursor, event["content"], event["file_path"])
    if kind == "step.retrying":
        reason = event.get("reason") or event["error_type"]
        return Retry(agent, cursor, event["next_attempt"], event["max_attempts"], event["wait_s"], reason)
    if kind == "status.changed":
        return UsageCounted(agent, cursor, event["context_usage"], usage_of(event))
    if kind == "notification.raised":
        return Notice(agent, cursor, event["title"], event["body"])
    return Unknown(agent, cursor, kind, event)
