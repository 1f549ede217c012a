"""What the agent waits for: approvals and questions, each answered once, by whichever client is first."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Mapping

Respond = Callable[[dict[str, Any]], Awaitable[bool]]


class Approval:
    """A tool call that needs a decision. It stays open until somebody answers, whatever becomes of this client.

    The answering methods return whether this answer counted: False when somebody else had answered before.
    """

    def __init__(self, raw: dict[str, Any], respond: Respond) -> None:
        self.raw = raw
        self.id: str = raw["id"]
        self.call_id: str = raw["toolCallId"]
        self.tool: str = raw["sender"]
        self.description: str = raw["description"]
        self.display: list[dict[str, Any]] = raw["display"]
        self.reason: str | None = raw.get("reason")
        """The rule or doubt because of which it is asked; None when it is asked by default."""
        self.grants: list[str] = raw.get("grants", [])
        """What `for_session` would allow from then on, as patterns of rules."""
        self.agent: str | None = raw.get("agentId")
        self._respond = respond

    async def once(self) -> bool:
        """Allows this call."""
        return await self._respond({"kind": "approval", "decision": "approve", "feedback": ""})

    async def for_session(self) -> bool:
        """Allows this call and what `grants` names, for the rest of the session."""
        return await self._respond({"kind": "approval", "decision": "approve_for_session", "feedback": ""})

    async def reject(self, reason: str = "") -> bool:
        """Refuses it; the model reads the reason."""
        return await self._respond({"kind": "approval", "decision": "reject", "feedback": reason})


class Question:
    """Questions of the agent to a person."""

    def __init__(self, raw: dict[str, Any], respond: Respond) -> None:
        self.raw = raw
        self.id: str = raw["id"]
        self.call_id: str = raw["toolCallId"]
        self.questions: list[dict[str, Any]] = raw["questions"]
        self._respond = respond

    async def answer(self, answers: Mapping[str, str]) -> bool:
        """Answers by the text of each question: the label of an option, or free text."""
        return await self._respond({"kind": "question", "answers": dict(answers)})

    async def dismiss(self) -> bool:
        """Answers nothing; the model goes on without."""
        return await self.answer({})
