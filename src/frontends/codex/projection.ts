// Projects thread events to app-server notifications, and histories to turns.
import { inputTokens, type TokenUsage, type ToolReturn, toParts, type UserInput } from "../../api/values/content.ts";
import type { AgentEvent, EventBodyOf, EventType, TurnOutcome } from "../../api/values/event.ts";
import { ownEvents } from "../../api/values/own-events.ts";
import { retryCause, retryTitle } from "../../api/values/retry-text.ts";
import { ownServer, type ReadCall, readCall } from "./tool-names.ts";
import { exitCode, fileChange, outputText, todosOf } from "./tool-results.ts";
import { turnFailureText } from "./turn-failure.ts";
import { toDiff } from "./unified-diff.ts";
import type { Item, Turn, TurnErrorValue, UserContent } from "./wire-items.ts";
import type { Notification, UsageValue } from "./wire-updates.ts";

type Entry<T extends EventType> = (
	this: ThreadProjection,
	body: EventBodyOf<T>,
	event: AgentEvent,
) => readonly Notification[];

const nothing: readonly Notification[] = [];
const ignored = () => nothing;
const noUsage: UsageValue = {
	totalTokens: 0,
	inputTokens: 0,
	cachedInputTokens: 0,
	cacheWriteInputTokens: 0,
	outputTokens: 0,
	reasoningOutputTokens: 0,
};

interface Said {
	readonly id: string;
	readonly type: "agentMessage" | "reasoning";
}

export class ThreadProjection {
	readonly threadId: string;
	readonly workDir: string;
	readonly clientTools: ReadonlySet<string>;
	readonly serverOf = new Map<string, string>();
	/** By the model's call id, which is also the item id within the turn. */
	readonly calls = new Map<string, ReadCall>();
	/** Calls with open approvals, by approval id, and declined calls. */
	readonly asked = new Map<string, string>();
	readonly declined = new Set<string>();
	turn: Turn | null = null;
	said: Said | null = null;
	lastMessage = "";
	total = noUsage;
	contextWindow: number | null = null;
	#items = 0;

	constructor(threadId: string, workDir: string, clientTools: ReadonlySet<string>) {
		this.threadId = threadId;
		this.workDir = workDir;
		this.clientTools = clientTools;
	}

	take(event: AgentEvent): readonly Notification[] {
		const { body, agentPath } = event;
		if (agentPath.length === 0) return entryOf(body.type).call(this, body, event);
		// Subagents' work is in the result of their call.
		if (body.type === "status.changed" && body.token_usage !== null) return this.count(body.token_usage);
		return nothing;
	}

	get place() {
		return { threadId: this.threadId, turnId: this.turn?.id ?? "" };
	}

	newId(): string {
		this.#items += 1;
		return `${this.turn?.id ?? "thread"}-${this.#items}`;
	}

	started(item: Item, at: number): Notification {
		return { method: "item/started", params: { ...this.place, item, startedAtMs: at } };
	}

	completed(item: Item, at: number): Notification {
		return { method: "item/completed", params: { ...this.place, item, completedAtMs: at } };
	}

	both(item: Item, at: number): readonly Notification[] {
		return [this.started(item, at), this.completed(item, at)];
	}

	begin(turnId: string, input: UserInput, at: number): readonly Notification[] {
		this.turn = {
			id: turnId,
			status: "inProgress",
			items: [],
			error: null,
			startedAt: Math.floor(at / 1000),
			completedAt: null,
			durationMs: null,
		};
		this.#items = 0;
		const { threadId } = this;
		return [
			{ method: "thread/status/changed", params: { threadId, status: { type: "active", activeFlags: [] } } },
			{ method: "turn/started", params: { threadId, turn: this.turn } },
			...this.both(this.userMessage(input), at),
		];
	}

