// Live texts are sent as deltas; history uses the complete texts. Sends nothing itself.

import type { ModelPrice } from "../../api/models.ts";
import { type ContentPart, type DisplayBlock, toParts, type UserInput } from "../../api/values/content.ts";
import type { AgentEvent, EventBodyOf, EventType } from "../../api/values/event.ts";
import { ownEvents } from "../../api/values/own-events.ts";
import { retryCause, retryTitle } from "../../api/values/retry-text.ts";
import { ServerReports, type UnusableServer } from "../../api/values/server-reports.ts";
import { toSideQuestion } from "../../api/values/slash-command.ts";
import { Calls } from "./calls/calls.ts";
import { toBlock } from "./content.ts";
import { quoted } from "./errors.ts";
import { Usage } from "./usage.ts";
import type { ClientCapabilities } from "./wire.ts";
import type { Update, UpdateName } from "./wire-updates.ts";

export interface ProjectionSettings {
	readonly workDir: string;
	readonly client: ClientCapabilities;
	/** Whether the client sent the input of this turn, and so already shows it. */
	isOwnInput(turnId: string | null): boolean;
	/** Whether a client shows its own prompt only when the agent sends it. */
	echoesPrompts(): boolean;
	price(): ModelPrice | null;
}

type Entry<T extends EventType> = (this: Projection, body: EventBodyOf<T>, event: AgentEvent) => readonly Update[];

const whyUnusable: Readonly<Record<UnusableServer["status"], string>> = {
	failed: "It did not start, or does not answer. Its tools are missing; the log has the reason.",
	unauthorized: "It wants a sign-in. Its tools are missing until then.",
};

const nothing: readonly Update[] = [];
const ignored = () => nothing;

export class Projection {
	readonly settings: ProjectionSettings;
	readonly calls: Calls;
	readonly usage: Usage;
	readonly servers = new ServerReports();
	isReplay = false;
	plan = "";
	/** Names the running turn in ids; events of earlier versions do not name it. */
	turnName = "";
	depth = 0;
	#turns = 0;
	#step = 0;
	/** Turn depth at the start of the last step. */
	#stepDepth = 0;
	#compactions = 0;

	constructor(settings: ProjectionSettings) {
		this.settings = settings;
		this.calls = new Calls(settings.workDir, settings.client._meta.terminal_output);
		this.usage = new Usage(settings.price);
	}

	take(event: AgentEvent): readonly Update[] {
		return entryOf(event.body.type).call(this, event.body, event);
	}

	/** Ends everything that was cut off when the program ended. */
	endUnfinished(): readonly Update[] {
		this.depth = 0;
		return this.calls.endAll();
	}

	/** A nested turn has the same id, and begins while the outer turn has no step. */
	isAfterLostTurn(turnId: string | null): boolean {
		if (this.depth === 0) return false;
		return turnId === null ? this.#stepDepth === this.depth : turnId !== this.turnName;
	}

	beginTurn(turnId: string | null): void {
		this.depth += 1;
		if (this.depth > 1) return;
		this.#turns += 1;
		this.turnName = turnId ?? `turn-${this.#turns}`;
		this.calls.beginTurn();
		this.#step = 0;
		this.#stepDepth = 0;
		this.#compactions = 0;
	}

	beginStep(): void {
		this.#step += 1;
		this.#stepDepth = this.depth;
	}

	get messageId(): string {
		return `${this.turnName}-${this.#step}`;
	}

	/** Unique also among ids that a returning client knows from before. */
	compactionId(begins: boolean): string {
		if (begins) this.#compactions += 1;
		return `${this.turnName}-compaction-${this.#compactions}`;
	}

	userChunks(input: UserInput, messageId: string): readonly Update[] {
		return toParts(input).map((part) => ({ sessionUpdate: "user_message_chunk", content: toBlock(part), messageId }));
	}

	answerChunk(part: ContentPart): readonly Update[] {
		const { messageId } = this;
		if (part.type !== "think") return [{ sessionUpdate: "agent_message_chunk", content: toBlock(part), messageId }];
		// Reasoning may be withheld, leaving only a signature.
		if (part.think === "") return nothing;
		return [{ sessionUpdate: "agent_thought_chunk", content: toBlock(part), messageId }];
	}

	/** A notice outside of the conversation; nothing for clients without notices. */
	notice(severity: "info" | "warning", title: string, description = ""): readonly Update[] {
		if (!this.settings.client.session.notices || this.isReplay) return nothing;
		return [{ sessionUpdate: "notice", severity, title, ...(description === "" ? {} : { description }) }];
	}

	/** A notice that the user must see; a message for clients without notices. */
	report(severity: "info" | "warning", title: string, text: string, messageId: string): readonly Update[] {
		if (this.settings.client.session.notices) return this.notice(severity, title, text);
		const content = { type: "text", text: `${title}\n\n${text}\n` } as const;
		return [{ sessionUpdate: "agent_message_chunk", content, messageId }];
	}
}

