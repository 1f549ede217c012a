import { isDeepStrictEqual } from "node:util";
import { inputTokens, type Todo, type TokenUsage, type ToolReturn } from "../../api/values/content.ts";
import type { AgentEvent, EventBodyOf, EventType, TurnOutcome } from "../../api/values/event.ts";
import { ownEvents } from "../../api/values/own-events.ts";
import { retryCause, retryTitle } from "../../api/values/retry-text.ts";
import { ServerReports } from "../../api/values/server-reports.ts";
import type { ExecEvent, ExecItem, ExecUsage } from "./exec-events.ts";
import { ownServer, type ReadCall, readCall } from "./tool-names.ts";
import { exitCode, fileChange, outputText, todosOf } from "./tool-results.ts";
import { turnFailureText } from "./turn-failure.ts";

type Entry<T extends EventType> = (this: ExecProjection, body: EventBodyOf<T>) => readonly ExecEvent[];

const nothing: readonly ExecEvent[] = [];
const ignored = () => nothing;

interface OpenCall {
	readonly id: string;
	readonly call: ReadCall;
}

const noUsage: ExecUsage = {
	input_tokens: 0,
	cached_input_tokens: 0,
	cache_write_input_tokens: 0,
	output_tokens: 0,
	reasoning_output_tokens: 0,
};

export class ExecProjection {
	readonly threadId: string;
	readonly workDir: string;
	readonly servers = new ServerReports();
	readonly serverOf = new Map<string, string>();
	readonly calls = new Map<string, OpenCall>();
	/** Text of this step so far; a retry withdraws it. */
	said: { readonly type: "agent_message" | "reasoning"; readonly text: string }[] = [];
	lastMessage = "";
	usage = noUsage;
	todoList: Extract<ExecItem, { type: "todo_list" }> | null = null;
	outcome: "completed" | "failed" | null = null;
	#items = 0;

	constructor(threadId: string, workDir: string) {
		this.threadId = threadId;
		this.workDir = workDir;
	}

	begin(): ExecEvent {
		return { type: "thread.started", thread_id: this.threadId };
	}

	take({ body, agentPath }: AgentEvent): readonly ExecEvent[] {
		// Subagents only contribute tokens: their work is in the result of their call.
		if (agentPath.length === 0) return entryOf(body.type).call(this, body);
		if (body.type === "status.changed" && body.token_usage !== null) this.count(body.token_usage);
		return nothing;
	}

	/** Also for a turn whose end no event reports because it did not begin. Nothing for an ended one. */
	end(outcome: TurnOutcome): readonly ExecEvent[] {
		if (this.outcome !== null) return nothing;
		const open = [...this.calls.values()].flatMap((call) => this.settle(call, null));
		this.calls.clear();
		const said = [...this.flush(), ...open];
		if (this.todoList !== null) said.push(this.completed(this.todoList));
		const failure = turnFailureText(outcome);
		this.outcome = failure === null ? "completed" : "failed";
		if (failure !== null) return [...said, { type: "turn.failed", error: { message: failure } }];
		if (outcome.status === "finished" && outcome.formed?.kind === "formed") {
			const text = JSON.stringify(outcome.formed.value);
			// Clients parse the last message.
			if (!isJsonOf(this.lastMessage, outcome.formed.value)) {
				this.lastMessage = text;
				said.push(this.completed({ id: this.newId(), type: "agent_message", text }));
			}
		}
		return [...said, { type: "turn.completed", usage: this.usage }];
	}

	report(message: string): ExecEvent {
		return this.completed({ id: this.newId(), type: "error", message });
	}

	newId(): string {
		const id = `item_${this.#items}`;
		this.#items += 1;
		return id;
	}

	completed(item: ExecItem): ExecEvent {
		return { type: "item.completed", item };
	}

	flush(): readonly ExecEvent[] {
		const said = this.said;
		this.said = [];
		return said.map(({ type, text }) => {
			if (type === "agent_message") this.lastMessage = text;
			return this.completed({ id: this.newId(), type, text });
		});
	}

	count(usage: TokenUsage): void {
		const { input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens } = this.usage;
		this.usage = {
			...this.usage,
			input_tokens: input_tokens + inputTokens(usage),
			cached_input_tokens: cached_input_tokens + usage.input_cache_read,
			cache_write_input_tokens: cache_write_input_tokens + usage.input_cache_creation,
			output_tokens: output_tokens + usage.output,
		};
	}

	setTodos(todos: readonly Todo[]): readonly ExecEvent[] {
		const items = todos.map(({ title, status }) => ({ text: title, completed: status === "done" }));
		const type = this.todoList === null ? "item.started" : "item.updated";
		this.todoList = { id: this.todoList?.id ?? this.newId(), type: "todo_list", items };
		return [{ type, item: this.todoList }];
	}

