// A session as its events tell it: each event changes what is shown. Nothing here draws or sends anything.
import type { TokenUsage } from "../../src/events/content.ts";
import type { McpStatus } from "../../src/events/event.ts";
import type { Interaction, SettledBy } from "../../src/events/interaction.ts";
import type { GatewayEvent } from "../../src/gateway/protocol.ts";
import { countLines } from "../text/line-difference.ts";
import type { Snapshot } from "../wire/event-source.ts";
import { type Block, type CallBlock, type Change, isDiff, type NoteTone, type SpeechBlock } from "./blocks.ts";

type EventOf<T extends GatewayEvent["type"]> = Extract<GatewayEvent, { type: T }>;

export type Mode = "default" | "plan" | "auto" | "yolo";

export interface Todo {
	readonly title: string;
	readonly status: "pending" | "in_progress" | "done";
}

/** A request that waits for a person. */
export interface Ask {
	readonly interaction: Extract<Interaction, { kind: "approval" | "question" }>;
	/** Whether this page has sent an answer. */
	isAnswered: boolean;
}

const noUsage: TokenUsage = { input_other: 0, output: 0, input_cache_read: 0, input_cache_creation: 0 };
/** Characters of the output of a running command that are shown. */
const outputShown = 20_000;

export class Conversation {
	readonly blocks: Block[] = [];
	readonly asks: Ask[] = [];
	readonly changes = new Map<string, Change>();
	todos: readonly Todo[] = [];
	turnId: string | null = null;
	turnStartedAt: number | null = null;
	/** What goes on, in words; null while nothing does. */
	activity: string | null = null;
	mode: Mode = "default";
	model: Snapshot["model"] = null;
	title: string | null = null;
	workDir = "";
	contextUsage: number | null = null;
	contextTokens: number | null = null;
	maximumTokens: number | null = null;
	usage: TokenUsage = noUsage;
	mcp: McpStatus | null = null;
	clients: Snapshot["clients"] = [];
	/** The last stored event that was taken. */
	cursor: { readonly epoch: string; readonly seq: number } | null = null;
	readonly #calls = new Map<string, CallBlock>();
	#turnUsage: TokenUsage = noUsage;
	/** What the turn has said so far when the stream began, until the events before it are taken. */
	#unfinished: { readonly after: number; readonly events: readonly GatewayEvent[] } | null = null;
	/** Who is told that an answer was settled elsewhere: the id of this page's client. */
	clientId: string | null = null;

