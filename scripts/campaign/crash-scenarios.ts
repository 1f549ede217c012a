// What clients and models do in the crash and kill campaigns: one script per life of a session. Runs nothing.

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
	/** Whether the client brings the tool `pick_colour`. */
	readonly bringsTool: boolean;
	/** Sent with the first approval request that comes. */
	readonly steer: string | null;
	/** Cancels behind this many lines of the first turn. */
	readonly cancelBehind: number | null;
}

export interface Scenario {
	readonly name: string;
	/** A life that ended well before the one that is stopped. */
	readonly earlier: LifeScript | null;
	/** The life that is stopped: one script for each session it serves. */
	readonly scripts: readonly LifeScript[];
}

export function shell(id: string, command: string): string {
	return `tool_call: ${JSON.stringify({ id, name: "Shell", arguments: JSON.stringify({ command }) })}`;
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
		steer: null,
		cancelBehind: null,
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
	[`tool_call: ${JSON.stringify({ id: "call-1", name: "pick_colour", arguments: '{"of": "sky"}' })}`, said],
	{ bringsTool: true },
);
/** Messages of the approved turn, its two steps and their parts. */
const cancelPoints = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] as const;

const one = (name: string, life: LifeScript, earlier: LifeScript | null = null): Scenario => ({
	name,
	earlier,
	scripts: [life],
});

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
	...cancelPoints.map((count) => one(`cancel behind ${count}`, { ...approved, cancelBehind: count })),
	one("retry", script(["error: 503 busy", said])),
	one("big output", script([shell("call-1", "echo one >> effects; seq 1 200000"), said])),
	one("two calls at once", twoAtOnce),
	{
		name: "two sessions",
		earlier: null,
		scripts: [approved, { ...plain, prompts: ["first", "second"], model: [said, said] }],
	},
	one("resume", approvedAgain, approved),
	one("legacy", { ...approved, dialect: "legacy" }),
];

/** What is done in each life after a stop: the same ids come again, with other effects. `life` counts from 2. */
export function recovery(life: number): LifeScript {
	return script([shell("call-1", `echo again-${life} >> effects`), `text: done ${life}\n${usage}`], {
		prompts: [`go on ${life}`],
		asksForReplay: true,
	});
}