const entries: { readonly [T in EventType]: Entry<T> } = {
	"turn.started"({ input }, { turnId, agentPath }) {
		if (agentPath.length > 0) return nothing;
		const lost = this.isAfterLostTurn(turnId) ? this.endUnfinished() : nothing;
		this.beginTurn(turnId);
		// The input of a nested turn comes from the program.
		if (this.depth > 1) return nothing;
		if (!this.isReplay && this.settings.isOwnInput(turnId)) return lost;
		return [...lost, ...this.userChunks(input, `${this.turnName}-u`)];
	},
	"turn.ended"(_body, { agentPath }) {
		if (agentPath.length > 0) return nothing;
		this.depth = Math.max(0, this.depth - 1);
		return this.depth > 0 ? nothing : this.calls.endAll();
	},
	"step.started"(_body, { agentPath }) {
		if (agentPath.length === 0) this.beginStep();
		return nothing;
	},
	"step.interrupted"(_body, { agentPath }) {
		return agentPath.length === 0 ? this.calls.endAll() : nothing;
	},
	"step.retrying"(body) {
		const { wait_s, next_attempt, max_attempts } = body;
		return this.notice("warning", retryTitle(wait_s, next_attempt, max_attempts), retryCause(body));
	},
	"compaction.started"(_body, { agentPath }) {
		return agentPath.length > 0 ? nothing : compaction(this, "in_progress");
	},
	"compaction.ended"(_body, { agentPath }) {
		return agentPath.length > 0 ? nothing : compaction(this, "completed");
	},
	"mcp.loading-started"() {
		return this.notice("info", "Connecting to MCP servers");
	},
	"mcp.loading-ended": ignored,
	"status.changed"(body, { agentPath }) {
		if (body.token_usage !== null) this.usage.count(body.token_usage);
		if (agentPath.length > 0) return nothing;
		this.usage.setContext(body.context_tokens, body.max_context_tokens);
		if (this.isReplay) return nothing;
		const reports = body.mcp_status === null ? [] : this.servers.take(body.mcp_status);
		const reported = reports.flatMap(({ name, status }) => {
			const title = `The MCP server ${quoted(name)} cannot be used`;
			return this.report("warning", title, whyUnusable[status], `mcp-server-${name}`);
		});
		return [...reported, ...this.usage.update()];
	},
	...ownEvents(ignored),
	"budget.warning"({ budget, scope, used, limit }) {
		const of = scope === "session" ? "the session" : "this turn";
		return this.notice("warning", `Most of the budget of ${of} is used`, `${budget}: ${used} of ${limit}`);
	},
	"notification.raised"({ id, title, body }) {
		return this.report("info", title, body, `notification-${id}`);
	},
	"content.delta"({ part }, { agentPath }) {
		return agentPath.length > 0 ? nothing : this.answerChunk(part);
	},
	"content.completed"({ part }, { agentPath }) {
		return agentPath.length > 0 || !this.isReplay ? nothing : this.answerChunk(part);
	},
	"tool-call.started"({ call }, event) {
		return event.agentPath.length > 0 ? nothing : this.calls.begin(call, event, this.turnName);
	},
	"tool-call.delta": ignored,
	"tool.requested"({ call }, event) {
		return this.calls.request(call, event, this.turnName);
	},
	"tool-call.fragment": ignored,
	"session-hook.started": ignored,
	"session-hook.ended": ignored,
	"tool.started"({ toolCallId }, event) {
		return this.calls.start(toolCallId, event);
	},
	"tool.progress"({ toolCallId, text }, event) {
		return this.calls.progress(toolCallId, text, event);
	},
	"tool.result"({ toolCallId, result }, event) {
		const settled = this.calls.settle(toolCallId, result, event);
		const plans = event.agentPath.length > 0 ? [] : result.display.filter(isTodo).map(({ items }) => toPlan(items));
		return [...settled, ...plans];
	},
	"tool.outcome-unknown"({ toolCallId }, event) {
		return this.calls.lose(toolCallId, event);
	},
	// These two are requests, not updates.
	"interaction.requested": ignored,
	"interaction.resolved": ignored,
	// They change the session's choices, which the session sends itself.
	"model.changed": ignored,
	"title.changed": ignored,
	"steer.consumed"({ input }, { agentPath }) {
		if (agentPath.length > 0) return nothing;
		// The answer continues after it.
		const { messageId } = this;
		this.beginStep();
		return this.userChunks(input, `${messageId}-u`);
	},
	"plan.displayed"({ content }) {
		this.plan = content;
		return nothing;
	},
	"hook.triggered": ignored,
	"hook.resolved": ignored,
	"side-question.started"({ id, question }, { turnId }) {
		// As a prompt it is the input of a turn.
		if (turnId !== null || !(this.isReplay || this.settings.echoesPrompts())) return nothing;
		return this.userChunks(toSideQuestion(question), `${id}-u`);
	},
	"side-question.ended"({ id, response, error }, { turnId }) {
		// As a prompt it has a turn, which contains the answer.
		if (turnId !== null) return nothing;
		const text = response ?? error ?? "";
		return [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId: id }];
	},
};

/** The entry takes the body of its type; indexing loses that relation. */
function entryOf(type: EventType): Entry<EventType> {
	return entries[type] as Entry<EventType>;
}

/** A separate call, for clients without compaction support. */
function compaction(projection: Projection, status: "in_progress" | "completed"): readonly Update[] {
	const begins = status === "in_progress";
	const compactionId = projection.compactionId(begins);
	if (projection.settings.client.session.compaction)
		return [{ sessionUpdate: "compaction_update", compactionId, status }];
	const _meta = { contextCompaction: { version: 1 } };
	const title = "Compact conversation";
	const sessionUpdate: UpdateName = begins ? "tool_call" : "tool_call_update";
	return [{ sessionUpdate, toolCallId: compactionId, title, kind: "think", status, _meta }];
}

type TodoBlock = Extract<DisplayBlock, { items: unknown }>;

const isTodo = (block: DisplayBlock): block is TodoBlock => block.type === "todo" && "items" in block;

function toPlan(items: TodoBlock["items"]): Update {
	const entries = items.map(({ title, status }) => ({
		content: title,
		priority: "medium" as const,
		status: status === "done" ? ("completed" as const) : status,
	}));
	return { sessionUpdate: "plan", entries };
}
