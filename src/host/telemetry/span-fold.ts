// A turn is `invoke_agent`, a model call `chat MODEL`, a tool call `execute_tool NAME`.

import { inputTokens } from "../../api/values/content.ts";
import type { AgentEvent, EventBodyOf } from "../../api/values/event.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { EndedCalls } from "./ended-calls.ts";
import { OpenSpan, readTraceParent, type Span, type SpanPlace } from "./span.ts";
import {
	contentLimit,
	type ModelInUse,
	toContent,
	toContentPart,
	toInputMessages,
	toModelAttributes,
} from "./span-attributes.ts";
import { Timeline } from "./timeline.ts";

export interface FoldSettings {
	readonly hex: (length: number) => string;
	readonly isSampled: (traceId: string) => boolean;
	readonly hasContent: boolean;
	readonly adopt: (place: SpanPlace) => SpanPlace;
	readonly monotonic: () => number;
	/** Parent of top-level turns: the span that started the program, or null for separate traces. */
	readonly outer: SpanPlace | null;
	turnStarted(): void;
	ended(span: Span): void;
}

interface OpenAgent {
	readonly key: string;
	readonly sessionId: string;
	readonly turnId: string | null;
	readonly timeline: Timeline;
	/** Nested turns, for example of a skill command. */
	readonly turns: OpenSpan[];
	call: OpenCall | null;
	compaction: OpenSpan | null;
	readonly tools: Map<string, OpenSpan>;
	/** Includes ended calls: a background subagent outlives its call. */
	readonly toolPlaces: Map<string, SpanPlace>;
	readonly waits: Map<string, { readonly toolCallId: string; readonly since: number }>;
}

interface OpenCall {
	readonly span: OpenSpan;
	hasBegun: boolean;
	completeAt: number | null;
	lastError: string | null;
	readonly parts: object[];
}

/** Maximum agents with concurrent turns. Beyond it, drops the oldest, whose ends were never reported. */
const agentLimit = 10_000;

export class SpanFold {
	readonly #settings: FoldSettings;
	readonly #agents = new Map<string, OpenAgent>();
	readonly #endedCalls = new EndedCalls();

	constructor(settings: FoldSettings) {
		this.#settings = settings;
	}

	/** Turns in progress, including subagents. */
	get running(): number {
		let count = 0;
		for (const { turns } of this.#agents.values()) count += turns.length;
		return count;
	}

	note(event: AgentEvent, model: (event: AgentEvent) => ModelInUse): void {
		const { body } = event;
		if (body.type === "turn.started") {
			this.#beginTurn(event, body, model(event));
			return;
		}
		const agent = this.#agents.get(keyOf(event));
		if (agent === undefined) return;
		// Nearly all events are deltas; only the first delta of an answer matters.
		if (body.type === "content.delta" && agent.call?.hasBegun !== false) return;
		const at = agent.timeline.place(event.at);
		switch (body.type) {
			case "content.delta":
			case "tool-call.started":
				noteFirstChunk(agent, at);
				return;
			case "step.started":
				this.#beginCall(agent, body.n, at, model(event));
				return;
			case "step.retrying":
				noteRetry(agent, body, at);
				return;
			case "step.interrupted":
				this.#endCall(agent, at, body.reason === "error" ? (agent.call?.lastError ?? "_OTHER") : null);
				return;
			case "status.changed":
				this.#noteStatus(agent, body, at);
				return;
			case "content.completed":
				if (this.#settings.hasContent) agent.call?.parts.push(toContentPart(body.part));
				return;
			case "tool.requested":
				this.#beginTool(agent, body.call, at);
				return;
			case "tool.started":
				if (!agent.tools.has(body.toolCallId)) {
					const call = { id: body.toolCallId, function: { name: body.name, arguments: body.arguments } };
					this.#beginTool(agent, call, at);
				}
				return;
			case "tool.result":
				this.#endTool(agent, body, at);
				return;
			case "tool.ended":
				this.#endOpenTool(agent, body.toolCallId, at, null);
				return;
			case "permission.decided":
				agent.tools.get(body.toolCallId)?.set({
					"agentwire.permission.decision": body.decision,
					"agentwire.permission.by": body.by,
				});
				return;
			case "interaction.requested": {
				const { interaction } = body;
				if (interaction.kind !== "approval" && interaction.kind !== "question") return;
				agent.waits.set(interaction.id, { toolCallId: interaction.toolCallId, since: at });
				return;
			}
			case "interaction.resolved":
				noteAnswer(agent, body, at);
				return;
			case "compaction.started":
				this.#endCall(agent, at, null);
				agent.compaction ??= this.#open(innermost(agent)?.place ?? null, at, {
					operation: "compaction",
					name: "agentwire.compaction",
					kind: "internal",
				});
				return;
			case "compaction.ended":
				this.#endCompaction(agent, at);
				return;
			case "turn.ended":
				this.#endTurn(agent, body, at);
				return;
			default:
				return;
		}
	}