	userMessage(input: UserInput): Item {
		const content = toParts(input).flatMap((part): UserContent[] => {
			if (part.type === "text") return [{ type: "text", text: part.text }];
			return part.type === "image_url" ? [{ type: "image", url: part.image_url.url }] : [];
		});
		return { type: "userMessage", id: this.newId(), content };
	}

	end(outcome: TurnOutcome, at: number): readonly Notification[] {
		const { turn, threadId } = this;
		if (turn === null) return nothing;
		const open = [...this.calls].flatMap(([id, call]) =>
			call.kind === "todo" ? [] : [this.completed(this.toItem(id, call, null, true), at)],
		);
		this.calls.clear();
		this.asked.clear();
		this.declined.clear();
		this.said = null;
		const formed = outcome.status === "finished" && outcome.formed?.kind === "formed" ? outcome.formed : null;
		const last: Item | null =
			formed === null || formed.attempts === 0
				? null
				: { type: "agentMessage", id: this.newId(), text: JSON.stringify(formed.value) };
		const error = toTurnError(outcome);
		const startedAt = (turn.startedAt ?? 0) * 1000;
		const ended: Turn = {
			...turn,
			status: outcome.status === "cancelled" ? "interrupted" : error === null ? "completed" : "failed",
			error,
			completedAt: Math.floor(at / 1000),
			durationMs: Math.max(0, at - startedAt),
		};
		const sent: Notification[] = [...open, ...(last === null ? [] : this.both(last, at))];
		if (error !== null) sent.push({ method: "error", params: { ...this.place, error, willRetry: false } });
		sent.push({ method: "turn/completed", params: { threadId, turn: ended } });
		sent.push({ method: "thread/status/changed", params: { threadId, status: { type: "idle" } } });
		this.turn = null;
		return sent;
	}

	count(usage: TokenUsage): readonly Notification[] {
		const last: UsageValue = {
			totalTokens: inputTokens(usage) + usage.output,
			inputTokens: inputTokens(usage),
			cachedInputTokens: usage.input_cache_read,
			cacheWriteInputTokens: usage.input_cache_creation,
			outputTokens: usage.output,
			reasoningOutputTokens: 0,
		};
		const { total } = this;
		this.total = {
			totalTokens: total.totalTokens + last.totalTokens,
			inputTokens: total.inputTokens + last.inputTokens,
			cachedInputTokens: total.cachedInputTokens + last.cachedInputTokens,
			cacheWriteInputTokens: total.cacheWriteInputTokens + last.cacheWriteInputTokens,
			outputTokens: total.outputTokens + last.outputTokens,
			reasoningOutputTokens: 0,
		};
		const tokenUsage = { total: this.total, last, modelContextWindow: this.contextWindow };
		return [{ method: "thread/tokenUsage/updated", params: { ...this.place, tokenUsage } }];
	}

