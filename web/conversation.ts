// What a session's events come to: turns of blocks. Each event is taken once, by its number; volatile text goes where its offset
// says. The same events always give the same conversation, so that a page that comes late shows what others show.
import type { DisplayBlock, Todo, ToolReturn, UserInput } from "../src/events/content.ts";
import type { McpStatus, TurnError } from "../src/events/event.ts";
import type { Interaction, SettledBy } from "../src/events/interaction.ts";
import type { GatewayEvent } from "../src/gateway/gateway-event.ts";
import { countLines, diffLines } from "./diff.ts";
import { headline, joined, plainInput, readArguments, shownName } from "./texts.ts";
import type { Snapshot } from "./wire.ts";

export type ToolState = "preparing" | "waiting" | "running" | "done" | "failed" | "refused" | "interrupted" | "unknown";

export interface ToolBlock {
	readonly kind: "tool";
	readonly key: number;
	id: string;
	name: string;
	arguments: string;
	state: ToolState;
	/** The last of its output, and where in all of it that ends. */
	live: string;
	liveEnd: number;
	result: ToolReturn | null;
	startedAt: number | null;
	endedAt: number | null;
	/** Who decided over it and how, for people. */
	decision: string | null;
	display: readonly DisplayBlock[];
	readonly children: Block[];
	steps: number;
}
export interface TextBlock {
	readonly kind: "text" | "think";
	readonly key: number;
	text: string;
	isDone: boolean;
	readonly startedAt: number;
	endedAt: number | null;
}
export interface NoteBlock {
	readonly kind: "note" | "steer" | "plan" | "media" | "mark";
	readonly key: number;
	readonly tone: "plain" | "warning" | "danger";
	text: string;
}
export type Block = ToolBlock | TextBlock | NoteBlock;

export interface Turn {
	readonly key: number;
	readonly id: string | null;
	readonly prompt: UserInput | null;
	readonly at: number;
	readonly blocks: Block[];
	end: { readonly text: string; readonly tone: "plain" | "warning" | "danger"; readonly help: string | null } | null;
	isRunning: boolean;
}

export interface Change {
	readonly path: string;
	added: number;
	removed: number;
}

export class SessionView {
	readonly turns: Turn[] = [];
	/** What waits for an answer, the oldest first. */
	readonly openInteractions = new Map<string, Interaction>();
	readonly changes = new Map<string, Change>();
	todo: readonly Todo[] = [];
	activity = "idle";
	context: { usage: number; tokens: number; limit: number } = { usage: 0, tokens: 0, limit: 0 };
	readonly used = { input: 0, output: 0, cached: 0 };
	mcp: McpStatus | null = null;
	budget: string | null = null;
	last = 0;
	epoch = "";
	#key = 0;
	readonly #tools = new Map<string, ToolBlock>();
	readonly #live = new Map<string, TextBlock>();
	readonly #writing = new Map<string, ToolBlock>();

	readonly #windowName: string;

	/** `windowName` is what answers of this window are recorded as. */
	constructor(windowName: string) {
		this.#windowName = windowName;
	}

	get isRunning(): boolean {
		return this.turns.at(-1)?.isRunning ?? false;
	}

	/** Takes an event; false for one that was taken before. */
	take(event: GatewayEvent): boolean {
		if (event.seq !== undefined) {
			if (event.seq <= this.last && event.epoch === this.epoch) return false;
			this.last = event.seq;
			this.epoch = event.epoch ?? this.epoch;
		}
		this.#apply(event);
		return true;
	}

	/** What the session is at this moment, once every event before it was taken. */
	settle(snapshot: Snapshot): void {
		const turn = this.turns.at(-1);
		if (turn?.isRunning === true && snapshot.turnId === null) {
			turn.isRunning = false;
			turn.end ??= { text: "The program ended in the middle of this turn.", tone: "danger", help: "Ask it to go on." };
			this.#interrupt(turn.blocks);
		}
		this.openInteractions.clear();
		for (const event of snapshot.openInteractions) this.#apply(event);
		this.#resume(snapshot);
		if (snapshot.turnId === null) this.activity = "idle";
	}

