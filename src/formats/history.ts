// What each version of Kimi Wire added or renamed: methods, messages, fields and error numbers, by the names in its
// document. The only place that says since when something exists; the documents and the cap on events follow it.
import type { MessageType } from "./message.ts";

/** Names of messages that only the document of an old version has. */
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
	/** What older shapes gained, as `Shape.field`; the fields that came with their shape are not listed. */
	readonly fields: readonly string[];
	readonly errors: readonly number[];
	/** Former name to name, of messages and of fields. */
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

/** What servers send although no version's document names it. */
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

/** Every version, oldest first. */
export const wireVersions: readonly WireVersion[] = entries.map(({ version }) => version);

/** Names that were changed, each with today's. */
const renamed: Readonly<Record<string, string>> = Object.fromEntries(
	entries.flatMap((entry) => Object.entries(entry.renamed)),
);

/** The version that added a method, a message, a `Shape.field` or an error; null when none lists it. */
export function sinceOf(what: string | number): WireVersion | null {
	const found = entries.find(({ methods, messages, fields, errors }) =>
		[methods, messages, fields, errors].some((listed: readonly (string | number)[]) => listed.includes(what)),
	);
	return found?.version ?? null;
}

/** The current name of a message or field that was renamed; null for a name that never changed. */
export function renamedTo(name: string): string | null {
	return Object.hasOwn(renamed, name) ? (renamed[name] ?? null) : null;
}

/** The former name of a message or field. */
export function formerNameOf(name: string): string | null {
	return Object.keys(renamed).find((former) => renamed[former] === name) ?? null;
}

/** A version's name for a current message type; null when it does not have the message. */
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
