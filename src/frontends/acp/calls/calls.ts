import type { ToolCall as ModelCall, ToolReturn } from "../../../api/values/content.ts";
import type { AgentEvent, AgentPathEntry } from "../../../api/values/event.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { ToolContent, Update } from "../wire-updates.ts";
import { codeContent, resultContent, textContent } from "./call-content.ts";
import { type CallDescription, describeCall, shellName } from "./call-description.ts";

export interface Call {
	readonly id: string;
	readonly name: string;
	readonly agentPath: readonly AgentPathEntry[];
	description: CallDescription;
	readonly terminalId: string | null;
	hasOutput: boolean;
	isStarted: boolean;
	readonly steps: string[];
}

const maximumSteps = 10;

type Origin = Pick<AgentEvent, "agentPath" | "turnId">;

export class Calls {
	readonly #workDir: string;
	readonly #showsTerminals: boolean;
	/** Calls without a result, by agent and id. */
	readonly #open = new Map<string, Call>();
	/** Uses per call id in the turn, because models may reuse an id across steps. */
	readonly #uses = new Map<string, number>();

	constructor(workDir: string, showsTerminals: boolean) {
		this.#workDir = workDir;
		this.#showsTerminals = showsTerminals;
	}

	find(toolCallId: string, agentId: string | null): Call | null {
		return this.#open.get(keyOf(toolCallId, agentId)) ?? null;
	}

	beginTurn(): void {
		this.#uses.clear();
	}

