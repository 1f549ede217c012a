"""Tools of the client's own process, and schemas for their arguments and for structured output."""

from __future__ import annotations

import inspect
import json
import types
import typing
from dataclasses import dataclass
from typing import Any, Callable, Literal, Union, overload

JsonSchema = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """A function that the model can call. Make one with the decorator `tool`."""

    name: str
    description: str
    parameters: JsonSchema
    run: Callable[..., Any]

    async def call(self, text: str | None) -> tuple[bool, str]:
        """Calls it with arguments as the model wrote them: whether it failed, and what the model reads. Never raises."""
        try:
            arguments: dict[str, Any] = json.loads(text) if text and text.strip() else {}
            hints = typing.get_type_hints(self.run)
            value = self.run(**{key: _read(each, hints.get(key)) for key, each in arguments.items()})
            if inspect.isawaitable(value):
                value = await value
            return False, value if isinstance(value, str) else json.dumps(_plain(value))
        except Exception as error:  # what a tool raises, the model reads
            return True, f"{self.name} failed: {error}"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, parameters: JsonSchema | None = None
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: JsonSchema | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a function, async or not, a tool. Its name, docstring and type hints describe it to the model."""

    def make(run: Callable[..., Any]) -> Tool:
        about = description or inspect.getdoc(run)
        if not about:
            raise TypeError(f"The tool {run.__name__} needs a docstring or a description: the model reads it.")
        return Tool(name or run.__name__, about, parameters or schema_of_function(run), run)

    return make if function is None else make(function)


def schema_of_function(run: Callable[..., Any]) -> JsonSchema:
    """JSON Schema of a function's arguments, from its type hints."""
    hints = typing.get_type_hints(run)
    parameters = inspect.signature(run).parameters.values()
    return {
        "type": "object",
        "properties": {each.name: schema_of(hints.get(each.name, Any)) for each in parameters},
        "required": [each.name for each in parameters if each.default is inspect.Parameter.empty],
        "additionalProperties": False,
    }


_SIMPLE: dict[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def schema_of(hint: Any) -> JsonSchema:
    """JSON Schema of a type: simple types, Literal, Optional, unions, list, dict, TypedDict, dataclass, pydantic model."""
    if isinstance(hint, dict):
        return typing.cast(JsonSchema, hint)
    if hasattr(hint, "model_json_schema"):
        return hint.model_json_schema()
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if hint is type(None):
        return {"type": "null"}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(each) for each in arguments]}
    if origin in (list, tuple, set) or hint is list:
        return {"type": "array", "items": schema_of(arguments[0]) if arguments else {}}
    if origin is dict or hint is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1]) if arguments else True}
    members: dict[str, Any] = getattr(hint, "__annotations__", {})
    if members:
        hints = typing.get_type_hints(hint)
        return {
            "type": "object",
            "properties": {key: schema_of(each) for key, each in hints.items()},
            "required": [key for key in hints if not hasattr(hint, key)],
        }
    return {}


def read_output(hint: Any, value: Any) -> Any:
    """A structured answer as the type that was asked for; a value of a plain JSON Schema stays as it is."""
    return _read(value, hint)


def _read(value: Any, hint: Any) -> Any:
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    if hasattr(hint, "__dataclass_fields__") and isinstance(value, dict):
        return hint(**value)
    return value


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
