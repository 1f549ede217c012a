// The texts of the document of Meerkat RPC for forks.

const source = (name: string) => ({
	[`${name}.session_id`]: "The session to copy from.",
	[`${name}.message_index`]: "A message, as `session/history` counts them from 0.",
	[`${name}.running_behavior`]:
		"A session with a running turn is refused (`SESSION_BUSY`); there is no other behaviour.",
	[`${name}.tool_access_policy`]: "Not supported: null, or left out.",
});

const result = (name: string) => ({
	[`${name}.source_session_id`]: "As requested.",
	[`${name}.session_id`]: "The new session.",
	[`${name}.message_count`]: "Messages of the new session.",
	[`${name}.cache_inheritance`]: "What the provider has cached of it, which is not known.",
	[`${name}.cache_inheritance.message_count`]: "Messages of the new session.",
});

export const forkTexts: Readonly<Record<string, string>> = {
	"session/fork_at": `Creates a session with the messages of this one before an index, and with what this one was created with; the system prompt is
always retained. It is stored as a whole or not at all. A call of a tool is not separated from its result. Unknown params are refused.`,
	...source("SessionForkAtParams"),
	...result("SessionForkAtResult"),
	"session/fork_replace":
		"The same, with another message in place of the one at the index; those after it are left out.",
	...source("SessionForkReplaceParams"),
	"SessionForkReplaceParams.replacement": "The other message, or one block of it; results of tools cannot be replaced.",
	...result("SessionForkReplaceResult"),
};
