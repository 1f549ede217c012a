// What a dialect leaves open to implementations.
import { isRecord } from "../../base/json.ts";

export const dialects = ["wire", "legacy", "meerkat", "acp", "claude", "codex", "codex-exec", "gateway"] as const;
export type TranscriptDialect = (typeof dialects)[number];

export interface Freedom {
	/** Members whose values may differ: texts for people, names, capabilities, counts. */
	readonly members: ReadonlySet<string>;
	/** Whether the message may come at any time or not at all. */
	isOptional(name: string): boolean;
	/** By message name: where a streamed piece has its text. */
	readonly pieces: Readonly<Record<string, readonly string[]>>;
	/** The name that distinguishes a message from others of its method. */
	nameOf(message: Readonly<Record<string, unknown>>): string;
}

export function memberAt(value: unknown, path: readonly string[]): unknown {
	return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}

/** The first text at one of the places, else the method. */
function namedBy(...places: readonly (readonly string[])[]): Freedom["nameOf"] {
	return (message) => {
		for (const place of [...places, ["method"]]) {
			const name = memberAt(message, place);
			if (typeof name === "string") return name;
		}
		return "";
	};
}

const among =
	(...names: readonly string[]): Freedom["isOptional"] =>
	(name) =>
		names.includes(name);

const implementation = ["name", "version", "title", "client", "clientInfo", "capabilities", "_meta"];
const counts = ["usage", "token_usage", "context_usage", "context_tokens", "max_context_tokens"];
/** Texts for people, of errors and approvals. */
export const wording = ["message", "description", "data", "display"];

export const freedoms: Readonly<Record<TranscriptDialect, Freedom>> = {
	wire: {
		members: new Set([
			...[...wording, ...counts, "message_id", "mcp_status", "extras", "feedback", "source_description"],
			...["server", "slash_commands", "client", "capabilities", "protocol_version", "hooks", "external_tools"],
			...["agent_id", "brief", "preview", "task_tool_call_id"],
		]),
		isOptional: among(
			"StatusUpdate",
			"MCPLoadingBegin",
			"MCPLoadingEnd",
			"Notification",
			"HookTriggered",
			"HookResolved",
		),
		pieces: { "ContentPart text": ["params", "payload", "text"], "ContentPart think": ["params", "payload", "think"] },
		nameOf(message) {
			const type = memberAt(message, ["params", "type"]);
			const part = memberAt(message, ["params", "payload", "type"]);
			return type === "ContentPart"
				? `ContentPart ${String(part)}`
				: typeof type === "string"
					? type
					: namedBy()(message);
		},
	},
	legacy: {
		members: new Set([...wording, ...counts, "brief"]),
		isOptional: among("status_update"),
		pieces: { content_part: ["params", "payload", "text"] },
		nameOf: namedBy(["params", "type"]),
	},
	meerkat: {
		members: new Set([
			...wording,
			...counts,
			"server_info",
			"contract_version",
			"methods",
			"duration_ms",
			"action",
			"backend",
		]),
		isOptional: among("stream_truncated", "budget_warning"),
		pieces: {
			text_delta: ["params", "event", "delta"],
			reasoning_delta: ["params", "event", "delta"],
		},
		nameOf: namedBy(["params", "event", "type"]),
	},
	acp: {
		members: new Set([
			...[
				...wording,
				...implementation,
				"agentInfo",
				"agentCapabilities",
				"authMethods",
				"modes",
				"models",
				"configOptions",
			],
			...[
				"clientCapabilities",
				"availableCommands",
				"toolCallId",
				"messageId",
				"kind",
				"locations",
				"rawInput",
				"rawOutput",
			],
			...["content", "options", "optionId", "status"],
		]),
		isOptional: among(
			"available_commands_update",
			"usage_update",
			"session_info_update",
			"current_mode_update",
			"config_option_update",
			"agent_thought_chunk",
			"tool_call_update",
			"plan",
		),
		pieces: { agent_message_chunk: ["params", "update", "content", "text"] },
		nameOf(message) {
			const name = namedBy(["params", "update", "sessionUpdate"])(message);
			const status = memberAt(message, ["params", "update", "status"]);
			return status === "completed" || status === "failed" ? `${name} ${status}` : name;
		},
	},
	claude: {
		members: new Set([
			...["commands", "agents", "output_style", "available_output_styles", "models", "account", "hooks_applied"],
			...["tools", "mcp_servers", "slash_commands", "skills", "plugins", "apiKeySource", "claude_code_version"],
			...["agentwire_version", "usage", "modelUsage", "total_cost_usd", "model", "stop_reason", "error", "errors"],
			...["permission_suggestions", "description", "clientInfo", "capabilities", "protocolVersion"],
		]),
		isOptional: among("keep_alive", "rate_limit_event", "tool_progress", "system status", "system api_retry"),
		pieces: {},
		nameOf(message) {
			const type = namedBy(["type"])(message);
			const subtype = message["subtype"] ?? memberAt(message, ["request", "subtype"]);
			return typeof subtype === "string" ? `${type} ${subtype}` : type;
		},
	},
	codex: {
		members: new Set([
			...[...wording, ...counts, "clientInfo", "userAgent", "codexHome", "platformFamily", "platformOs", "cliVersion"],
			// Error numbers are not specified, and servers have different models, sandboxes and shells.
			...["code", "codexErrorInfo", "model", "modelProvider", "sandbox", "reasoningEffort", "path", "name", "preview"],
			...["source", "command", "commandActions", "aggregatedOutput", "reason"],
			"items",
		]),
		isOptional: among(
			...[
				"thread/started",
				"thread/goal/cleared",
				"thread/tokenUsage/updated",
				"thread/status/changed",
				"thread/name/updated",
				"account/rateLimits/updated",
			],
			...["item/commandExecution/outputDelta", "serverRequest/resolved", "remoteControl/status/changed"],
			...[
				"mcpServer/startupStatus/updated",
				"turn/diff/updated",
				"turn/plan/updated",
				"warning",
				"configWarning",
				"deprecationNotice",
			],
		),
		pieces: { "item/agentMessage/delta": ["params", "delta"] },
		nameOf: namedBy(["params", "item", "type"]),
	},
	"codex-exec": {
		// Servers run commands with different shells.
		members: new Set([...wording, ...counts, "command"]),
		isOptional: among(
			...["error", "item.completed error", "item.completed reasoning"],
			...["item.started agent_message", "item.started file_change", "item.started reasoning"],
		),
		pieces: {},
		nameOf(message) {
			const type = memberAt(message, ["item", "type"]);
			return typeof type === "string" ? `${namedBy(["type"])(message)} ${type}` : namedBy(["type"])(message);
		},
	},
	gateway: {
		members: new Set([
			...wording,
			...counts,
			"name",
			"version",
			"at",
			"seq",
			"clientId",
			"model",
			"summary",
			"coverage",
		]),
		isOptional: among("status.changed", "files.snapshot", "tool-call.started", "mcp.changed"),
		pieces: { "content.delta": ["event", "part", "text"] },
		nameOf: namedBy(["event", "type"]),
	},
};