	#beginTurn(event: AgentEvent, { input, trace }: EventBodyOf<"turn.started">, model: ModelInUse): void {
		const { sessionId, turnId, agentPath } = event;
		const key = keyOf(event);
		const agent: OpenAgent = this.#agents.get(key) ?? {
			key,
			sessionId,
			turnId,
			timeline: new Timeline(event.at, this.#settings.monotonic),
			turns: [],
			call: null,
			compaction: null,
			tools: new Map(),
			toolPlaces: new Map(),
			waits: new Map(),
		};
		const at = agent.timeline.place(event.at);
		const own = agentPath.at(-1);
		const name = own?.subagentType ?? "agentwire";
		const parent = innermost(agent)?.place ?? this.#startOf(trace) ?? this.#callerOf(event);
		const span = this.#open(parent, at, { operation: "turn", name: `invoke_agent ${name}`, kind: "internal" });
		span.set({
			"gen_ai.operation.name": "invoke_agent",
			"gen_ai.agent.name": name,
			"gen_ai.conversation.id": sessionId,
			...toModelAttributes(model),
			...(own?.agentId == null ? {} : { "gen_ai.agent.id": own.agentId }),
			...(turnId === null ? {} : { "agentwire.turn.id": turnId }),
			...(event.seq === undefined ? {} : { "agentwire.event.seq": event.seq }),
		});
		if (this.#settings.hasContent) span.set({ "gen_ai.input.messages": toInputMessages(input) });
		agent.turns.push(span);
		this.#agents.set(key, agent);
		this.#settings.turnStarted();
		if (this.#agents.size <= agentLimit) return;
		const [oldest] = this.#agents.values();
		if (oldest !== undefined) this.#abandon(oldest, at);
	}

	/** The traced caller of the turn, if any. */
	#startOf(trace: string | undefined): SpanPlace | null {
		const place = trace === undefined ? null : readTraceParent(trace);
		return place === null ? null : this.#settings.adopt(place);
	}

