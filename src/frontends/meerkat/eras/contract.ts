import type { ModelOption } from "../../../api/models.ts";
import type { SessionInfo } from "../../../api/session-state.ts";
import type { TokenUsage } from "../../../api/values/content.ts";
import type { ContractVersion } from "../../../base/contract-version.ts";
import { isRecord } from "../../../base/json.ts";
import type { ConfigView } from "../configuration/config-view.ts";
import { type CountedCall, toAccounting } from "../projection/accounting.ts";
import { addUsage, noUsage, type SessionFacts } from "../projection/facts.ts";
import { toResultUsage } from "../projection/usage.ts";
import { type Realm, toRealmId, toRealmMembers, toSessionRef } from "../realm/realm.ts";
import type { ContractEvent, MeerkatEvent } from "../wire/wire-events.ts";
import type { Capability, Labels, RunResult, SessionDetails, SessionSummary } from "../wire.ts";
import type { EndedRun, EraCodec, ReadSession } from "./codec.ts";

/** The version in `initialize`. Clients check it first: major and minor must match theirs. */
export const versionText = ({ major, minor, patch }: ContractVersion) => `${major}.${minor}.${patch}`;

/** The version in `capabilities/get`: text before 0.9. */
export function inCapabilities(version: ContractVersion): string | ContractVersion {
	return version.minor < 9 ? versionText(version) : { ...version };
}

function notServed(id: string, description: string, why: string): Capability {
	return { id, description, status: { DisabledByPolicy: { description: why } } };
}

export const capabilities: Capability[] = [
	{ id: "sessions", description: "Sessions that are made, listed, read and archived", status: "Available" },
	{ id: "streaming", description: "The events of a run while it runs", status: "Available" },
	{ id: "builtins", description: "Tools for files, tasks and subagents, by enable_builtins", status: "Available" },
	{ id: "shell", description: "Commands, by enable_shell", status: "Available" },
	{ id: "structured_output", description: "Answers as values of an output_schema", status: "Available" },
	{
		id: "skills",
		description: "Skills of the project, of the user and of the program, by skills/list",
		status: "Available",
	},
	{
		id: "mcp_live",
		description: "MCP servers that are added to a session, removed and started again, by mcp/*",
		status: "Available",
	},
	{
		id: "hooks",
		description: "Hooks of a session at eight points of its runs, by hooks_override",
		status: "Available",
	},
	{ id: "session_store", description: "Sessions that outlive the process", status: "Available" },
	{
		id: "session_compaction",
		description: "A summary in place of the older part of a full context",
		status: "Available",
	},
	notServed("comms", "Messages between agents", "Sessions do not reach each other"),
	notServed("memory_store", "A memory over sessions", "There is none"),
	notServed("schedule", "Turns at set times", "Turns run when a client starts them"),
	notServed("work_graph", "A graph of work over sessions", "There is none"),
];

export function createContractCodec(realm: Realm | null) {
	const located = (id: string) => ({ session_id: id, session_ref: toSessionRef(toRealmId(realm), id) });
	const toEnvelope = (config: ConfigView, generation: number) => ({
		// The contract writes no model as empty text.
		config: { ...config, agent: { ...config.agent, model: config.agent.model ?? "" } },
		generation,
		...toRealmMembers(realm),
	});
	return {
		...common,
		located,
		runResult: (result, ended) => ({ ...located(result.session_id), ...toRunResult(result, ended) }),
		sessionList: (sessions) => ({
			sessions: sessions.map(({ info, facts }) => ({ ...located(info.id), ...toListEntry(info, facts) })),
		}),
		sessionRead: (session) => ({ ...located(session.info.id), ...toDescription(session) }),
		config: toEnvelope,
		configSet: toEnvelope,
	} satisfies EraCodec;
}

const common = {
	era: "contract",
	event: (event, sessionId, { eventId, sequence, at }) => ({
		event_id: eventId(),
		source: { type: "session", session_id: sessionId },
		seq: sequence,
		timestamp_ms: Math.round(at),
		payload: toPayload(event),
	}),
	isContract: true,
	interrupt: (sessionId, isStaged) => ({
		session_id: sessionId,
		interrupted: !isStaged,
		result: isStaged ? "staged_noop" : "interrupted",
	}),
} satisfies Partial<EraCodec>;

function toRunResult(result: Omit<RunResult, "usage">, { calls, facts, skills }: EndedRun): RunResult {
	return {
		...result,
		usage: toUsage(facts.usage),
		run_usage: toUsage(calls.map(({ usage }) => usage).reduce(addUsage, noUsage)),
		request_usage: calls.map(toCountedUsage),
		skill_diagnostics: toSkillDiagnostics(skills),
	};
}

/** Unreadable skills were dropped and logged when the session began, so the rest are fine. */
function toSkillDiagnostics(total: number): NonNullable<RunResult["skill_diagnostics"]> {
	return {
		source_health: {
			state: "healthy",
			invalid_ratio: 0,
			invalid_count: 0,
			total_count: total,
			failure_streak: 0,
			handshake_failed: false,
		},
		quarantined: [],
	};
}

const toCountedUsage = (call: CountedCall) => ({ ...toUsage(call.usage), accounting: toAccounting(call) });

/** The contract's arguments are always an object. */
function toPayload(event: MeerkatEvent): ContractEvent {
	return event.type === "tool_call_requested" ? { ...event, args: toObject(event.args) } : event;
}

export function toObject(value: unknown): Record<string, unknown> {
	return isRecord(value) ? value : { value };
}

const toSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);

function toUsage(usage: TokenUsage): RunResult["usage"] {
	return { ...toResultUsage(usage), total_tokens: totalTokens(usage) };
}

function totalTokens(usage: TokenUsage): number {
	return usage.input_other + usage.input_cache_read + usage.input_cache_creation + usage.output;
}

function toListEntry({ id, isRunning, labels }: SessionInfo, facts: SessionFacts): SessionSummary {
	return {
		session_id: id,
		created_at: toSeconds(facts.createdAt),
		updated_at: toSeconds(facts.updatedAt),
		message_count: facts.messageCount,
		total_tokens: totalTokens(facts.usage),
		is_active: isRunning,
		...shown(labels),
	};
}

const shown = (labels: Labels) => (Object.keys(labels).length === 0 ? {} : { labels: { ...labels } });

function toDescription({ info, facts, model: option }: ReadSession): SessionDetails {
	const { id, isRunning, model, provider, labels } = info;
	return {
		session_id: id,
		created_at: toSeconds(facts.createdAt),
		updated_at: toSeconds(facts.updatedAt),
		message_count: facts.messageCount,
		is_active: isRunning,
		model,
		provider,
		...(facts.lastText === null ? {} : { last_assistant_text: facts.lastText }),
		...(option === undefined ? {} : { resolved_capabilities: toResolvedCapabilities(option) }),
		...shown(labels),
	};
}

function toResolvedCapabilities({ accepts }: ModelOption): NonNullable<SessionDetails["resolved_capabilities"]> {
	return {
		vision: accepts.image,
		image_input: accepts.image,
		image_tool_results: accepts.image,
		inline_video: accepts.video,
		realtime: false,
		web_search: false,
		// Instructions of later turns reach every model.
		mid_conversation_system_messages: true,
		image_generation: false,
	};
}
