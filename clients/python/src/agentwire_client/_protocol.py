"""Values of the protocol, as JSON has them. The generated schema (schema/gateway.json) describes every member."""

from __future__ import annotations

from typing import Any, Dict

PublicEvent = Dict[str, Any]
Params = Dict[str, Any]
Result = Any