	/** The call that a subagent works for, or null if unknown. */
	#callerOf({ sessionId, agentPath }: AgentEvent): SpanPlace | null {
		const toolCallId = agentPath.at(-1)?.parentToolCallId;
		if (toolCallId == null) return this.#settings.outer;
		const key = toKey(sessionId, agentPath.at(-2)?.agentId ?? null);
		const place = this.#agents.get(key)?.toolPlaces.get(toolCallId) ?? this.#endedCalls.find(key, toolCallId);
		return place ?? this.#settings.outer;
	}

	#forget({ key, toolPlaces }: OpenAgent): void {
		this.#agents.delete(key);
		this.#endedCalls.add(key, toolPlaces);
	}

	#beginCall(agent: OpenAgent, n: number, at: number, model: ModelInUse): void {
		this.#endCall(agent, at, null);
		const turn = innermost(agent);
		if (turn === undefined) return;
		const name = model.name === "" ? "chat" : `chat ${model.name}`;
		const span = this.#open(turn.place, at, { operation: "model-call", name, kind: "client" });
		span.set({
			"gen_ai.operation.name": "chat",
			"gen_ai.conversation.id": agent.sessionId,
			"gen_ai.request.stream": true,
			"agentwire.step": n,
			...toModelAttributes(model),
		});
		agent.call = { span, hasBegun: false, completeAt: null, lastError: null, parts: [] };
	}

	#noteStatus(agent: OpenAgent, body: EventBodyOf<"status.changed">, at: number): void {
		const { call } = agent;
		if (call === null) return;
		const { token_usage: usage, message_id: id } = body;
		if (id !== null) call.span.set({ "gen_ai.response.id": id });
		if (usage !== null) {
			const spans = [call.span, ...agent.turns.slice(-1)];
			for (const span of spans) {
				span.add("gen_ai.usage.input_tokens", inputTokens(usage));
				span.add("gen_ai.usage.output_tokens", usage.output);
				span.add("gen_ai.usage.cache_read.input_tokens", usage.input_cache_read);
				span.add("gen_ai.usage.cache_write.input_tokens", usage.input_cache_creation);
			}
		}
		if (usage !== null || id !== null) {
			this.#endCall(agent, at, null);
			return;
		}
		// The status of an answer without usage looks like a plan mode change during the call.
		if (body.plan_mode !== null) call.completeAt = at;
	}

	#endCall(agent: OpenAgent, at: number, error: string | null): void {
		const { call } = agent;
		if (call === null) return;
		agent.call = null;
		if (call.parts.length > 0) {
			const messages = [{ role: "assistant", parts: call.parts }];
			call.span.set({ "gen_ai.output.messages": toContent(messages) });
		}
		this.#settings.ended(call.span.end(error === null ? (call.completeAt ?? at) : at, error));
	}

	#beginTool(
		agent: OpenAgent,
		call: { readonly id: string; readonly function: { readonly name: string; readonly arguments?: string | null } },
		at: number,
	): void {
		const turn = innermost(agent);
		if (turn === undefined || agent.tools.has(call.id)) return;
		const { name, arguments: text = null } = call.function;
		const span = this.#open(turn.place, at, { operation: "tool", name: `execute_tool ${name}`, kind: "internal" });
		span.set({
			"gen_ai.operation.name": "execute_tool",
			"gen_ai.tool.name": name,
			"gen_ai.tool.call.id": call.id,
			"gen_ai.tool.type": "function",
			"gen_ai.conversation.id": agent.sessionId,
		});
		if (this.#settings.hasContent) {
			span.set({ "gen_ai.tool.call.arguments": beginning(text ?? "", contentLimit) });
			agent.call?.parts.push({ type: "tool_call", id: call.id, name, arguments: text });
		}
		agent.tools.set(call.id, span);
		agent.toolPlaces.set(call.id, span.place);
	}

	#endTool(agent: OpenAgent, { toolCallId, result }: EventBodyOf<"tool.result">, at: number): void {
		const span = agent.tools.get(toolCallId);
		if (this.#settings.hasContent) span?.set({ "gen_ai.tool.call.result": toContent(result.output) });
		this.#endOpenTool(agent, toolCallId, at, result.is_error ? "tool_error" : null);
	}

	#endOpenTool(agent: OpenAgent, toolCallId: string, at: number, error: string | null): void {
		const span = agent.tools.get(toolCallId);
		if (span === undefined) return;
		agent.tools.delete(toolCallId);
		this.#settings.ended(span.end(at, error));
	}

	#endCompaction(agent: OpenAgent, at: number): void {
		const { compaction } = agent;
		agent.compaction = null;
		if (compaction !== null) this.#settings.ended(compaction.end(at, null));
	}

	#endTurn(agent: OpenAgent, { outcome }: EventBodyOf<"turn.ended">, at: number): void {
		const error = outcome?.status === "failed" ? outcome.error.code : null;
		this.#endParts(agent, at, error);
		const turn = agent.turns.pop();
		if (agent.turns.length === 0) this.#forget(agent);
		if (turn !== undefined) {
			turn.set({ "agentwire.turn.outcome": outcome?.status ?? "finished" });
			this.#settings.ended(turn.end(at, error));
		}
		if (agent.turns.length > 0 || agent.key !== toKey(agent.sessionId, null)) return;
		// A cancelled turn does not report the ends of its subagents.
		for (const other of this.#agents.values()) {
			if (other.sessionId === agent.sessionId && other.turnId === agent.turnId) this.#abandon(other, at);
		}
	}

	#endParts(agent: OpenAgent, at: number, error: string | null): void {
		this.#endCall(agent, at, error);
		this.#endCompaction(agent, at);
		for (const [id, span] of agent.tools) {
			span.set({ "agentwire.tool.unsettled": true });
			this.#endOpenTool(agent, id, at, null);
		}
	}

	#abandon(agent: OpenAgent, at: number): void {
		this.#agents.delete(agent.key);
		this.#endParts(agent, at, null);
		for (const turn of agent.turns.splice(0).reverse()) {
			turn.set({ "agentwire.turn.outcome": "cancelled" });
			this.#settings.ended(turn.end(at, null));
		}
	}

	#open(parent: SpanPlace | null, at: number, fixed: Pick<Span, "operation" | "name" | "kind">): OpenSpan {
		const { hex, isSampled } = this.#settings;
		const traceId = parent?.traceId ?? hex(32);
		const place = { traceId, spanId: hex(16), isSampled: parent?.isSampled ?? isSampled(traceId) };
		return new OpenSpan(place, at, { ...fixed, parentId: parent?.spanId ?? null });
	}
}

