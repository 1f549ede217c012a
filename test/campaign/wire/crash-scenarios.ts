// What clients of Kimi Wire and legacy, and models, do in the crash and kill campaigns: one script per life of a session.

/** How a client answers an approval. */
export interface Decision {
	readonly response: "approve" | "approve_for_session" | "reject";
	readonly feedback?: string;
}

/** One session's conversation in one life of the server. */
export interface LifeScript {
	readonly dialect: "kimi" | "legacy";
	/** One answer of the scripted model for each of its requests. */
	readonly model: readonly string[];
	readonly prompts: readonly string[];
	readonly decision: Decision;
	readonly asksForReplay: boolean;
	/** Whether the client brings the tool `pick_color`. */
	readonly bringsTool: boolean;
	/** Whether there is an MCP server, with the tool `note`. */
	readonly hasServer: boolean;
	/** Whether the client can put questions to a person and serve plan mode. */
	readonly isAble: boolean;
	/** Plan mode is switched so before the first prompt; null leaves it. */
	readonly planMode: boolean | null;
	/** Sent with the first approval request that comes. */
	readonly steer: string | null;
	/** Cancels after this many lines of the first turn. */
	readonly cancelAfter: number | null;
}

export interface Scenario {
	readonly name: string;
	/** A life that ended well before the one that is stopped. */
	readonly earlier: LifeScript | null;
	/** The life that is stopped: one script for each session it serves. */
	readonly scripts: readonly LifeScript[];
	/** How often plan mode is switched in all, off being how it begins. */
	readonly planSwitches: number;
	/** What the lives after a stop go on with: commands, the subagent, or the tool of the MCP server. */
	readonly goesOnWith: "commands" | "subagent" | "server";
	/**
	 * Whether a stopped life unwinds instead of hanging: tools that write files wait for each other in a queue of the
	 * whole process, which a life that hangs in it would never leave.
	 */
	readonly unwinds: boolean;
}

/** Marks in a model's answer, replaced by what the files say when its life begins: the plan's file, the first subagent. */
export const placeholders = { planFile: "<plan file>", agentId: "<agent>" } as const;

function call(id: string, name: string, argumentsValue: object): string {
	return `tool_call: ${JSON.stringify({ id, name, arguments: JSON.stringify(argumentsValue) })}`;
}

export function shell(id: string, command: string): string {
	return call(id, "Shell", { command });
}

/** A call of the MCP server's tool. It notes the text; `dies` makes it end at that, without an answer. */
function note(id: string, text: string, dies = false): string {
	return call(id, "note", { text, dies });
}

const usage = 'usage: {"input_other": 10, "output": 5}';
const said = `think: hm\ntext: Hello\ntext:  there\n${usage}`;

function script(model: readonly string[], change: Partial<LifeScript> = {}): LifeScript {
	return {
		dialect: "kimi",
		model,
		prompts: ["do it"],
		decision: { response: "approve" },
		asksForReplay: false,
		bringsTool: false,
		hasServer: false,
		isAble: false,
		planMode: null,
		steer: null,
		cancelAfter: null,
		...change,
	};
}

const plain = script([said]);
const approved = script([`text: I will.\n${shell("call-1", "echo one >> effects")}\n${usage}`, said]);
const approvedAgain = script([`text: I will.\n${shell("call-1", "echo later >> effects")}\n${usage}`, said]);
const twoAtOnce = script([
	`${shell("call-1", "echo one >> effects")}\n${shell("call-2", "echo two >> effects")}`,
	said,
]);
const external = script(
	[`tool_call: ${JSON.stringify({ id: "call-1", name: "pick_color", arguments: '{"of": "sky"}' })}`, said],
	{ bringsTool: true },
);
/** Messages of the approved turn, its two steps and their parts. */
const cancelPoints = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] as const;

const one = (
	name: string,
	life: LifeScript,
	earlier: LifeScript | null = null,
	change: Partial<Scenario> = {},
): Scenario => ({
	name,
	earlier,
	scripts: [life],
	planSwitches: 0,
	goesOnWith: "commands",
	unwinds: false,
	...change,
});

