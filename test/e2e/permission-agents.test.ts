// Commands that no person sees being called, in every mode: those of a subagent, and those in the background. What is approved for
// the session in a subagent holds for the session, and for nothing more than it showed.
import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse } from "../support/executable/running-server.ts";

type Decision = "allow" | "ask" | "deny";
type Fate = "runs" | "is asked about" | "is denied";

const modes = { default: [], auto: ["--afk"], yolo: ["--yolo"] } as const;
type Mode = keyof typeof modes;

const report = `text: ${"All of it is as it should be, and nothing was changed. ".repeat(5)}`;
const agent = toolCall("P", "Agent", { description: "a task", prompt: "Do it" });
const shell = (id: string, command: string, more: object = {}) => toolCall(id, "Shell", { command, ...more });

const kinds: Readonly<Record<string, readonly string[]>> = {
	"a command of a subagent": [agent, shell("c", "touch made"), report, "text: over"],
	"a command in the background": [
		shell("c", "touch made", { run_in_background: true, description: "makes it" }),
		"text: over",
	],
};

const fates: Readonly<Record<Decision | "none", Readonly<Record<Mode, Fate>>>> = {
	none: { default: "is asked about", auto: "runs", yolo: "runs" },
	allow: { default: "runs", auto: "runs", yolo: "runs" },
	ask: { default: "is asked about", auto: "is denied", yolo: "runs" },
	deny: { default: "is denied", auto: "is denied", yolo: "is denied" },
};

/** Plays a turn and answers what is asked; the ids of the calls that were asked about. */
async function play(
	stage: Stage,
	flags: readonly string[],
	answer: "approve_for_session" | "reject",
): Promise<string[]> {
	const server = stage.serve("--wire", ...flags);
	server.prompt("go", "p");
	const asked: string[] = [];
	await server.readUntil((line) => {
		if (typeof line.id === "string" && line.params?.type === "ApprovalRequest") {
			const { payload } = line.params as unknown as { payload: { tool_call_id: string } };
			asked.push(payload.tool_call_id);
			server.answer(line.id, { request_id: line.id, response: answer });
		}
		return isResponse(line, "p");
	});
	server.endInput();
	await server.exited;
	return asked;
}

/** The calls that began, of the session and of its subagents. */
function started(stage: Stage): string[] {
	const [id = ""] = stage.sessionIds();
	return readFileSync(path.join(stage.sessionDir(id), "journal.jsonl"), "utf8")
		.split("\n")
		.filter((line) => line.includes('"event"'))
		.map((line): { type: string; toolCallId: string } => JSON.parse(line).event)
		.flatMap(({ type, toolCallId }) => (type === "tool.started" ? [toolCallId] : []));
}

describe.each(Object.entries(kinds))("%s", (_name, scripts) => {
	it.each(Object.entries(modes))("has the fate that rules and mode say in the mode %s", async (mode, flags) => {
		for (const decision of ["none", "allow", "ask", "deny"] as const) {
			const stage = createStage({ scripts });
			const rule = `\n[[permission.rules]]\ndecision = "${decision}"\npattern = "Shell(touch:*)"\n`;
			if (decision !== "none") appendFileSync(path.join(stage.shareDir, "config.toml"), rule);
			const asked = await play(stage, flags, "reject");
			const fate = asked.includes("c") ? "is asked about" : started(stage).includes("c") ? "runs" : "is denied";
			expect([decision, fate]).toEqual([decision, fates[decision][mode as Mode]]);
			if (fate !== "runs") expect(started(stage)).not.toContain("c");
		}
	});
});

describe("an approval for the session", () => {
	it("that a subagent asked for covers the same command of the session's agent, and no other", async () => {
		const scripts = [
			agent,
			shell("inner", "touch made"),
			report,
			shell("same", "touch made"),
			shell("other", "mkdir other"),
			shell("background", "touch made", { run_in_background: true, description: "makes it" }),
			"text: over",
		];
		const stage = createStage({ scripts });
		expect(await play(stage, [], "approve_for_session")).toEqual(["inner", "other"]);
		expect(started(stage)).toEqual(expect.arrayContaining(["inner", "same", "other", "background"]));
	});
});
