// Kimi Wire keeps the contract of dialects: as of today, under the cap of each version, and under former names.
import {
	type DeliveredOfType,
	type DialectSubject,
	describeDialectContract,
} from "../../../test/contracts/dialect-contract.ts";
import { overSocket } from "../../../test/support/host/remote-sessions.ts";
import { undelivered, unwrapped, wrappedBy } from "../../../test/support/protocol/delivered-samples.ts";
import type { EventType } from "../../api/values/event.ts";
import { isRecord } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import { wireVersions } from "../../formats/history.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import { noCompatibility } from "../shared/dialect.ts";
import { EventPump } from "../shared/event-pump.ts";
import { createDeltaLines } from "./delta-lines.ts";
import { envelopeRules } from "./envelope.ts";
import { errorNumbers } from "./errors.ts";
import type { Audience } from "./older-clients.ts";
import { project } from "./projection.ts";

const { both, streamed, merged } = wrappedBy("SubagentEvent");

/** By wire-protocol §3.2, §3.6 and §4.7. */
const deliveredToday: { readonly [T in EventType]: DeliveredOfType } = {
	"turn.started": both("TurnBegin"),
	"turn.ended": both("TurnEnd"),
	"step.started": both("StepBegin"),
	// Not that of a cancel.
	"step.interrupted": both("StepInterrupted", null),
	"step.retrying": both("StepRetry"),
	"compaction.started": both("CompactionBegin"),
	"compaction.ended": both("CompactionEnd"),
	"mcp.loading-started": both("MCPLoadingBegin"),
	"mcp.loading-ended": both("MCPLoadingEnd"),
	"status.changed": both("StatusUpdate"),
	"usage.counted": undelivered,
	"budget.warning": undelivered,
	"notification.raised": both("Notification"),
	"content.delta": streamed("ContentPart"),
	"content.completed": merged("ContentPart"),
	"tool-call.started": streamed("ToolCall"),
	"tool-call.delta": streamed("ToolCallPart"),
	"tool.requested": merged("ToolCall"),
	"tool-call.fragment": merged("ToolCallPart"),
	"permission.decided": undelivered,
	"session-hook.started": undelivered,
	"session-hook.ended": undelivered,
	"tool.started": undelivered,
	"tool.progress": undelivered,
	"tool.ended": undelivered,
	"tool.outcome-unknown": undelivered,
	"recovery.reported": undelivered,
	"steer.accepted": undelivered,
	"tool.result": both("ToolResult"),
	"interaction.requested": unwrapped("ApprovalRequest", "ToolCallRequest", "QuestionRequest", "HookRequest"),
	"interaction.resolved": unwrapped("ApprovalResponse", null, null, null),
	"mode.changed": undelivered,
	"model.changed": undelivered,
	"title.changed": undelivered,
	"files.snapshot": undelivered,
	"files.restored": undelivered,
	"session.rewound": undelivered,
	"client.attached": undelivered,
	"client.detached": undelivered,
	"session.reset": undelivered,
	"steer.consumed": both("SteerInput"),
	"plan.displayed": both("PlanDisplay"),
	"hook.triggered": both("HookTriggered"),
	"hook.resolved": both("HookResolved"),
	"side-question.started": both("BtwBegin"),
	"side-question.ended": both("BtwEnd"),
};

/** The minor version that brought what 1.0 did not have (§3.2); what no version's document names is in none. */
const since: Readonly<Record<string, number>> = {
	TurnEnd: 2,
	SteerInput: 5,
	PlanDisplay: 7,
	HookTriggered: 7,
	HookResolved: 7,
	BtwBegin: 9,
	BtwEnd: 9,
	StepRetry: 10,
	MCPLoadingBegin: Number.POSITIVE_INFINITY,
	MCPLoadingEnd: Number.POSITIVE_INFINITY,
	Notification: Number.POSITIVE_INFINITY,
};

/** What is left of today's messages when each is renamed, or left out. */
function mapped(rename: (name: string) => string | null): { readonly [T in EventType]: DeliveredOfType } {
	const one = (delivered: string | null): string | null => {
		if (delivered === null) return null;
		const [inner = "", ...outer] = delivered.split(">").reverse();
		const name = rename(inner);
		return name === null ? null : [...outer, name].join(">");
	};
	const each = (delivered: DeliveredOfType["own"]) =>
		typeof delivered === "string" || delivered === null ? one(delivered) : delivered.map(one);
	const entries = Object.entries(deliveredToday).map(([type, { own, subagent }]) => [
		type,
		{ own: each(own), subagent: each(subagent) },
	]);
	return { ...deliveredToday, ...Object.fromEntries(entries) };
}

const minorOf = (version: string) => Number(version.split(".")[1]);
const formerly = (name: string) => (name === "ApprovalResponse" ? "ApprovalRequestResolved" : name);
const nameUnder = (minor: number) => (name: string) => {
	if ((since[name] ?? 0) > minor) return null;
	return minor === 0 ? formerly(name) : name;
};

const audiences: readonly (readonly [name: string, Partial<Audience>, typeof deliveredToday])[] = [
	["kimi", {}, deliveredToday],
	...wireVersions.map(
		(version) => [`kimi ${version}`, { maxEvents: version }, mapped(nameUnder(minorOf(version)))] as const,
	),
	["kimi, without a handshake,", { declared: null }, deliveredToday],
	["kimi, under former names,", { formerNames: true }, mapped(formerly)],
	[
		"kimi, with names for each kind of part,",
		{ typedParts: true },
		{
			...deliveredToday,
			"content.delta": streamed("TextPart", "ThinkPart"),
			"content.completed": merged("TextPart", "ThinkPart", "ImageURLPart", "AudioURLPart", "VideoURLPart"),
		},
	],
];

const toSubject = (particulars: Partial<Audience>, delivered: typeof deliveredToday): DialectSubject => {
	const audience: Audience = { ...noCompatibility, declared: protocolVersion, ...particulars };
	const toLine = createDeltaLines(audience);
	return {
		carry: ({ session, peer, attachment }) =>
			new EventPump(session, peer, (event) => toLine(event) ?? project(event, audience), silentLog).carry(attachment),
		nameOf: (_method, params) => nameOf(params),
		delivered,
		errorNumber: (code) => errorNumbers[code].code,
		rules: envelopeRules,
		goodApproval: { request_id: "not compared", response: "approve", more: 1 },
		interactions: ["approval", "client-tool", "question", "hook"],
	};
};
for (const [name, particulars, delivered] of audiences)
	describeDialectContract(name, toSubject(particulars, delivered));
describeDialectContract(`kimi, over a socket,`, { ...toSubject({}, deliveredToday), reach: overSocket });

function nameOf(message: unknown): string {
	if (!isRecord(message)) return "nothing";
	const { type, payload } = message;
	const isWrapper = type === "SubagentEvent" && isRecord(payload);
	return isWrapper ? `${type}>${nameOf(payload["event"])}` : String(type);
}