function toKey(sessionId: string, agentId: string | null): string {
	return agentId === null ? sessionId : `${sessionId}\n${agentId}`;
}

function keyOf({ sessionId, agentPath }: AgentEvent): string {
	return agentPath.length === 0 ? sessionId : toKey(sessionId, agentPath.at(-1)?.agentId ?? null);
}

function innermost({ turns }: OpenAgent): OpenSpan | undefined {
	return turns.at(-1);
}

function noteFirstChunk({ call }: OpenAgent, at: number): void {
	if (call === null || call.hasBegun) return;
	call.hasBegun = true;
	call.span.set({ "gen_ai.response.time_to_first_chunk": (at - call.span.startedAt) / 1000 });
}

function noteRetry({ call }: OpenAgent, body: EventBodyOf<"step.retrying">, at: number): void {
	if (call === null) return;
	call.lastError = body.status_code === null ? body.error_type : String(body.status_code);
	call.span.add("agentwire.retries", 1);
	call.span.note({
		name: "agentwire.retry",
		at,
		attributes: { "error.type": call.lastError, "agentwire.retry.wait": body.wait_s },
	});
}

function noteAnswer(agent: OpenAgent, { interactionId, answer, by }: EventBodyOf<"interaction.resolved">, at: number) {
	const wait = agent.waits.get(interactionId);
	if (wait === undefined) return;
	agent.waits.delete(interactionId);
	const span = agent.tools.get(wait.toolCallId);
	if (span === undefined) return;
	const waited = Math.max(0, at - wait.since);
	span.waited += waited;
	if (answer.kind !== "approval") {
		span.add("agentwire.question.wait", waited / 1000);
		return;
	}
	span.add("agentwire.approval.wait", waited / 1000);
	span.set({ "agentwire.approval.decision": answer.decision });
	if (by !== undefined) span.set({ "agentwire.approval.by": by.kind });
}
