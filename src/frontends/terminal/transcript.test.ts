import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import type { TurnEvent } from "../../client/client.ts";
import { Code } from "./code.ts";
import { callTitle, displayLines, duration } from "./describe.ts";
import { Status } from "./status.ts";
import { createTheme } from "./theme.ts";
import { Transcript } from "./transcript.ts";

const origin = { agent: null, cursor: null } as const;
const shell = (command: string) => ({ id: "c", name: "Shell", arguments: JSON.stringify({ command }) });
const plain = createTheme(false);
const shown = (transcript: Transcript, width = 40) => transcript.render(width).map((line) => line.trimEnd());

it("shows prompts, answers as markdown, and calls as cards with the end of their output", () => {
	const transcript = new Transcript(plain, new Code(plain, () => {}));
	const events: TurnEvent[] = [
		{ ...origin, type: "text", text: "Let me **look**" },
		{ ...origin, type: "text", text: " at it." },
		{ ...origin, type: "call.started", call: shell("npm test") },
		{ ...origin, type: "call.output", callId: "c", text: "1\n2\n3\n4\n5\n6\n" },
		{ ...origin, type: "call.ended", callId: "c", isError: false, output: "all", display: [] },
		{ ...origin, type: "text", text: "Done." },
	];
	transcript.person("Fix it");
	for (const event of events) transcript.take(event);
	expect(shown(transcript)).toEqual([
		" › Fix it",
		"",
		" Let me look at it.",
		"",
		" ✓ Run npm test",
		"   … 2 more lines",
		"   3",
		"   4",
		"   5",
		"   6",
		"",
		" Done.",
		"",
	]);
	for (const line of transcript.render(20)) expect(line.length).toBeLessThanOrEqual(20);
});

it("lets nothing that a model or a command prints act on the terminal", () => {
	const transcript = new Transcript(plain, new Code(plain, () => {}));
	transcript.take({ ...origin, type: "text", text: "a\x1b[2Jb\u202Ec" });
	transcript.take({ ...origin, type: "call.started", call: shell("echo \x1b]0;title\x07") });
	transcript.take({ ...origin, type: "call.output", callId: "c", text: "\x1b[1mloud\x07" });
	// Styles of the markdown end lines; nothing else may be left that is not printed.
	const text = transcript.render(80).map((line) => stripVTControlCharacters(line));
	expect(text.join("")).toMatch(/^[ -~\p{L}\p{S}\p{P}]*$/u);
	expect(text.join("\n")).toContain("loud");
});

it("shows a diff with its path, and equal lines once", () => {
	const diff = {
		type: "diff",
		path: "a.ts",
		old_text: "1\n2\n3",
		new_text: "1\nx\n3",
		old_start: 1,
		new_start: 1,
		is_summary: false,
	} as const;
	expect(displayLines([diff]).map(({ sign, text }) => sign + text)).toEqual(["@a.ts:1", " 1", "-2", "+x", " 3"]);
});

it.each([
	[{ id: "c", name: "StrReplaceFile", arguments: '{"path":"src/a.ts"}' }, "Edit src/a.ts"],
	[{ id: "c", name: "Shell", arguments: '{"command":"a\\nb"}' }, "Run a …"],
	[{ id: "c", name: "weather", arguments: '{"city":"Bern"}' }, "weather Bern"],
	[{ id: "c", name: "Glob", arguments: "{" }, "Find files"],
])("titles %j", (call, title) => {
	expect(callTitle(call)).toBe(title);
});

it("spells durations", () => {
	expect([0, 59_900, 125_000].map(duration)).toEqual(["0 s", "59 s", "2 min 5 s"]);
});

it("colors code once the words of it can be found, and changed lines around them", async () => {
	const theme = createTheme(true);
	let isLoaded = false;
	const loaded = new Code(theme, () => {
		isLoaded = true;
	});
	expect(loaded.lines("const a = 1;", "ts")).toEqual(["const a = 1;"]);
	await expect.poll(() => isLoaded, { timeout: 20_000 }).toBe(true);
	expect(loaded.lines("const a = 1;\n\u202E", "TS")).toEqual([
		"\x1b[35mconst\x1b[39m a = \x1b[33m1\x1b[39m;",
		"\\u{202e}",
	]);
	expect(loaded.lines("some words", "prose")).toEqual(["some words"]);
	const diff = {
		type: "diff",
		path: "a.ts",
		old_text: "a",
		new_text: "b // c",
		old_start: 7,
		new_start: 7,
		is_summary: false,
	};
	expect(loaded.display([diff])).toEqual([
		"\x1b[36m@ a.ts:7\x1b[39m",
		"\x1b[31m- \x1b[39m\x1b[31ma\x1b[39m",
		"\x1b[32m+ \x1b[39m\x1b[32mb \x1b[39m\x1b[2m// c\x1b[22m",
	]);
});

it("lists what is left to do, and sums up context and cost", () => {
	const status = new Status();
	const list = (...states: ("pending" | "in_progress" | "done")[]) =>
		status.take({
			...origin,
			type: "call.ended",
			callId: "c",
			isError: false,
			output: "",
			display: [{ type: "todo", items: states.map((state, index) => ({ title: `Step ${index}\x07`, status: state })) }],
		});
	expect([status.words, status.todoLines(plain)]).toEqual(["", []]);
	list("done", "in_progress", "pending");
	expect(status.todoLines(plain)).toEqual([
		"To do (1 of 3 done)",
		"☑ Step 0\\u{7}",
		"▸ Step 1\\u{7}",
		"☐ Step 2\\u{7}",
	]);
	list("done", "done");
	expect(status.todoLines(plain)).toEqual([]);
	const tokens = { input: 1000, cacheRead: 10_000, cacheWrite: 0, output: 100 };
	status.take({ ...origin, type: "usage", context: 0.12, tokens });
	expect(status.words).toBe(" · 12 % of the context");
	status.price = { currency: "USD", input: 3, output: 15, cacheRead: 0.3, cacheCreation: 3.75 };
	status.take({ ...origin, type: "usage", context: null, tokens });
	expect(status.words).toBe(" · 12 % of the context · ≈ 0.007 USD");
});