	/** Ends a call with its result, or without one because the turn was interrupted. */
	settle({ id, call }: OpenCall, result: ToolReturn | null): readonly ExecEvent[] {
		if (call.kind === "todo") {
			const todos = result === null ? null : todosOf(result);
			return todos === null ? nothing : this.setTodos(todos);
		}
		return [this.completed(toItem(id, call, this.#serverOf(call), this.workDir, result))];
	}

	start({ id, call }: OpenCall): readonly ExecEvent[] {
		if (call.kind === "command") {
			const command = call.text("command");
			const item = { id, type: "command_execution", command, aggregated_output: "", status: "in_progress" } as const;
			return [{ type: "item.started", item }];
		}
		if (call.kind !== "other") return nothing;
		const { name: tool, given } = call;
		const server = this.#serverOf(call);
		const item = { id, type: "mcp_tool_call", server, tool, arguments: given, status: "in_progress" } as const;
		return [{ type: "item.started", item }];
	}

	#serverOf({ name }: ReadCall): string {
		return this.serverOf.get(name) ?? ownServer;
	}
}

function toItem(id: string, call: ReadCall, server: string, workDir: string, result: ToolReturn | null): ExecItem {
	const failed = result === null || result.is_error;
	const status = failed ? "failed" : "completed";
	switch (call.kind) {
		case "command": {
			const code = result === null ? null : exitCode(result);
			return {
				id,
				type: "command_execution",
				command: call.text("command"),
				aggregated_output: result === null ? "" : outputText(result),
				...(code === null ? {} : { exit_code: code }),
				status,
			};
		}
		case "file-change": {
			const { path, kind } = fileChange(call, result?.display ?? [], workDir);
			return { id, type: "file_change", changes: [{ path, kind }], status };
		}
		case "web-search":
			return { id, type: "web_search", query: call.text("query") };
		case "todo":
		case "other": {
			const shown = { id, type: "mcp_tool_call", server, tool: call.name, arguments: call.given, status } as const;
			if (result === null) return { ...shown, error: { message: "The call was interrupted." } };
			const text = outputText(result);
			if (failed) return { ...shown, error: { message: text } };
			return { ...shown, result: { content: [{ type: "text", text }], structured_content: null } };
		}
	}
}

const entries: { readonly [T in EventType]: Entry<T> } = {
	"turn.started": () => [{ type: "turn.started" }],
	"turn.ended"({ outcome }) {
		// A nested turn has no outcome.
		return outcome === null ? nothing : this.end(outcome);
	},
	"step.started"() {
		return this.flush();
	},
	"step.interrupted": ignored,
	"step.retrying"(body) {
		this.said = [];
		const { wait_s, next_attempt, max_attempts } = body;
		return [this.report(`${retryTitle(wait_s, next_attempt, max_attempts)}: ${retryCause(body)}`)];
	},
	"compaction.started": ignored,
	"compaction.ended": ignored,
	"mcp.loading-started": ignored,
	"mcp.loading-ended": ignored,
	"status.changed"({ token_usage, mcp_status }) {
		if (token_usage !== null) this.count(token_usage);
		for (const { name, tools } of mcp_status?.servers ?? []) for (const tool of tools) this.serverOf.set(tool, name);
		const unusable = mcp_status === null ? [] : this.servers.take(mcp_status);
		return unusable.map(({ name, status }) =>
			this.report(
				status === "failed"
					? `The MCP server ${name} did not start or does not answer. Its tools are missing.`
					: `The MCP server ${name} needs a sign-in (agentwire mcp auth ${name}). Its tools are missing.`,
			),
		);
	},
	...ownEvents(ignored),
	"budget.warning"({ budget, used, limit }) {
		return [this.report(`Most of a budget is used (${budget}): ${used} of ${limit}.`)];
	},
	"notification.raised": ignored,
	"content.delta": ignored,
	"content.completed"({ part }) {
		if (part.type === "text" && part.text !== "") this.said.push({ type: "agent_message", text: part.text });
		// Reasoning may be withheld, leaving only a signature.
		if (part.type === "think" && part.think !== "") this.said.push({ type: "reasoning", text: part.think });
		return nothing;
	},
	"tool-call.started": ignored,
	"tool-call.delta": ignored,
	"tool.requested"({ call }) {
		const said = this.flush();
		const read = readCall(call);
		// The to-do list has one item for the whole turn.
		this.calls.set(call.id, { id: read.kind === "todo" ? "" : this.newId(), call: read });
		return said;
	},
	"tool-call.fragment": ignored,
	"session-hook.started": ignored,
	"session-hook.ended": ignored,
	"tool.started"({ toolCallId }) {
		const call = this.calls.get(toolCallId);
		return call === undefined ? nothing : this.start(call);
	},
	"tool.progress": ignored,
	"tool.result"({ toolCallId, result }) {
		const call = this.calls.get(toolCallId);
		if (call === undefined) return nothing;
		this.calls.delete(toolCallId);
		return this.settle(call, result);
	},
	"tool.outcome-unknown": ignored,
	"interaction.requested": ignored,
	"interaction.resolved": ignored,
	"model.changed": ignored,
	"title.changed": ignored,
	"steer.consumed": ignored,
	"plan.displayed": ignored,
	"hook.triggered": ignored,
	"hook.resolved": ignored,
	"side-question.started": ignored,
	"side-question.ended": ignored,
};

function entryOf(type: EventType): Entry<EventType> {
	return entries[type] as Entry<EventType>;
}

function isJsonOf(text: string, value: unknown): boolean {
	try {
		return isDeepStrictEqual(JSON.parse(text), value);
	} catch {
		return false;
	}
}