	/** The state of the session when the stream began. */
	takeState(clientId: string, snapshot: Snapshot): void {
		this.clientId = clientId;
		this.workDir = snapshot.workDir;
		this.title = snapshot.title;
		this.model = snapshot.model;
		this.clients = snapshot.clients;
		this.mode = toMode(snapshot);
		this.turnId = snapshot.turnId;
		if (snapshot.turnId === null) this.activity = null;
		else this.activity ??= "Working";
		const open = snapshot.openInteractions.map((event) => event as unknown as GatewayEvent);
		this.asks.length = 0;
		for (const event of open) if (event.type === "interaction.requested") this.#ask(event.interaction);
		this.#unfinished = {
			after: snapshot.cursor.seq,
			events: snapshot.unfinished.map((event) => event as unknown as GatewayEvent),
		};
		this.#finishState();
	}

	/** Events that come before all others, for a person who scrolls up. */
	prepend(events: readonly GatewayEvent[]): void {
		const earlier = new Conversation();
		for (const event of events) earlier.take(event);
		this.blocks.unshift(...earlier.blocks);
	}

	take(event: GatewayEvent): void {
		if (event.seq !== undefined && event.epoch !== undefined) {
			if (this.cursor?.epoch === event.epoch && event.seq <= this.cursor.seq) return;
			this.cursor = { epoch: event.epoch, seq: event.seq };
		}
		const lane = this.#laneOf(event);
		if (lane !== null) this.#show(event, lane);
		this.#finishState();
	}

	#finishState(): void {
		if (this.#unfinished === null || (this.cursor?.seq ?? 0) < this.#unfinished.after) return;
		const { events } = this.#unfinished;
		this.#unfinished = null;
		for (const event of events) {
			const lane = this.#laneOf(event);
			if (lane !== null) this.#show(event, lane);
		}
	}

	/** The blocks to which an event belongs; null for one of a subagent whose call is not shown. */
	#laneOf({ agentPath }: GatewayEvent): Block[] | null {
		const parent = agentPath?.at(-1)?.parentToolCallId ?? null;
		if ((agentPath?.length ?? 0) === 0) return this.blocks;
		return parent === null ? null : (this.#calls.get(parent)?.lane ?? null);
	}

	#show(event: GatewayEvent, lane: Block[]): void {
		const isOwn = lane === this.blocks;
		switch (event.type) {
			case "turn.started":
				if (!isOwn) return;
				this.turnId = event.turnId;
				this.turnStartedAt = event.at;
				this.#turnUsage = noUsage;
				this.activity = "Thinking";
				lane.push({ kind: "prompt", ...this.#head(event), input: event.input, isSteer: false });
				return;
			case "steer.consumed":
				lane.push({ kind: "prompt", ...this.#head(event), input: event.input, isSteer: true });
				return;
			case "turn.ended":
				return this.#endTurn(event, lane, isOwn);
			case "step.started":
				if (isOwn) this.activity = "Thinking";
				return;
			case "step.interrupted":
				return this.#settleSpeech(lane, event.at);
			case "step.retrying":
				if (isOwn) this.activity = `Retrying in ${Math.max(1, Math.round(event.wait_s))} s`;
				this.#dropUnfinished(lane);
				this.#note(
					event,
					lane,
					`The model did not answer (${event.error_type}); attempt ${event.next_attempt} of ${event.max_attempts}.`,
					"warning",
				);
				return;
			case "content.delta":
				if (event.part.type === "text") this.#addSpeech(event, lane, "text", event.part.text, event.offset);
				else if (event.part.type === "think") this.#addSpeech(event, lane, "think", event.part.think, event.offset);
				if (isOwn) this.activity = event.part.type === "think" ? "Thinking" : "Writing";
				return;
			case "content.completed":
				if (event.part.type === "text") this.#completeSpeech(event, lane, "text", event.part.text);
				else if (event.part.type === "think") this.#completeSpeech(event, lane, "think", event.part.think);
				return;
			case "tool.requested": {
				const { id, function: called } = event.call;
				this.#settleSpeech(lane, event.at);
				this.#addCall(event, lane, id, called.name, called.arguments ?? "");
				return;
			}
			case "permission.decided":
				return this.#change(event.toolCallId, (call) => {
					call.decision = event.reason;
					if (event.decision === "reject") call.state = "refused";
				});
			case "tool.started":
				this.#change(event.toolCallId, (call) => {
					call.state = "running";
					call.startedAt = event.at;
				});
				if (isOwn) this.activity = `Running ${event.name}`;
				return;
			case "tool.progress":
				return this.#change(event.toolCallId, (call) => {
					call.output = (call.output + event.text).slice(-outputShown);
				});
			case "tool.result":
				return this.#settleCall(event);
			case "tool.ended":
				return this.#change(event.toolCallId, (call) => {
					call.state = "interrupted";
					call.endedAt = event.at;
				});
			case "tool.outcome-unknown":
				return this.#change(event.toolCallId, (call) => {
					call.state = "unknown";
				});
			case "interaction.requested":
				return this.#ask(event.interaction);
			case "interaction.resolved":
				return this.#settleAsk(event);
			case "status.changed":
				return this.#takeStatus(event, isOwn);
			case "mode.changed":
				this.mode = event.mode;
				return;
			case "title.changed":
				this.title = event.title;
				return;
			case "model.changed":
				this.model = event.model;
				return;
			case "plan.displayed":
				lane.push({ kind: "plan", ...this.#head(event), content: event.content, path: event.file_path });
				return;
			case "compaction.started":
				this.activity = "Summarising the conversation";
				return;
			case "compaction.ended":
				return this.#note(event, lane, "The conversation so far was summarised to make room.", "plain");
			case "budget.warning":
				return this.#note(
					event,
					lane,
					`A budget is nearly used up: ${event.budget}, ${Math.round(event.used)} of ${Math.round(event.limit)} (${event.scope}).`,
					"warning",
				);
			case "notification.raised":
				return this.#note(event, lane, event.title, event.severity === "error" ? "warning" : "plain");
			case "hook.resolved":
				if (event.action === "block")
					this.#note(event, lane, `A hook refused ${event.target || event.event}: ${event.reason}`, "warning");
				return;
			case "side-question.ended":
				return this.#note(event, lane, event.response ?? event.error ?? "", "plain");
			case "client.attached":
				this.clients = [...this.clients, { clientId: event.clientId, name: event.name, version: event.version }];
				return;
			case "client.detached":
				this.clients = this.clients.filter(({ clientId }) => clientId !== event.clientId);
				return;
			case "mcp.loading-started":
				this.activity = "Waiting for MCP servers";
				return;
			case "mcp.loading-ended":
			case "usage.counted":
			case "tool-call.started":
			case "tool-call.delta":
			case "tool-call.fragment":
			case "recovery.reported":
			case "session.reset":
			case "hook.triggered":
			case "side-question.started":
				return;
		}
	}

	#head(event: GatewayEvent): { readonly key: string; readonly at: number; version: number } {
		return { key: `${event.seq ?? `v${this.#count++}`}-${event.type}`, at: event.at, version: 0 };
	}

	#count = 0;

	#note(event: GatewayEvent, lane: Block[], text: string, tone: NoteTone): void {
		lane.push({ kind: "note", ...this.#head(event), text, tone });
	}

	/** Text and reasoning that is not complete is the last block of its lane. */
	#speechOf(lane: Block[], kind: "text" | "think"): SpeechBlock | null {
		const last = lane.at(-1);
		return last?.kind === kind && !last.isComplete ? last : null;
	}

	#addSpeech(
		event: EventOf<"content.delta">,
		lane: Block[],
		kind: "text" | "think",
		text: string,
		offset?: number,
	): void {
		const open = this.#speechOf(lane, kind);
		if (open === null) {
			if (text === "") return;
			this.#settleSpeech(lane, event.at);
			lane.push({ kind, ...this.#head(event), text, isComplete: false, endedAt: null });
			return;
		}
		// What is sent again replaces itself.
		open.text = (offset === undefined ? open.text : open.text.slice(0, offset)) + text;
		open.version += 1;
	}

	#completeSpeech(event: GatewayEvent, lane: Block[], kind: "text" | "think", text: string): void {
		const open = this.#speechOf(lane, kind);
		if (open === null) {
			lane.push({ kind, ...this.#head(event), text, isComplete: true, endedAt: event.at });
			return;
		}
		open.text = text;
		open.isComplete = true;
		open.endedAt = event.at;
		open.version += 1;
	}

	#settleSpeech(lane: Block[], at: number): void {
		const last = lane.at(-1);
		if (last === undefined || (last.kind !== "text" && last.kind !== "think") || last.isComplete) return;
		last.isComplete = true;
		last.endedAt = at;
		last.version += 1;
	}

	#dropUnfinished(lane: Block[]): void {
		const last = lane.at(-1);
		if (last !== undefined && (last.kind === "text" || last.kind === "think") && !last.isComplete) lane.pop();
	}

	#addCall(event: GatewayEvent, lane: Block[], callId: string, name: string, given: string): void {
		if (this.#calls.has(callId)) return;
		const call: CallBlock = {
			kind: "call",
			...this.#head(event),
			callId,
			name,
			arguments: given,
			state: "requested",
			output: "",
			result: null,
			decision: null,
			startedAt: null,
			endedAt: null,
			lane: [],
		};
		this.#calls.set(callId, call);
		lane.push(call);
	}

	#change(callId: string, change: (call: CallBlock) => void): void {
		const call = this.#calls.get(callId);
		if (call === undefined) return;
		change(call);
		call.version += 1;
	}

	#settleCall({ toolCallId, result, at }: EventOf<"tool.result">): void {
		this.#change(toolCallId, (call) => {
			const wasRefused = call.state === "refused" || (result.is_error && call.startedAt === null);
			call.result = result;
			call.endedAt = at;
			call.state = wasRefused ? "refused" : result.is_error ? "failed" : "done";
			for (const block of result.display) {
				if (block.type === "todo" && "items" in block) this.todos = block.items;
				if (isDiff(block) && !result.is_error) this.#noteChange(block.path, block.old_text, block.new_text);
			}
		});
		if (this.turnId !== null) this.activity = "Thinking";
	}

	#noteChange(path: string, before: string, after: string): void {
		const change = this.changes.get(path) ?? { path, added: 0, removed: 0 };
		const { added, removed } = countLines(before, after);
		change.added += added;
		change.removed += removed;
		this.changes.set(path, change);
	}

	#ask(interaction: Interaction): void {
		if (interaction.kind !== "approval" && interaction.kind !== "question") return;
		if (this.asks.some((ask) => ask.interaction.id === interaction.id)) return;
		this.asks.push({ interaction, isAnswered: false });
		this.activity = "Waiting for you";
	}

	#settleAsk({ interactionId, answer, by }: EventOf<"interaction.resolved">): void {
		const at = this.asks.findIndex((ask) => ask.interaction.id === interactionId);
		const [ask] = at === -1 ? [] : this.asks.splice(at, 1);
		if (this.asks.length === 0 && this.turnId !== null) this.activity = "Working";
		if (ask === undefined) return;
		const who = by === undefined ? "" : describeSettler(by, this.clientId);
		this.#change(ask.interaction.toolCallId, (call) => {
			if (answer.kind === "approval") {
				call.decision = `${decisionWords[answer.decision]}${who}`;
				if (answer.decision === "reject") call.state = "refused";
				if (answer.feedback !== "") call.decision += `: ${answer.feedback}`;
			} else if (answer.kind === "question") {
				call.decision = `${Object.keys(answer.answers).length === 0 ? "Not answered" : "Answered"}${who}`;
			}
		});
	}

	#takeStatus(event: EventOf<"status.changed">, isOwn: boolean): void {
		if (event.token_usage !== null) {
			this.usage = sum(this.usage, event.token_usage);
			this.#turnUsage = sum(this.#turnUsage, event.token_usage);
		}
		if (!isOwn) return;
		this.contextUsage = event.context_usage ?? this.contextUsage;
		this.contextTokens = event.context_tokens ?? this.contextTokens;
		this.maximumTokens = event.max_context_tokens ?? this.maximumTokens;
		this.mcp = event.mcp_status ?? this.mcp;
		if (event.plan_mode === true) this.mode = "plan";
		else if (event.plan_mode === false && this.mode === "plan") this.mode = "default";
	}

	#endTurn(event: EventOf<"turn.ended">, lane: Block[], isOwn: boolean): void {
		this.#settleSpeech(lane, event.at);
		if (!isOwn) return;
		for (const block of lane.slice(-200)) {
			if (block.kind === "call" && (block.state === "running" || block.state === "requested")) {
				block.state = "interrupted";
				block.endedAt = event.at;
				block.version += 1;
			}
		}
		const took = this.turnStartedAt === null ? 0 : Math.max(0, event.at - this.turnStartedAt);
		lane.push({ kind: "end", ...this.#head(event), outcome: event.outcome, took, usage: this.#turnUsage });
		this.turnId = null;
		this.turnStartedAt = null;
		this.activity = null;
	}
}

const decisionWords = {
	approve: "Allowed",
	approve_for_session: "Allowed in this session",
	reject: "Rejected",
} as const;

function describeSettler(by: SettledBy, own: string | null): string {
	if (by.kind !== "client") return by.kind === "session-grant" ? " by an earlier approval" : "";
	if (by.clientId !== null && by.clientId === own) return " by you";
	return ` in another window${by.name === null ? "" : ` (${by.name})`}`;
}

function toMode({ planMode, approvesEverything, isAway }: Snapshot): Mode {
	if (planMode) return "plan";
	if (approvesEverything) return "yolo";
	return isAway ? "auto" : "default";
}

function sum(one: TokenUsage, other: TokenUsage): TokenUsage {
	return {
		input_other: one.input_other + other.input_other,
		output: one.output + other.output,
		input_cache_read: one.input_cache_read + other.input_cache_read,
		input_cache_creation: one.input_cache_creation + other.input_cache_creation,
	};
}
