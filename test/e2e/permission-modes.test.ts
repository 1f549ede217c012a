// Every mode with every decision of a rule over every kind of call, over each dialect and in print mode.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse, type Server } from "../support/executable/running-server.ts";

type Decision = "allow" | "ask" | "deny";

/** A call of each kind, and the rule that speaks of it. */
const calls = {
	command: ["Shell", { command: "touch by-command" }, "Shell(touch:*)"],
	write: ["WriteFile", { path: "by-write", content: "x" }, "Write(by-write)"],
	edit: ["StrReplaceFile", { path: "edited", edit: { old: "a", new: "b" } }, "Edit(edited)"],
	read: ["ReadFile", { path: "edited" }, "Read(edited)"],
	page: ["FetchURL", { url: "http://127.0.0.1:9/" }, "WebFetch(domain:127.0.0.1)"],
} as const satisfies Readonly<Record<string, readonly [string, object, string]>>;

type Kind = keyof typeof calls;
const kinds = Object.keys(calls) as Kind[];

function createRuled(decision: Decision | null, more = ""): Stage {
	const stage = createStage({
		scripts: [
			kinds.map((kind) => toolCall(kind, calls[kind][0], calls[kind][1])).join("\n"),
			"text: done",
			"text: done",
		],
	});
	const rules = kinds.map((kind) => `[[permission.rules]]\ndecision = "${decision}"\npattern = "${calls[kind][2]}"\n`);
	appendFileSync(path.join(stage.shareDir, "config.toml"), `\n${more}\n${decision === null ? "" : rules.join("")}`);
	writeFileSync(path.join(stage.workDir, "edited"), "a\n");
	return stage;
}

/** What becomes of a call: it needs nothing, is decided, or somebody is asked. */
type Fate = "free" | "allow" | "deny" | "ask";

interface Recorded {
	readonly type: string;
	readonly toolCallId?: string;
	readonly decision?: string;
	readonly reason?: string;
	readonly interactionId?: string;
	readonly interaction?: { readonly id: string; readonly toolCallId: string; readonly reason?: string };
}

/** The fate of each call by the journal, in which what decides it comes before its effect. */
function fatesOf(stage: Stage): { readonly fates: Record<string, Fate>; readonly reasons: Record<string, string> } {
	const [session = ""] = stage.sessionIds();
	const events = readFileSync(path.join(stage.sessionDir(session), "journal.jsonl"), "utf8")
		.split("\n")
		.flatMap((line): Recorded[] => (line.includes('"event"') ? [JSON.parse(line).event] : []));
	const fates: Record<string, Fate> = {};
	const reasons: Record<string, string> = {};
	for (const kind of kinds) {
		const decided = events.find((event) => event.type === "permission.decided" && event.toolCallId === kind);
		const asked = events.find((event) => event.interaction?.toolCallId === kind);
		const started = events.findIndex((event) => event.type === "tool.started" && event.toolCallId === kind);
		const settledAt = events.findIndex(
			(event) => event === decided || (asked !== undefined && event.interactionId === asked.interaction?.id),
		);
		expect(decided === undefined || asked === undefined, `${kind} is decided once`).toBe(true);
		fates[kind] =
			asked !== undefined ? "ask" : decided === undefined ? "free" : decided.decision === "approve" ? "allow" : "deny";
		reasons[kind] = decided?.reason ?? asked?.interaction?.reason ?? "";
		if (started !== -1) expect(settledAt, `${kind} is decided before its effect`).toBeLessThan(started);
		if (fates[kind] === "deny") expect(started, `${kind} has no effect`).toBe(-1);
	}
	const isDone = (kind: Kind) => fates[kind] !== "deny";
	expect(existsSync(path.join(stage.workDir, "by-command"))).toBe(isDone("command"));
	expect(existsSync(path.join(stage.workDir, "by-write"))).toBe(isDone("write"));
	expect(readFileSync(path.join(stage.workDir, "edited"), "utf8")).toBe(isDone("edit") ? "b\n" : "a\n");
	return { fates, reasons };
}

/** Drives a turn to its end and approves whatever is asked. */
type Drive = (stage: Stage, flags: readonly string[], answers: boolean) => Promise<void>;

async function toEnd(server: Server, fits: (id: string) => boolean, answerTo: (id: string) => object): Promise<void> {
	await server.readUntil((line) => {
		if (line.method !== undefined && typeof line.id === "string") server.answer(line.id, answerTo(line.id));
		return typeof line.id === "string" && line.method === undefined && fits(line.id);
	});
	server.endInput();
	await server.exited;
}

