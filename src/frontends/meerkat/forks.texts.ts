// The texts of the document of Meerkat RPC for forks.

const source = (name: string) => ({
	[`${name}.session_id`]: "The session to copy from.",
	[`${name}.message_index`]: "A message, as `session/history` counts them from 0.",
	[`${name}.running_behavior`]:
		"A session with a running turn is refused (`SESSION_BUSY`); there is no other behavior.",
	[`${name}.tool_access_policy`]: "Not supported: null or absent.",
});

const result = (name: string) => ({
	[`${name}.source_session_id`]: "As requested.",
	[`${name}.session_id`]: "The new session.",
	[`${name}.message_count`]: "Messages of the new session.",
	[`${name}.cache_inheritance`]: "What the provider has cached of it; always unknown.",
	[`${name}.cache_inheritance.message_count`]: "Messages of the new session.",
});

/** For each `mcp/*` method. */
const mcpResults = Object.fromEntries(
	["McpAddResult", "McpRemoveResult", "McpReloadResult"].flatMap((name) => [
		[`${name}.session_id`, "The session."],
		[`${name}.operation`, "What was requested."],
		[`${name}.server_name`, "The server; absent when all are reloaded."],
		[`${name}.persisted`, "Always false."],
		[`${name}.status`, "Always `staged`: it takes effect with the next turn."],
	]),
);

const notPersisted = "servers in the settings are in files.";

export const forkTexts: Readonly<Record<string, string>> = {
	...mcpResults,
	"session/fork_at": `Creates a session with the messages of this one before an index, and with its creation options; the system prompt is always
kept. It is stored completely or not at all. A tool call is not separated from its result. Unknown params are refused.`,
	...source("SessionForkAtParams"),
	...result("SessionForkAtResult"),
	"session/fork_replace":
		"The same, with another message in place of the one at the index; later messages are left out.",
	...source("SessionForkReplaceParams"),
	"SessionForkReplaceParams.replacement": "The other message, or one block of it; tool results cannot be replaced.",
	...result("SessionForkReplaceResult"),
	"session/inject_context": `Adds a system message to the conversation, which the model sees from the next turn on. During a run, the response comes after its
end. With a key the message is added once: the same text with that key is a duplicate, a different one is refused.`,
	"SessionInjectContextParams.session_id": "The session.",
	"SessionInjectContextParams.content": "One text block.",
	"SessionInjectContextParams.source": "Who adds it: each source has its own keys.",
	"SessionInjectContextParams.idempotency_key": "Names this message; without one it is added each time.",
	"SessionInjectContextResult.status": "Whether it was added now or before.",
	"mcp/add": `Adds an MCP server to the session, replacing one with the same name. It is used from the next turn on, until the session is unloaded;
an event of that turn reports the outcome. A server needs a name, and a \`command\` or a \`url\`; other members are refused.`,
	"McpAddParams.session_id": "The session.",
	"McpAddParams.server_config": "The server.",
	"McpAddParams.persisted": `False, or absent: ${notPersisted}`,
	"mcp/remove":
		"Removes an MCP server from the session, from the next turn on. A server in the settings is used again once the session is reloaded.",
	"McpRemoveParams.session_id": "The session.",
	"McpRemoveParams.server_name": "Its name. Without a server of this name, nothing happens.",
	"McpRemoveParams.persisted": `False, or absent: ${notPersisted}`,
	"mcp/reload":
		"Restarts an MCP server of the session, with its next turn. Fails with `INVALID_PARAMS` if there is no server of this name.",
	"McpReloadParams.session_id": "The session.",
	"McpReloadParams.server_name": "Its name; null for all of them.",
	"McpReloadParams.persisted": `False, or absent: ${notPersisted}`,
	"session/external_event": `Stores something that happened elsewhere. When the next turn starts, all waiting events are the input of a separate run before that of
the prompt. Events alone do not start a run. At most 64 can wait; more fail with \`OVERLOADED\`.`,
	"SessionExternalEventParams.session_id": "The session.",
	"SessionExternalEventParams.kind": "The protocol's other kind, a response from another agent, is refused.",
	"SessionExternalEventParams.event_type": "What happened, such as `build.done`.",
	"SessionExternalEventParams.payload": "Any JSON, which the model is shown.",
	"SessionExternalEventParams.blocks": "Texts and images that the model is shown before it.",
	"SessionExternalEventParams.idempotency_key":
		"The same event with this key is not stored again; a different one is refused.",
	"SessionExternalEventResult.outcome_type": "`deduplicated` if it was already sent with this key.",
	"SessionExternalEventResult.input_id": "Names the event.",
	"SessionExternalEventResult.existing_id": "The event that was sent earlier.",
	"SessionExternalEventResult.state": "Its state: waiting.",
	"SessionExternalEventResult.state.input_id": "The same.",
	"SessionExternalEventResult.state.current_state": "Always `queued`.",
	"SessionExternalEventResult.state.attempt_count": "Always 0.",
	"SessionExternalEventResult.state.recovery_count": "Always 0.",
	"SessionExternalEventResult.state.history": "How it reached this state.",
	"SessionExternalEventResult.state.history[].timestamp": "When it came; ISO 8601.",
	"SessionExternalEventResult.state.created_at": "When it came; ISO 8601.",
	"SessionExternalEventResult.state.updated_at": "The same.",
	"skills/list": "Lists the skills of the work directory of the process.",
	"SkillsListResult.skills": "By name.",
	"SkillsListResult.skills[].key": "Names the skill.",
	"SkillsListResult.skills[].key.source_uuid": "Where it comes from.",
	"SkillsListResult.skills[].key.skill_name": "Its name.",
	"SkillsListResult.skills[].name": "Its name.",
	"SkillsListResult.skills[].description": "Its purpose, in one line.",
	"SkillsListResult.skills[].scope": "Where it comes from, in a word.",
	"SkillsListResult.skills[].source": "Where it comes from.",
	"SkillsListResult.skills[].source.source_uuid": "Always the same for this scope.",
	"SkillsListResult.skills[].source.display_name": "For people.",
	"SkillsListResult.skills[].source.transport_kind": "Files, or the program itself.",
	"SkillsListResult.skills[].source.fingerprint": "The source in a word.",
};