	say(type: Said["type"], delta: string, at: number): readonly Notification[] {
		if (delta === "") return nothing;
		const begun = this.said?.type === type ? [] : [this.started(this.#open(type), at)];
		const place = { ...this.place, itemId: this.said?.id ?? "", delta };
		if (type === "agentMessage") return [...begun, { method: "item/agentMessage/delta", params: place }];
		return [...begun, { method: "item/reasoning/textDelta", params: { ...place, contentIndex: 0 } }];
	}

	finish(type: Said["type"], text: string, at: number): readonly Notification[] {
		if (text === "") return nothing;
		const begun = this.said?.type === type ? [] : [this.started(this.#open(type), at)];
		const id = this.said?.id ?? "";
		this.said = null;
		if (type === "agentMessage") this.lastMessage = text;
		return [...begun, this.completed(toSaid(type, id, text), at)];
	}

	#open(type: Said["type"]): Item {
		this.said = { id: this.newId(), type };
		return toSaid(type, this.said.id, "");
	}

	/** Without a result while it runs, and when the turn ended first. */
	toItem(id: string, call: ReadCall, result: ToolReturn | null, isOver: boolean): Item {
		const failed = result === null ? isOver : result.is_error;
		const status = failed ? "failed" : result === null ? "inProgress" : "completed";
		const text = result === null ? "" : outputText(result);
		const acted = failed && this.declined.has(id) ? "declined" : status;
		if (call.kind === "command") {
			return {
				type: "commandExecution",
				id,
				command: call.text("command"),
				cwd: this.workDir,
				status: acted,
				commandActions: [],
				aggregatedOutput: result === null ? null : text,
				exitCode: result === null ? null : exitCode(result),
			};
		}
		if (call.kind === "file-change") {
			const { path, kind, blocks } = fileChange(call, result?.display ?? [], this.workDir);
			return { type: "fileChange", id, status: acted, changes: [{ path, kind: { type: kind }, diff: toDiff(blocks) }] };
		}
		if (call.kind === "web-search") return { type: "webSearch", id, query: call.text("query") };
		const shown = { id, tool: call.name, arguments: call.given, status } as const;
		if (this.clientTools.has(call.name)) {
			const contentItems = result === null ? null : [{ type: "inputText" as const, text }];
			return { type: "dynamicToolCall", ...shown, success: result === null ? null : !failed, contentItems };
		}
		return {
			type: "mcpToolCall",
			...shown,
			server: this.serverOf.get(call.name) ?? ownServer,
			result: result === null || failed ? null : { content: [{ type: "text", text }] },
			error: failed ? { message: text === "" ? "The call was interrupted." : text } : null,
		};
	}
}

function toSaid(type: Said["type"], id: string, text: string): Item {
	if (type === "agentMessage") return { type, id, text };
	return { type, id, summary: [], content: text === "" ? [] : [text] };
}

function toTurnError(outcome: TurnOutcome): TurnErrorValue | null {
	if (outcome.status === "cancelled") return null;
	const message = turnFailureText(outcome);
	if (message === null) return null;
	const isOverloaded = outcome.status === "failed" && outcome.error.retryable === true;
	return { message, codexErrorInfo: isOverloaded ? "serverOverloaded" : "other" };
}

const entries: { readonly [T in EventType]: Entry<T> } = {
	"turn.started"({ input }, { turnId, at }) {
		// The input of a turn within a turn, which has the same id, is the program's own.
		const isNested = this.turn !== null && (turnId === null || turnId === this.turn.id);
		return isNested ? nothing : this.begin(turnId ?? "turn", input, at);
	},
	"turn.ended"({ outcome }, { at, isFromLog }) {
		if (outcome !== null) return this.end(outcome, at);
		return isFromLog === true ? this.end({ status: "finished" }, at) : nothing;
	},
	"step.started": ignored,
	"step.interrupted": ignored,
	"step.retrying"(body) {
		this.said = null;
		const { wait_s, next_attempt, max_attempts } = body;
		const message = `${retryTitle(wait_s, next_attempt, max_attempts)}: ${retryCause(body)}`;
		const error = { message, codexErrorInfo: "other" } as const;
		return [{ method: "error", params: { ...this.place, error, willRetry: true } }];
	},
	"compaction.started": ignored,
	"compaction.ended"(_body, { at }) {
		return this.turn === null ? nothing : this.both({ type: "contextCompaction", id: this.newId() }, at);
	},
	"mcp.loading-started": ignored,
	"mcp.loading-ended": ignored,
	"status.changed"({ token_usage, max_context_tokens, mcp_status }) {
		this.contextWindow = max_context_tokens ?? this.contextWindow;
		for (const { name, tools } of mcp_status?.servers ?? []) for (const tool of tools) this.serverOf.set(tool, name);
		return token_usage === null || this.turn === null ? nothing : this.count(token_usage);
	},
	...ownEvents(ignored),
	"budget.warning": ignored,
	"notification.raised": ignored,
	"content.delta"({ part }, { at }) {
		if (this.turn === null) return nothing;
		if (part.type === "text") return this.say("agentMessage", part.text, at);
		return part.type === "think" ? this.say("reasoning", part.think, at) : nothing;
	},
	"content.completed"({ part }, { at }) {
		if (this.turn === null) return nothing;
		if (part.type === "text") return this.finish("agentMessage", part.text, at);
		return part.type === "think" ? this.finish("reasoning", part.think, at) : nothing;
	},
	"tool-call.started": ignored,
	"tool-call.delta": ignored,
	"tool.requested"({ call }, { at }) {
		const read = readCall(call);
		this.calls.set(call.id, read);
		return read.kind === "todo" ? nothing : [this.started(this.toItem(call.id, read, null, false), at)];
	},
	"tool-call.fragment": ignored,
	"session-hook.started": ignored,
	"session-hook.ended": ignored,
	"tool.started": ignored,
	"tool.progress"({ toolCallId, text }) {
		if (this.calls.get(toolCallId)?.kind !== "command") return nothing;
		const params = { ...this.place, itemId: toolCallId, delta: text };
		return [{ method: "item/commandExecution/outputDelta", params }];
	},
	"tool.result"({ toolCallId, result }, { at }) {
		const call = this.calls.get(toolCallId);
		if (call === undefined) return nothing;
		this.calls.delete(toolCallId);
		if (call.kind !== "todo") return [this.completed(this.toItem(toolCallId, call, result, true), at)];
		const plan = (todosOf(result) ?? []).map(({ title, status }) => ({
			step: title,
			status: status === "done" ? ("completed" as const) : status === "pending" ? status : ("inProgress" as const),
		}));
		return plan.length === 0 ? nothing : [{ method: "turn/plan/updated", params: { ...this.place, plan } }];
	},
	"tool.outcome-unknown": ignored,
	// These two are requests, not notifications.
	"interaction.requested"({ interaction }) {
		if (interaction.kind === "approval") this.asked.set(interaction.id, interaction.toolCallId);
		return nothing;
	},
	"interaction.resolved"({ interactionId, answer }) {
		const call = this.asked.get(interactionId);
		if (call !== undefined && answer.kind === "approval" && answer.decision === "reject") this.declined.add(call);
		return nothing;
	},
	"model.changed": ignored,
	"title.changed"({ title }) {
		return [{ method: "thread/name/updated", params: { threadId: this.threadId, threadName: title } }];
	},
	"steer.consumed"({ input }, { at }) {
		return this.turn === null ? nothing : this.both(this.userMessage(input), at);
	},
	"plan.displayed": ignored,
	"hook.triggered": ignored,
	"hook.resolved": ignored,
	"side-question.started": ignored,
	"side-question.ended": ignored,
};

function entryOf(type: EventType): Entry<EventType> {
	return entries[type] as Entry<EventType>;
}

export class TurnCollector {
	readonly #turns: Turn[] = [];

	take(event: AgentEvent, projection: ThreadProjection): void {
		// The conversation went on from before this turn.
		if (event.body.type === "session.rewound") {
			const { before } = event.body;
			const index = this.#turns.findIndex(({ id }) => id === before);
			if (index !== -1) this.#turns.length = index;
		}
		for (const { method, params } of projection.take(event)) {
			if (method === "turn/started") this.#turns.push({ ...params.turn, items: [] });
			const last = this.#turns.at(-1);
			if (last === undefined) continue;
			if (method === "item/started") last.items.push(params.item);
			if (method === "item/completed") {
				const { item } = params;
				const index = last.items.findIndex(({ id }) => id === item.id);
				last.items.splice(index === -1 ? last.items.length : index, 1, item);
			}
			if (method === "turn/completed") this.#turns[this.#turns.length - 1] = { ...params.turn, items: last.items };
		}
	}

	/** `running`: the turn that continues; others without an end were cut off with their process. */
	turns(running: string | null): Turn[] {
		return this.#turns.map((turn) =>
			turn.status === "inProgress" && turn.id !== running ? { ...turn, status: "interrupted" } : turn,
		);
	}
}