	/** A call with incomplete arguments. */
	begin(call: ModelCall, origin: Origin, turnName: string): readonly Update[] {
		return [this.#create(call, null, origin, turnName)];
	}

	request(call: ModelCall, origin: Origin, turnName: string): readonly Update[] {
		const known = this.#find(call.id, origin);
		const json = call.function.arguments ?? "";
		if (known === null) return [this.#create(call, json, origin, turnName), ...this.#noteStep(call, json, origin)];
		known.description = describeCall(call.function.name, json, this.#workDir);
		const { title, kind, locations, rawInput } = known.description;
		const changes = { title, kind, locations: [...locations], rawInput };
		return [{ sessionUpdate: "tool_call_update", toolCallId: known.id, ...changes }];
	}

	start(toolCallId: string, origin: Origin): readonly Update[] {
		const call = this.#find(toolCallId, origin);
		if (call === null) return [];
		call.isStarted = true;
		return [{ sessionUpdate: "tool_call_update", toolCallId: call.id, status: "in_progress" }];
	}

	progress(toolCallId: string, data: string, origin: Origin): readonly Update[] {
		const call = this.#find(toolCallId, origin);
		if (call === null || call.terminalId === null) return [];
		call.hasOutput = true;
		return [terminalOutput(call, call.terminalId, data)];
	}

	settle(toolCallId: string, result: ToolReturn, origin: Origin): readonly Update[] {
		const call = this.#find(toolCallId, origin);
		if (call === null) return [];
		this.#open.delete(keyOf(toolCallId, agentOf(origin)));
		const status = result.is_error ? "failed" : "completed";
		const rawOutput = typeof result.output === "string" && result.output !== "" ? { rawOutput: result.output } : {};
		const update = { sessionUpdate: "tool_call_update", toolCallId: call.id, status, ...rawOutput } as const;
		const { terminalId } = call;
		if (terminalId === null) {
			const content = resultContent(result, call.name === shellName, this.#workDir);
			return [{ ...update, ...(content.length === 0 ? {} : { content: [...content] }) }];
		}
		const text = typeof result.output === "string" ? result.output : "";
		const missing = call.hasOutput
			? ""
			: [text, result.is_error ? result.message : ""].filter((each) => each !== "").join("\n");
		return [
			...(missing === "" ? [] : [terminalOutput(call, terminalId, missing)]),
			{ ...update, _meta: { terminal_exit: { terminal_id: terminalId, ...toExit(result) } } },
		];
	}

	lose(toolCallId: string, origin: Origin): readonly Update[] {
		const call = this.#find(toolCallId, origin);
		if (call === null) return [];
		this.#open.delete(keyOf(toolCallId, agentOf(origin)));
		return [failed(call, [textContent("The program ended while the call ran: its outcome is not known.")])];
	}

	/** The open calls in full, for a client that did not receive them. */
	current(): readonly Update[] {
		return [...this.#open.values()].map((call) => this.#whole(call));
	}

	endAll(): readonly Update[] {
		const calls = [...this.#open.values()];
		this.#open.clear();
		return calls.map((call) => failed(call));
	}

	#find(toolCallId: string, origin: Origin): Call | null {
		return this.find(toolCallId, agentOf(origin));
	}

	#create(call: ModelCall, json: string | null, origin: Origin, turnName: string): Update {
		const { name } = call.function;
		const agentId = agentOf(origin);
		const place = origin.turnId ?? (turnName === "" ? "background" : turnName);
		const key = keyOf(call.id, agentId);
		const id =
			this.#open.get(key)?.id ?? this.#name([place, ...(agentId === null ? [] : [agentId]), call.id].join("/"));
		const description = describeCall(name, json, this.#workDir);
		const terminalId = this.#showsTerminals && name === shellName ? id : null;
		const { agentPath } = origin;
		const created: Call = {
			id,
			name,
			agentPath,
			description,
			terminalId,
			hasOutput: false,
			isStarted: false,
			steps: [],
		};
		this.#open.set(key, created);
		return this.#whole(created);
	}

	/** A unique name in the conversation: repeated ids get a number. */
	#name(id: string): string {
		const uses = (this.#uses.get(id) ?? 0) + 1;
		this.#uses.set(id, uses);
		return uses === 1 ? id : `${id}#${uses}`;
	}

	#whole({ id, name, agentPath, description, terminalId, isStarted }: Call): Update {
		const { title, kind, locations, rawInput } = description;
		const notes = { ...this.#parentNote(agentPath), ...terminalNote(terminalId, this.#workDir) };
		return {
			sessionUpdate: "tool_call",
			toolCallId: id,
			title,
			name,
			kind,
			status: isStarted ? "in_progress" : "pending",
			...(terminalId === null ? {} : { content: [{ type: "terminal", terminalId }] }),
			...(locations.length === 0 ? {} : { locations: [...locations] }),
			...(rawInput === undefined ? {} : { rawInput }),
			...(Object.keys(notes).length === 0 ? {} : { _meta: notes }),
		};
	}

	#parent({ agentPath }: Pick<Origin, "agentPath">): Call | null {
		const last = agentPath.at(-1);
		if (last === undefined || last.parentToolCallId === null) return null;
		return this.find(last.parentToolCallId, agentPath.at(-2)?.agentId ?? null);
	}

	#parentNote(agentPath: Origin["agentPath"]): object {
		const last = agentPath.at(-1);
		if (last === undefined) return {};
		const parentToolCallId = this.#parent({ agentPath })?.id ?? last.parentToolCallId;
		return { agentwire: { parentToolCallId, agentId: last.agentId, agent: last.subagentType } };
	}

	#noteStep(call: ModelCall, json: string, origin: Origin): readonly Update[] {
		const parent = this.#parent(origin);
		if (parent === null) return [];
		const { title } = describeCall(call.function.name, json, this.#workDir);
		parent.steps.push(beginning(title.split("\n", 1)[0] ?? "", 200));
		if (parent.steps.length > maximumSteps) parent.steps.shift();
		return [
			{ sessionUpdate: "tool_call_update", toolCallId: parent.id, content: [codeContent(parent.steps.join("\n"))] },
		];
	}
}

const keyOf = (toolCallId: string, agentId: string | null) => JSON.stringify([agentId, toolCallId]);

const agentOf = ({ agentPath }: Origin) => agentPath.at(-1)?.agentId ?? null;

function failed({ id, terminalId }: Call, content: readonly ToolContent[] = []): Update {
	return {
		sessionUpdate: "tool_call_update",
		toolCallId: id,
		status: "failed",
		...(content.length === 0 ? {} : { content: [...content] }),
		...(terminalId === null
			? {}
			: { _meta: { terminal_exit: { terminal_id: terminalId, exit_code: null, signal: null } } }),
	};
}

function terminalNote(terminalId: string | null, cwd: string): object {
	return terminalId === null ? {} : { terminal_info: { terminal_id: terminalId, cwd } };
}

function terminalOutput({ id }: Call, terminalId: string, data: string): Update {
	return {
		sessionUpdate: "tool_call_update",
		toolCallId: id,
		_meta: { terminal_output: { terminal_id: terminalId, data } },
	};
}

function toExit({ is_error, message }: ToolReturn): {
	readonly exit_code: number | null;
	readonly signal: string | null;
} {
	if (!is_error) return { exit_code: 0, signal: null };
	const [, code] = /\bexit code: (\d+)/.exec(message) ?? [];
	const [, signal] = /\bsignal (SIG[A-Z0-9]+)/.exec(message) ?? [];
	return { exit_code: code === undefined ? null : Number(code), signal: signal ?? null };
}
