// The codec of the contract era, used once a client requests capabilities.

import type { ContractVersion } from "../../../base/contract-version.ts";
import { isRecord } from "../../../base/json.ts";
import type { TokenUsage } from "../../../events/content.ts";
import type { SessionInfo } from "../../../kernel/api.ts";
import { addUsage, noUsage, type SessionFacts } from "../projection/facts.ts";
import { toResultUsage } from "../projection/run.ts";
import type { Capability, Labels, RunResult, SessionDetails, SessionSummary } from "../wire.ts";
import type { ContractEvent, MeerkatEvent } from "../wire-events.ts";
import type { EraCodec } from "./codec.ts";

/** The version as `initialize` has it. Clients check it first: major and minor must equal theirs. */
export const versionText = ({ major, minor, patch }: ContractVersion) => `${major}.${minor}.${patch}`;

/** The version as `capabilities/get` has it: a text before 0.9. */
export function inCapabilities(version: ContractVersion): string | ContractVersion {
	return version.minor < 9 ? versionText(version) : { ...version };
}

/** What the contract knows and this server does not do. */
function notServed(id: string, description: string, why: string): Capability {
	return { id, description, status: { DisabledByPolicy: { description: why } } };
}

export const capabilities: Capability[] = [
	{ id: "sessions", description: "Sessions that are made, listed, read and archived", status: "Available" },
	{ id: "builtins", description: "Tools for files, tasks and subagents, by enable_builtins", status: "Available" },
	{ id: "shell", description: "Commands, by enable_shell", status: "Available" },
	{ id: "structured_output", description: "Answers as values of an output_schema", status: "Available" },
	{
		id: "skills",
		description: "Skills of the project, of the user and of the program, by skills/list",
		status: "Available",
	},
	notServed(
		"mcp_live",
		"MCP servers that are added to a session, removed and loaded again",
		"The MCP servers of a session are those of the settings",
	),
	notServed("comms", "Messages between agents", "Sessions do not reach each other"),
	notServed("memory_store", "A memory over sessions", "There is none"),
	notServed("schedule", "Turns at set times", "Turns run when a client starts them"),
	notServed("work_graph", "A graph of work over sessions", "There is none"),
];

export const contractCodec = {
	era: "contract",
	event: (event, sessionId, { eventId, sequence, at }) => ({
		event_id: eventId(),
		source: { type: "session", session_id: sessionId },
		seq: sequence,
		timestamp_ms: Math.round(at),
		payload: toPayload(event),
	}),
	isContract: true,
	runResult: (result, calls, facts) => ({
		...result,
		usage: toUsage(facts.usage),
		run_usage: toUsage(calls.reduce(addUsage, noUsage)),
		request_usage: calls.map(toUsage),
	}),
	interrupt: (sessionId, isStaged) => ({
		session_id: sessionId,
		interrupted: !isStaged,
		result: isStaged ? "staged_noop" : "interrupted",
	}),
	sessionList: (sessions, factsOf, { offset, limit }) => ({
		sessions: sessions
			.toReversed()
			.slice(offset, offset + limit)
			.map((session) => toListEntry(session, factsOf(session.id))),
	}),
	sessionRead: toDescription,
	config: (config, generation) => ({ config, generation }),
	configSet: (config, generation) => ({ config, generation }),
} satisfies EraCodec;

/** Arguments are an object there, whatever the model sent. */
function toPayload(event: MeerkatEvent): ContractEvent {
	return event.type === "tool_call_requested" ? { ...event, args: toObject(event.args) } : event;
}

/** Wraps arguments that are not an object: clients of the contract accept nothing else. */
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

function toDescription({ id, isRunning, model, provider, labels }: SessionInfo, facts: SessionFacts): SessionDetails {
	return {
		session_id: id,
		created_at: toSeconds(facts.createdAt),
		updated_at: toSeconds(facts.updatedAt),
		message_count: facts.messageCount,
		is_active: isRunning,
		model,
		provider,
		...(facts.lastText === null ? {} : { last_assistant_text: facts.lastText }),
		...shown(labels),
	};
}
