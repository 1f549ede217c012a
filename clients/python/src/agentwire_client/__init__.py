"""Drive an agentwire agent from Python. Start with `connect`; `agentwire_client.sync` has the same without async."""

from .asks import Approval, Question
from .errors import PeerGone, Refused
from .events import (
    ApprovalAsked,
    CallEnded,
    CallOutput,
    CallStarted,
    Cursor,
    Ended,
    Notice,
    Plan,
    QuestionAsked,
    Retry,
    Settled,
    Step,
    Text,
    Thinking,
    TurnError,
    TurnEvent,
    TurnResult,
    Unknown,
    Usage,
    UsageCounted,
    cursor_of,
)
from .kernel import Kernel, connect
from .session import Hook, PromptFile, Session
from .tools import Tool, tool
from .turn import Turn

__all__ = [
    "Approval",
    "ApprovalAsked",
    "CallEnded",
    "CallOutput",
    "CallStarted",
    "Cursor",
    "Ended",
    "Hook",
    "Kernel",
    "Notice",
    "PeerGone",
    "Plan",
    "PromptFile",
    "Question",
    "QuestionAsked",
    "Refused",
    "Retry",
    "Session",
    "Settled",
    "Step",
    "Text",
    "Thinking",
    "Tool",
    "Turn",
    "TurnError",
    "TurnEvent",
    "TurnResult",
    "Unknown",
    "Usage",
    "UsageCounted",
    "connect",
    "cursor_of",
    "tool",
]