	/** What the running turn has said of texts and calls that are not complete: they go on from there. */
	#resume({ unfinished, sessionId, turnId }: Snapshot): void {
		const before = new Map(this.#live);
		this.#live.clear();
		this.#writing.clear();
		for (const part of unfinished) {
			const event = { ...part, sessionId, turnId, at: Date.now() };
			const lane = laneOf(event);
			if (event.type === "content.completed" && (event.part.type === "text" || event.part.type === "think")) {
				const known = before.get(lane);
				before.delete(lane);
				const text = event.part.type === "text" ? event.part.text : event.part.think;
				const live = known?.kind === event.part.type ? known : this.#beginText(event, event.part.type);
				live.text = text;
				this.#live.set(lane, live);
			} else if (event.type === "tool.requested") {
				const { id, function: called } = event.call;
				const block = this.#tool(event, id, called.name, called.arguments);
				block.arguments = called.arguments ?? "";
				this.#writing.set(lane, block);
			} else this.#apply(event);
		}
		for (const live of before.values()) live.isDone = true;
	}

	#turn(event: GatewayEvent): Turn {
		const last = this.turns.at(-1);
		if (last !== undefined) return last;
		return this.#begin(event, null);
	}

	#begin(event: GatewayEvent, prompt: UserInput | null): Turn {
		const turn: Turn = {
			key: ++this.#key,
			id: event.turnId,
			prompt,
			at: event.at,
			blocks: [],
			end: null,
			isRunning: prompt !== null,
		};
		this.turns.push(turn);
		return turn;
	}

	/** Where the blocks of the agent that speaks go. */
	#place(event: GatewayEvent): Block[] {
		const parent = event.agentPath.findLast((entry) => entry.parentToolCallId !== null)?.parentToolCallId ?? null;
		const tool = parent === null ? undefined : this.#tools.get(parent);
		return tool?.children ?? this.#turn(event).blocks;
	}

	#note(event: GatewayEvent, text: string, tone: NoteBlock["tone"] = "plain", kind: NoteBlock["kind"] = "note"): void {
		this.#place(event).push({ kind, key: ++this.#key, tone, text });
	}

	#apply(event: GatewayEvent): void {
		const lane = laneOf(event);
		switch (event.type) {
			case "turn.started":
				if (event.agentPath.length > 0) return;
				this.#begin(event, event.input);
				this.activity = "thinking";
				return;
			case "turn.ended":
				if (event.agentPath.length > 0) return;
				this.#end(event);
				return;
			case "step.started": {
				const parent = event.agentPath.at(-1)?.parentToolCallId ?? null;
				const tool = parent === null ? undefined : this.#tools.get(parent);
				if (tool !== undefined) tool.steps = event.n;
				else this.activity = "thinking";
				return;
			}
			case "step.interrupted": {
				const live = this.#live.get(lane);
				if (live !== undefined) live.isDone = true;
				this.#live.delete(lane);
				return;
			}
			case "step.retrying":
				this.activity = `retrying in ${Math.ceil(event.wait_s)} s`;
				this.#note(
					event,
					`The model did not answer (${event.error_type}${event.status_code === null ? "" : `, status ${event.status_code}`}); attempt ${event.next_attempt} of ${event.max_attempts} in ${Math.ceil(event.wait_s)} s.`,
					"warning",
				);
				return;
			case "compaction.started":
				this.activity = "summarising the context";
				return;
			case "compaction.ended":
				this.#note(event, "The conversation so far was summarised to make room", "plain", "mark");
				if (this.isRunning) this.activity = "thinking";
				return;
			case "mcp.loading-started":
				this.activity = "connecting tool servers";
				return;
			case "mcp.loading-ended":
				return;
			case "status.changed":
				this.#count(event);
				return;
			case "usage.counted":
				return;
			case "budget.warning":
				this.budget = `${Math.round((100 * event.used) / event.limit)} % of the ${event.scope}'s ${event.budget} budget is used`;
				this.#note(event, `${this.budget}.`, "warning");
				return;
			case "notification.raised":
				this.#note(event, event.body === "" ? event.title : `${event.title}: ${event.body}`);
				return;
			case "content.delta":
				this.#addText(event, lane);
				return;
			case "content.completed":
				this.#completeText(event, lane);
				return;
			case "tool-call.started":
				this.#writing.set(
					lane,
					this.#tool(event, event.call.id, event.call.function.name, event.call.function.arguments),
				);
				return;
			case "tool-call.delta": {
				const block = this.#writing.get(lane);
				if (block !== undefined) block.arguments = joined(block.arguments, event.arguments_part ?? "", event.offset);
				return;
			}
			case "tool.requested": {
				const block = this.#tool(event, event.call.id, event.call.function.name, event.call.function.arguments);
				block.arguments = event.call.function.arguments ?? "";
				this.#writing.delete(lane);
				return;
			}
			case "tool-call.fragment":
				return;
			case "permission.decided": {
				const block = this.#tools.get(event.toolCallId);
				if (block === undefined) return;
				const verb = event.decision === "approve" ? "Allowed" : "Denied";
				block.decision = event.by === "default" && event.decision === "approve" ? null : `${verb}: ${event.reason}`;
				if (event.decision === "reject") block.state = "refused";
				return;
			}
			case "tool.started": {
				const block = this.#tool(event, event.toolCallId, event.name, event.arguments);
				block.state = "running";
				block.startedAt = event.at;
				if (event.agentPath.length === 0)
					this.activity = `running ${headline(block.name, readArguments(block.arguments))}`;
				return;
			}
			case "tool.progress": {
				const block = this.#tools.get(event.toolCallId);
				if (block !== undefined) addProgress(block, event);
				return;
			}
			case "tool.ended": {
				const block = this.#tools.get(event.toolCallId);
				if (block !== undefined && block.result === null) block.state = "interrupted";
				return;
			}
			case "tool.result":
				this.#settleTool(event);
				return;
			case "tool.outcome-unknown": {
				const block = this.#tools.get(event.toolCallId);
				if (block !== undefined) block.state = "unknown";
				return;
			}
			case "recovery.reported":
				return;
			case "interaction.requested": {
				const { interaction } = event;
				if (interaction.kind !== "approval" && interaction.kind !== "question") return;
				this.openInteractions.set(interaction.id, interaction);
				this.activity = "waiting for you";
				const block = this.#tools.get(interaction.toolCallId);
				if (block === undefined) return;
				block.state = "waiting";
				if (interaction.kind === "approval" && interaction.display.length > 0) block.display = interaction.display;
				return;
			}
			case "interaction.resolved":
				this.#resolve(event);
				return;
			case "steer.consumed":
				this.#note(event, plainInput(event.input), "plain", "steer");
				return;
			case "plan.displayed":
				this.#note(event, event.content, "plain", "plan");
				return;
			case "hook.triggered":
				return;
			case "hook.resolved":
				if (event.action !== "block") return;
				this.#note(event, `Stopped by a hook (${event.event} ${event.target}): ${event.reason}`, "warning");
				return;
			case "side-question.started":
				this.#note(event, `Asked aside: ${event.question}`);
				return;
			case "side-question.ended":
				this.#note(event, event.response ?? `The question could not be answered: ${event.error ?? "no reason"}`);
				return;
			case "mode.changed":
			case "model.changed":
			case "title.changed":
			case "client.attached":
			case "client.detached":
			case "session.reset":
				return;
		}
	}

	#end(event: Extract<GatewayEvent, { type: "turn.ended" }>): void {
		const turn = this.#turn(event);
		turn.isRunning = false;
		this.activity = "idle";
		this.#live.clear();
		this.#interrupt(turn.blocks);
		const { outcome } = event;
		if (outcome === null) return;
		switch (outcome.status) {
			case "finished":
				if (outcome.stoppedBy === "refusal")
					turn.end = { text: "Stopped, because you rejected a call.", tone: "plain", help: null };
				if (outcome.stoppedBy === "repetition")
					turn.end = { text: "Stopped: the model repeated the same call.", tone: "warning", help: null };
				return;
			case "cancelled":
				turn.end = { text: "Interrupted.", tone: "plain", help: null };
				return;
			case "max-steps":
				turn.end = {
					text: `Stopped after ${outcome.steps} steps, the limit.`,
					tone: "warning",
					help: "Ask it to go on.",
				};
				return;
			case "failed":
				turn.end = { tone: "danger", ...explain(outcome.error) };
		}
	}

	#interrupt(blocks: readonly Block[]): void {
		for (const block of blocks) {
			if (block.kind === "text" || block.kind === "think") block.isDone = true;
			if (block.kind !== "tool") continue;
			if (["preparing", "waiting", "running"].includes(block.state)) block.state = "interrupted";
			this.#interrupt(block.children);
		}
	}

	#count(event: Extract<GatewayEvent, { type: "status.changed" }>): void {
		if (event.mcp_status !== null) this.mcp = event.mcp_status;
		const usage = event.token_usage;
		if (usage !== null) {
			this.used.input += usage.input_other + usage.input_cache_creation;
			this.used.output += usage.output;
			this.used.cached += usage.input_cache_read;
		}
		if (event.agentPath.length > 0) return;
		this.context = {
			usage: event.context_usage ?? this.context.usage,
			tokens: event.context_tokens ?? this.context.tokens,
			limit: event.max_context_tokens ?? this.context.limit,
		};
	}

	#addText(event: Extract<GatewayEvent, { type: "content.delta" }>, lane: string): void {
		const { part, offset } = event;
		if (part.type !== "text" && part.type !== "think") return;
		const text = part.type === "text" ? part.text : part.think;
		let live = this.#live.get(lane);
		if (live === undefined || live.kind !== part.type) {
			live = this.#beginText(event, part.type);
			this.#live.set(lane, live);
		}
		live.text = joined(live.text, text, offset);
	}

	#beginText(event: GatewayEvent, kind: TextBlock["kind"]): TextBlock {
		const block: TextBlock = { kind, key: ++this.#key, text: "", isDone: false, startedAt: event.at, endedAt: null };
		this.#place(event).push(block);
		return block;
	}

	#completeText(event: Extract<GatewayEvent, { type: "content.completed" }>, lane: string): void {
		const { part } = event;
		if (part.type !== "text" && part.type !== "think") {
			const url = part.type === "image_url" ? part.image_url.url : "";
			this.#note(event, url, "plain", "media");
			return;
		}
		const text = part.type === "text" ? part.text : part.think;
		const live = this.#live.get(lane);
		this.#live.delete(lane);
		if (live?.kind === part.type) {
			Object.assign(live, { text, isDone: true, endedAt: event.at });
			return;
		}
		if (text === "") return;
		const { at } = event;
		this.#place(event).push({ kind: part.type, key: ++this.#key, text, isDone: true, startedAt: at, endedAt: null });
	}

	#tool(event: GatewayEvent, id: string, name: string, given: string | null): ToolBlock {
		const known = this.#tools.get(id);
		if (known !== undefined) return known;
		const block: ToolBlock = {
			kind: "tool",
			key: ++this.#key,
			id,
			name,
			arguments: given ?? "",
			state: "preparing",
			live: "",
			liveEnd: 0,
			result: null,
			startedAt: null,
			endedAt: null,
			decision: null,
			display: [],
			children: [],
			steps: 0,
		};
		this.#place(event).push(block);
		this.#tools.set(id, block);
		return block;
	}

	#settleTool(event: Extract<GatewayEvent, { type: "tool.result" }>): void {
		const { result } = event;
		const block = this.#tools.get(event.toolCallId);
		for (const shown of result.display) {
			if (shown.type === "todo" && "items" in shown) this.todo = shown.items;
		}
		if (block === undefined) return;
		block.result = result;
		block.endedAt = event.at;
		if (result.display.length > 0) block.display = result.display;
		if (block.state !== "refused") block.state = result.is_error ? "failed" : "done";
		if (!result.is_error) for (const shown of block.display) this.#noteChange(shown);
		if (event.agentPath.length === 0 && this.isRunning) this.activity = "thinking";
	}

	#noteChange(shown: DisplayBlock): void {
		if (shown.type !== "diff" || !("old_text" in shown)) return;
		const change = this.changes.get(shown.path) ?? { path: shown.path, added: 0, removed: 0 };
		const { added, removed } = countLines(diffLines(shown.old_text, shown.new_text));
		this.changes.set(shown.path, { path: shown.path, added: change.added + added, removed: change.removed + removed });
	}

	#resolve(event: Extract<GatewayEvent, { type: "interaction.resolved" }>): void {
		const asked = this.openInteractions.get(event.interactionId);
		this.openInteractions.delete(event.interactionId);
		if (this.openInteractions.size === 0 && this.isRunning) this.activity = "thinking";
		const block = asked === undefined ? undefined : this.#tools.get(asked.kind === "hook" ? "" : asked.toolCallId);
		if (block === undefined) return;
		const who = this.#whose(event.by);
		const { answer } = event;
		if (answer.kind === "question") {
			block.state = "running";
			const given = Object.values(answer.answers);
			block.decision = given.length === 0 ? `Dismissed ${who}` : `Answered ${who}: ${given.join("; ")}`;
		}
		if (answer.kind !== "approval") return;
		const isRejected = answer.decision === "reject";
		const verb = isRejected ? "Rejected" : answer.decision === "approve" ? "Allowed once" : "Allowed in this session";
		// Nobody decided: the work ended before somebody could.
		if (event.by?.kind === "cancelled" || event.by?.kind === "shutdown") {
			block.state = "interrupted";
			block.decision = `Not decided, ${who}`;
			return;
		}
		block.decision = `${verb} ${who}${answer.feedback === "" ? "" : `: “${answer.feedback}”`}`;
		block.state = isRejected ? "refused" : "running";
	}

	#whose(by: SettledBy | undefined): string {
		switch (by?.kind) {
			case undefined:
				return "";
			case "client":
				return by.name === this.#windowName ? "in this window" : `by ${shownName(by.name ?? "another program")}`;
			case "session-grant":
				return "by an earlier approval for this session";
			case "error-reply":
				return `because a program failed to answer: ${by.message}`;
			case "malformed":
				return "because a program's answer made no sense";
			case "deadline":
				return `because nobody answered within ${by.seconds} s`;
			case "cancelled":
				return "because the turn was stopped";
			case "client-gone":
				return "because nobody was there to answer";
			case "shutdown":
				return "because the program ended";
		}
	}
}

/** Which agent's texts an event belongs to. */
const laneOf = (event: Pick<GatewayEvent, "agentPath">): string => event.agentPath.at(-1)?.agentId ?? "";

/** Characters of the output of a running call that are shown. */
const liveLimit = 20_000;

function addProgress(block: ToolBlock, { text, offset }: Extract<GatewayEvent, { type: "tool.progress" }>): void {
	const end = offset + text.length;
	if (end <= block.liveEnd) return;
	const gap = offset > block.liveEnd && block.live !== "" ? "…" : "";
	block.live = (block.live + gap + text.slice(Math.max(0, block.liveEnd - offset))).slice(-liveLimit);
	block.liveEnd = end;
}

/** A failure in words for people who can act on it. */
function explain(error: TurnError): { readonly text: string; readonly help: string | null } {
	if (error.code === "model-not-set") {
		const help =
			"Choose another one above, or add one where a session begins. The model of a demo ends with its gateway.";
		return { text: "This session has no model.", help };
	}
	const help = error.retryable === true ? "Sending the prompt again may succeed." : null;
	return { text: error.message, help };
}
