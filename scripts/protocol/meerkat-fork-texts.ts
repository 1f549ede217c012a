// The texts of the document of Meerkat RPC for forks.

const source = (name: string) => ({
	[`${name}.session_id`]: "The session to copy from.",
	[`${name}.message_index`]: "A message, as `session/history` counts them from 0.",
	[`${name}.running_behavior`]:
		"A session with a running turn is refused (`SESSION_BUSY`); there is no other behavior.",
	[`${name}.tool_access_policy`]: "Not supported: null, or left out.",
});

const result = (name: string) => ({
	[`${name}.source_session_id`]: "As requested.",
	[`${name}.session_id`]: "The new session.",
	[`${name}.message_count`]: "Messages of the new session.",
	[`${name}.cache_inheritance`]: "What the provider has cached of it, which is not known.",
	[`${name}.cache_inheritance.message_count`]: "Messages of the new session.",
});

/** Of each of the methods `mcp/*`. */
const mcpResults = Object.fromEntries(
	["McpAddResult", "McpRemoveResult", "McpReloadResult"].flatMap((name) => [
		[`${name}.session_id`, "The session."],
		[`${name}.operation`, "What was requested."],
		[`${name}.server_name`, "The server; absent when all are reloaded."],
		[`${name}.persisted`, "Always false."],
		[`${name}.status`, "Always `staged`: it takes effect with the next turn."],
	]),
);

const notPersisted = "the servers of settings are in files.";

export const forkTexts: Readonly<Record<string, string>> = {
	...mcpResults,
	"session/fork_at": `Creates a session with the messages of this one before an index, and with what this one was created with; the system prompt is
always retained. It is stored as a whole or not at all. A call of a tool is not separated from its result. Unknown params are refused.`,
	...source("SessionForkAtParams"),
	...result("SessionForkAtResult"),
	"session/fork_replace":
		"The same, with another message in place of the one at the index; those after it are left out.",
	...source("SessionForkReplaceParams"),
	"SessionForkReplaceParams.replacement": "The other message, or one block of it; results of tools cannot be replaced.",
	...result("SessionForkReplaceResult"),
	"session/inject_context": `Adds a message of the system to the conversation, which the model sees from the next turn on. During a run the answer comes
after its end. A key makes it once: the same text under it again is a duplicate, another one is refused.`,
	"SessionInjectContextParams.session_id": "The session.",
	"SessionInjectContextParams.content": "One block of text.",
	"SessionInjectContextParams.source": "Who adds it: keys of different sources are different.",
	"SessionInjectContextParams.idempotency_key": "Names this message; without one it is added each time.",
	"SessionInjectContextResult.status": "Whether it was added now or before.",
	"mcp/add": `Adds an MCP server to the session, in place of one of the same name. It is used from the next turn on, until the session is unloaded; what
came of it is an event of that turn. A server needs a name, and a \`command\` or a \`url\`; other members are refused.`,
	"McpAddParams.session_id": "The session.",
	"McpAddParams.server_config": "The server.",
	"McpAddParams.persisted": `False, or absent: ${notPersisted}`,
	"mcp/remove":
		"Removes an MCP server from the session, from the next turn on. One of the settings is used again when the session is loaded again.",
	"McpRemoveParams.session_id": "The session.",
	"McpRemoveParams.server_name": "Its name. Nothing happens when there is none of this name.",
	"McpRemoveParams.persisted": `False, or absent: ${notPersisted}`,
	"mcp/reload":
		"Starts an MCP server of the session again, with its next turn. Fails with `INVALID_PARAMS` when there is none of this name.",
	"McpReloadParams.session_id": "The session.",
	"McpReloadParams.server_name": "Its name; null for all of them.",
	"McpReloadParams.persisted": `False, or absent: ${notPersisted}`,
	"session/external_event": `Stores something that happened elsewhere. When the next turn is started, what waits is the input of a run of its own before that
of the prompt. It starts no run by itself. At most 64 wait; more fail with \`OVERLOADED\`.`,
	"SessionExternalEventParams.session_id": "The session.",
	"SessionExternalEventParams.kind": "What else the protocol knows, an answer of another agent, is refused.",
	"SessionExternalEventParams.event_type": "What happened, such as `build.done`.",
	"SessionExternalEventParams.payload": "Any JSON, which the model is shown.",
	"SessionExternalEventParams.blocks": "Texts that the model is shown before it, and images.",
	"SessionExternalEventParams.idempotency_key":
		"The same event under it again is not stored again, another one is refused.",
	"SessionExternalEventResult.outcome_type": "`deduplicated` for one that was sent before under its key.",
	"SessionExternalEventResult.input_id": "Names the event.",
	"SessionExternalEventResult.existing_id": "The event that was sent before.",
	"SessionExternalEventResult.state": "That it waits.",
	"SessionExternalEventResult.state.input_id": "The same.",
	"SessionExternalEventResult.state.current_state": "Always `queued`.",
	"SessionExternalEventResult.state.attempt_count": "Always 0.",
	"SessionExternalEventResult.state.recovery_count": "Always 0.",
	"SessionExternalEventResult.state.history": "How it came to that.",
	"SessionExternalEventResult.state.history[].timestamp": "When it came; ISO 8601.",
	"SessionExternalEventResult.state.created_at": "When it came; ISO 8601.",
	"SessionExternalEventResult.state.updated_at": "The same.",
	"skills/list": "Lists the skills of the work directory of the process.",
	"SkillsListResult.skills": "By name.",
	"SkillsListResult.skills[].key": "Names the skill.",
	"SkillsListResult.skills[].key.source_uuid": "Where it comes from.",
	"SkillsListResult.skills[].key.skill_name": "Its name.",
	"SkillsListResult.skills[].name": "Its name.",
	"SkillsListResult.skills[].description": "What it is for, in one line.",
	"SkillsListResult.skills[].scope": "Where it comes from, in a word.",
	"SkillsListResult.skills[].source": "Where it comes from.",
	"SkillsListResult.skills[].source.source_uuid": "Always the same for this scope.",
	"SkillsListResult.skills[].source.display_name": "For people.",
	"SkillsListResult.skills[].source.transport_kind": "Files, or the program itself.",
	"SkillsListResult.skills[].source.fingerprint": "The source in a word.",
};