const drives: Readonly<Record<"Kimi Wire" | "the legacy dialect" | "Meerkat RPC", Drive>> = {
	async "Kimi Wire"(stage, flags) {
		const server = stage.serve("--wire", ...flags);
		server.prompt("go", "p");
		await toEnd(
			server,
			(id) => id === "p",
			(id) => ({ request_id: id, response: "approve" }),
		);
	},
	async "the legacy dialect"(stage, flags) {
		const server = stage.serve("--wire", ...flags);
		server.request("p", "run", { input: "go" });
		await toEnd(
			server,
			(id) => id === "p",
			() => ({ response: "approve" }),
		);
	},
	async "Meerkat RPC"(stage, flags, answers) {
		const server = stage.serve("rpc", ...flags);
		server.request("i", "initialize", answers ? { requests: ["approval/request"] } : {});
		await server.readUntil((line) => isResponse(line, "i"));
		server.request("c", "session/create", { prompt: "go", enable_builtins: true, enable_shell: true });
		await toEnd(
			server,
			(id) => id === "c",
			() => ({ decision: "approve" }),
		);
	},
};

const everything = (fate: Fate): Readonly<Record<Kind, Fate>> => ({
	command: fate,
	write: fate,
	edit: fate,
	read: fate,
	page: fate,
});
const changes = (fate: Fate) => ({ ...everything(fate), read: "free", page: "free" }) as const;

/** By mode: what no rule speaks of, what a rule asks about. What a rule allows or denies is so in every mode. */
const modes = {
	default: [[], "ask", "ask"],
	auto: [["--afk"], "allow", "deny"],
	yolo: [["--yolo"], "allow", "allow"],
	"nobody to ask": [[], "allow", "deny"],
} as const satisfies Readonly<Record<string, readonly [readonly string[], Fate, Fate]>>;

const rows = (Object.keys(modes) as (keyof typeof modes)[]).flatMap((mode) => {
	const dialects =
		mode === "nobody to ask"
			? (["Meerkat RPC"] as const)
			: (["Kimi Wire", "the legacy dialect", "Meerkat RPC"] as const);
	return dialects.map((dialect) => [mode, dialect] as const);
});

describe("a call of each kind", () => {
	it.each(rows)("in the mode %s over %s has the fate that rules and mode say", async (mode, dialect) => {
		const [flags, open, asked] = modes[mode];
		const expected = {
			none: changes(open),
			allow: everything("allow"),
			ask: everything(asked),
			deny: everything("deny"),
		};
		for (const [decision, fates] of Object.entries(expected)) {
			const stage = createRuled(decision === "none" ? null : (decision as Decision));
			await drives[dialect](stage, flags, mode !== "nobody to ask");
			const found = fatesOf(stage);
			expect([decision, found.fates]).toEqual([decision, fates]);
			for (const kind of kinds) {
				if (decision === "none") continue;
				const file = path.join(stage.shareDir, "config.toml");
				expect(found.reasons[kind]).toContain(`The user rule \`${calls[kind][2]}\` (${file}, line `);
			}
		}
	});

	it.each<[string, string, readonly string[], Readonly<Record<Kind, Fate>>]>([
		["what no rule speaks of is approved", "", [], changes("allow")],
		["also where yolo is forbidden", '[permission]\nforbid_modes = ["yolo"]', ["--yolo"], changes("allow")],
		["but not where both modes are", '[permission]\nforbid_modes = ["yolo", "auto"]', ["--yolo"], changes("deny")],
	])("in print mode: %s", async (_name, settings, flags, fates) => {
		const stage = createRuled(null, settings);
		expect((await stage.run("--print", "-p", "go", ...flags)).code).toBe(0);
		expect(fatesOf(stage).fates).toEqual(fates);
	});

	it.each<[Decision, readonly string[], string, Fate]>([
		["allow", [], "", "allow"],
		["ask", [], "", "deny"],
		["deny", [], "", "deny"],
		["allow", ["--yolo"], "", "allow"],
		["ask", ["--yolo"], "", "allow"],
		["deny", ["--yolo"], "", "deny"],
		["allow", ["--yolo"], '[permission]\nforbid_modes = ["yolo", "auto"]', "allow"],
		["ask", ["--yolo"], '[permission]\nforbid_modes = ["yolo"]', "deny"],
	])("in print mode, with a rule that says %s, the flags %j and the settings %j: %s", async (...row) => {
		const [decision, flags, settings, fate] = row;
		const stage = createRuled(decision, settings);
		expect((await stage.run("--print", "-p", "go", ...flags)).code).toBe(0);
		expect(fatesOf(stage).fates).toEqual(everything(fate));
	});
});
