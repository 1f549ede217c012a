// Since which Wire version each method, message, field and error exists; documents and event caps follow it.
import type { MessageType } from "./message.ts";

/** Message names only in old versions. */
export type FormerName =
	| "ApprovalRequestResolved"
	| "TextPart"
	| "ThinkPart"
	| "ImageURLPart"
	| "AudioURLPart"
	| "VideoURLPart";

interface VersionEntry {
	readonly version: string;
	readonly methods: readonly string[];
	readonly messages: readonly (MessageType | FormerName)[];
	/** Added fields as `Shape.field`, except those that came with their shape. */
	readonly fields: readonly string[];
	readonly errors: readonly number[];
	readonly renamed: Readonly<Record<string, string>>;
}

/** Oldest first. */
export const history = [
	{
		version: "1.0",
		methods: ["prompt", "cancel", "event"],
		messages: [
			"TurnBegin",
			"StepBegin",
			"StepInterrupted",
			"CompactionBegin",
			"CompactionEnd",
			"StatusUpdate",
			"ContentPart",
			"ToolCall",
			"ToolCallPart",
			"ToolResult",
			"ApprovalRequestResolved",
			"SubagentEvent",
			"ApprovalRequest",
			"TextPart",
			"ThinkPart",
			"ImageURLPart",
			"AudioURLPart",
			"VideoURLPart",
		],
		fields: ["SubagentEvent.task_tool_call_id"],
		errors: [-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32003],
		renamed: {},
	},
	{
		version: "1.1",
		methods: ["initialize"],
		messages: ["ApprovalResponse", "ToolCallRequest"],
		fields: [],
		errors: [],
		renamed: { ApprovalRequestResolved: "ApprovalResponse" },
	},
	{ version: "1.2", methods: [], messages: ["TurnEnd"], fields: [], errors: [], renamed: {} },
	{ version: "1.3", methods: ["replay"], messages: [], fields: [], errors: [], renamed: {} },
	{
		version: "1.4",
		methods: ["steer", "set_plan_mode"],
		messages: ["QuestionRequest"],
		fields: [
			"InitializeParams.capabilities",
			"InitializeResult.capabilities",
			"StatusUpdate.context_tokens",
			"StatusUpdate.max_context_tokens",
			"StatusUpdate.plan_mode",
		],
		errors: [],
		renamed: {},
	},
	{ version: "1.5", methods: [], messages: ["SteerInput"], fields: [], errors: [], renamed: {} },
	{
		version: "1.6",
		methods: [],
		messages: [],
		fields: [
			"SubagentEvent.parent_tool_call_id",
			"SubagentEvent.agent_id",
			"SubagentEvent.subagent_type",
			"ApprovalRequest.source_kind",
			"ApprovalRequest.source_id",
			"ApprovalRequest.agent_id",
			"ApprovalRequest.subagent_type",
			"ApprovalRequest.source_description",
			"ApprovalResponse.feedback",
			"ApprovalResult.feedback",
		],
		errors: [],
		renamed: { "SubagentEvent.task_tool_call_id": "SubagentEvent.parent_tool_call_id" },
	},
	{
		version: "1.7",
		methods: [],
		messages: ["PlanDisplay", "HookTriggered", "HookResolved", "HookRequest"],
		fields: ["InitializeParams.hooks", "InitializeResult.hooks"],
		errors: [],
		renamed: {},
	},
	{
		version: "1.8",
		methods: [],
		messages: [],
		fields: ["DiffBlock.old_start", "DiffBlock.new_start", "DiffBlock.is_summary"],
		errors: [-32004],
		renamed: {},
	},
	{ version: "1.9", methods: [], messages: ["BtwBegin", "BtwEnd"], fields: [], errors: [], renamed: {} },
	{ version: "1.10", methods: [], messages: ["StepRetry"], fields: [], errors: [], renamed: {} },
] as const satisfies readonly VersionEntry[];

export type WireVersion = (typeof history)[number]["version"];

export const undocumented: readonly string[] = [
	"MCPLoadingBegin",
	"MCPLoadingEnd",
	"Notification",
	"BackgroundTaskBlock",
	"StatusUpdate.mcp_status",
	"StepRetry.reason",
	"QuestionItem.body",
	"QuestionItem.other_label",
	"QuestionItem.other_description",
];

const entries: readonly (VersionEntry & { readonly version: WireVersion })[] = history;

export const wireVersions: readonly WireVersion[] = entries.map(({ version }) => version);

/** Names that were changed, each with today's. */
const renamed: Readonly<Record<string, string>> = Object.fromEntries(
	entries.flatMap((entry) => Object.entries(entry.renamed)),
);

export function sinceOf(what: string | number): WireVersion | null {
	const found = entries.find(({ methods, messages, fields, errors }) =>
		[methods, messages, fields, errors].some((listed: readonly (string | number)[]) => listed.includes(what)),
	);
	return found?.version ?? null;
}

export function renamedTo(name: string): string | null {
	return Object.hasOwn(renamed, name) ? (renamed[name] ?? null) : null;
}

export function formerNameOf(name: string): string | null {
	return Object.keys(renamed).find((former) => renamed[former] === name) ?? null;
}

export function nameIn(version: WireVersion, type: MessageType): string | null {
	const names = [type, formerNameOf(type)];
	return names.find((name) => name !== null && sinceOf(name) !== null && !predates(version, name)) ?? null;
}

/** Whether a version, as clients spell it, is older than the one that added this; false for an invalid version. */
export function predates(version: string, what: string): boolean {
	const since = sinceOf(what);
	const [one, other] = [toNumbers(version), since === null ? null : toNumbers(since)];
	if (one === null || other === null) return false;
	return one[0] === other[0] ? one[1] < other[1] : one[0] < other[0];
}

/** `1` is `1.0`. */
function toNumbers(version: string): readonly [major: number, minor: number] | null {
	const found = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(version);
	return found === null ? null : [Number(found[1]), Number(found[2] ?? 0)];
}
