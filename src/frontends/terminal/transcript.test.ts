import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import type { TurnEvent } from "../../client/client.ts";
import { callTitle, displayLines, duration } from "./describe.ts";
import { createTheme } from "./theme.ts";
import { Transcript } from "./transcript.ts";

const origin = { agent: null, cursor: null } as const;
const shell = (command: string) => ({ id: "c", name: "Shell", arguments: JSON.stringify({ command }) });
const shown = (transcript: Transcript, width = 40) => transcript.render(width).map((line) => line.trimEnd());

it("shows prompts, answers as markdown, and calls as cards with the end of their output", () => {
	const transcript = new Transcript(createTheme(false));
	const events: TurnEvent[] = [
		{ ...origin, type: "text", text: "Let me **look**" },
		{ ...origin, type: "text", text: " at it." },
		{ ...origin, type: "call.started", call: shell("npm test") },
		{ ...origin, type: "call.output", callId: "c", text: "1\n2\n3\n4\n5\n6\n" },
		{ ...origin, type: "call.ended", callId: "c", isError: false, output: "all" },
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
	const transcript = new Transcript(createTheme(false));
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
	expect(displayLines([diff]).map(({ sign, text }) => sign + text)).toEqual(["@a.ts", " 1", "-2", "+x", " 3"]);
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