const summary = `think: hm\ntext: It was done.\n${usage}`;
const report = `text: ${"It is done, and this is how. ".repeat(8)}\n${usage}`;
const writesPlan = call("call-1", "WriteFile", { path: placeholders.planFile, content: "1. Do it.\n" });
const planned = script([writesPlan, call("call-2", "ExitPlanMode", {}), said], { isAble: true });
const entersPlan = script([call("call-1", "EnterPlanMode", {}), said], { isAble: true });
const agentCall = { description: "part", prompt: "Do your part." };
const delegates = script([
	`${call("call-1", "Agent", agentCall)}\n${usage}`,
	// Two calls, so that half a write may keep them without their results.
	`${shell("call-1", "echo inside >> effects")}\n${shell("call-2", "echo second >> effects")}`,
	report,
	said,
]);
const resumes = script([
	call("call-1", "Agent", { ...agentCall, resume: placeholders.agentId }),
	shell("call-2", "echo more >> effects"),
	report,
	said,
]);

const served = script([`text: I will.\n${note("call-1", "one")}\n${usage}`, said], { hasServer: true });
const servedForSession = script([note("call-1", "one"), note("call-2", "two"), said], {
	hasServer: true,
	decision: { response: "approve_for_session" },
});
const servedBadly = script([note("call-1", "one", true), note("call-2", "two"), said], { hasServer: true });
const servedAgain = script([note("call-1", "later"), said], { hasServer: true });

export const scenarios: readonly Scenario[] = [
	one("plain", plain),
	one("approve", approved),
	one(
		"approve for session",
		script([shell("call-1", "echo one >> effects"), shell("call-2", "echo two >> effects"), said], {
			decision: { response: "approve_for_session" },
		}),
	),
	one("reject with feedback", { ...approved, decision: { response: "reject", feedback: "not that way" } }),
	one("external tool", external),
	one("steer", script([shell("call-1", "echo one >> effects"), said, said], { steer: "and be quick" })),
	...cancelPoints.map((count) => one(`cancel after ${count}`, { ...approved, cancelAfter: count })),
	one("retry", script(["error: 503 busy", said])),
	one("big output", script([shell("call-1", "echo one >> effects; seq 1 200000"), said])),
	one("two calls at once", twoAtOnce),
	{
		name: "two sessions",
		earlier: null,
		planSwitches: 0,
		goesOnWith: "commands",
		unwinds: false,
		scripts: [approved, { ...plain, prompts: ["first", "second"], model: [said, said] }],
	},
	one("resume", approvedAgain, approved),
	one("legacy", { ...approved, dialect: "legacy" }),
	one("plan mode set", { ...approved, planMode: true }, null, { planSwitches: 1 }),
	one("plan mode entered", entersPlan, null, { planSwitches: 1 }),
	one("plan written and approved", planned, { ...plain, planMode: true }, { planSwitches: 2, unwinds: true }),
	one("compaction", { ...plain, prompts: ["one", "two", "/compact", "three"], model: [said, said, summary, said] }),
	one("context cleared", { ...plain, prompts: ["one", "/clear", "two"], model: [said, said] }),
	one(
		"compaction after a call",
		{ ...approved, prompts: ["do it", "/compact what was run"], model: [...approved.model, summary] },
		plain,
	),
	one("subagent", delegates, null, { goesOnWith: "subagent" }),
	one("subagent resumed", resumes, delegates, { goesOnWith: "subagent" }),
	one("tool of a server", served, null, { goesOnWith: "server" }),
	one("tool of a server, for session", servedForSession, null, { goesOnWith: "server" }),
	one("server lost in a call", servedBadly, null, { goesOnWith: "server" }),
	one("tool of a server, resumed", servedAgain, served, { goesOnWith: "server" }),
];

/** What session number `index` does in each life after a stop: the same ids come again, with other effects. */
export function recovery(life: number, index: number, goesOnWith: Scenario["goesOnWith"]): LifeScript {
	const command = shell("call-1", `echo again-${life}-${index} >> effects`);
	const end = `text: done ${life}\n${usage}`;
	const models: Record<Scenario["goesOnWith"], readonly string[]> = {
		commands: [command, end],
		// Without a subagent to go on with, the session's own agent does its work.
		subagent: [call("call-2", "Agent", { ...agentCall, resume: placeholders.agentId }), command, report, end],
		server: [note("call-1", `again-${life}`), end],
	};
	return script(models[goesOnWith], {
		prompts: [`go on ${life}`],
		asksForReplay: true,
		hasServer: goesOnWith === "server",
	});
}
