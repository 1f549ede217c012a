import type { AttachOptions } from "../../../src/api/session-options.ts";
import type { AgentEvent, EventBody } from "../../../src/api/values/event.ts";
import type { AgentType } from "../../../src/core/definitions/agent-types.ts";
import type { Model, ModelChunk } from "../../../src/core/models/model.ts";
import { createAgent } from "../../../src/core/tools/agent.ts";
import type { Tool } from "../../../src/core/tools/tool.ts";
import type { SessionOperations, SessionParts } from "../../../src/kernel/session/session-parts.ts";
import { call, createScriptedModel, done, type ModelScript, say } from "../models/scripted-model.ts";
import type { SessionDouble } from "../store/failing-session.ts";
import { noWeb } from "./session-doubles.ts";
import { type ClientDouble, createSessionSubject, type SessionSubject } from "./session-subject.ts";
import { createToolDouble, editNeed } from "./turn-subject.ts";

const type = (name: string, changes: Partial<AgentType> = {}): AgentType => ({
	name,
	whenToUse: `is a ${name}.`,
	toolPaths: ["double:E"],
	model: null,
	role: `You are the ${name}.`,
	startsWithGit: false,
	...changes,
});

export const subagentTypes: readonly AgentType[] = [
	type("coder"),
	type("explore", { startsWithGit: true, toolPaths: [] }),
	type("small", { model: "small" }),
];

/** Long enough not to be asked for again. */
export const longReport = `All is well. ${"Nothing else was found in the files. ".repeat(6)}End.`;

export interface SubagentSubject extends SessionSubject {
	/** What the session does for its own agent's tools. */
	operations(): SessionOperations;
	readonly client: ClientDouble;
	readonly events: AgentEvent[];
	/** Starts a turn and resolves with the results of its calls by id, once it has ended. */
	run(): Promise<Readonly<Record<string, Extract<EventBody, { type: "tool.result" }>["result"]>>>;
	/** The same, without waiting. */
	start(): Promise<void>;
}

export interface SubagentOptions {
	readonly models?: Readonly<Record<string, Model>>;
	readonly tool?: Tool;
	readonly parallel?: number;
	readonly attach?: Partial<AttachOptions>;
	readonly double?: SessionDouble;
	readonly parts?: Partial<SessionParts>;
	/** Called with what the session does for a subagent's tools. */
	readonly onTools?: (operations: SessionOperations) => void;
}

export async function createSubagentSubject(model: Model, options: SubagentOptions = {}): Promise<SubagentSubject> {
	const { models = {}, parallel = 4, parts = {} } = options;
	const tool = options.tool ?? createToolDouble("E", { approval: editNeed, hasEffect: true });
	let ids = 0;
	let operations: SessionOperations | null = null;
	const subject = await createSessionSubject(
		model,
		[],
		{
			identifiers: { uuid: () => `ask-${++ids}`, hex: (length) => (++ids).toString(16).padStart(length, "0") },
			createTools: async (given) => {
				operations = given;
				return given.agents === null ? [] : [createAgent(given.agents, { ...given, web: noWeb })];
			},
			subagents: {
				types: subagentTypes,
				createTools: async (toolPaths, own) => {
					options.onTools?.(own);
					return toolPaths.length === 0 ? [] : [tool];
				},
				findModel: async (alias) => models[alias] ?? null,
				describeRepository: async () => "<git-repository>clean</git-repository>",
				parallel,
			},
			...parts,
		},
		options.double,
	);
	const client = subject.attach(options.attach);
	const events: AgentEvent[] = [];
	client.onEvent = (event) => events.push(event);
	const start = async () => void (await subject.session.send({ type: "turn.start", input: "go" }));
	return {
		...subject,
		operations() {
			if (operations === null) throw new Error("no tools were made");
			return operations;
		},
		client,
		events,
		start,
		async run() {
			const from = events.length;
			const isOver = () => events.slice(from).some(({ body, agentPath }) => isEnd(body) && agentPath.length === 0);
			await start();
			while (!isOver()) await new Promise((resolve) => setImmediate(resolve));
			const results = events.slice(from).flatMap(({ body, agentPath }) => {
				return body.type === "tool.result" && agentPath.length === 0 ? [[body.toolCallId, body.result] as const] : [];
			});
			return Object.fromEntries(results);
		},
	};
}

const isEnd = ({ type: eventType }: EventBody) => eventType === "turn.ended";

/** A call of the Agent tool. */
export function agentCall(id: string, changes: Readonly<Record<string, unknown>> = {}): ModelChunk {
	return call(id, "Agent", JSON.stringify({ description: "a task", prompt: "do it", ...changes }));
}

/** A model whose session's own agent makes these calls at once and is done; `within` are the answers between. */
export function createCallingModel(calls: readonly ModelChunk[], ...within: readonly ModelScript[]) {
	return createScriptedModel([[...calls, done()], ...within, [say("over"), done()]]);
}

/** A model that reports at once. */
export function createReportingModel(report = longReport) {
	return createScriptedModel([[say(report), done()]]);
}
