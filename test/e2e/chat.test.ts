// The chat of a terminal: in lines, and on a real terminal where there is one.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/client.ts";
import { createStage, executablePath, runExecutable, type Stage } from "../support/executable/executable.ts";
import { hasTerminal, onTerminal } from "../support/executable/terminal.ts";

const call = JSON.stringify({ id: "c1", name: "Shell", arguments: JSON.stringify({ command: "touch made" }) });

function createChat(answers = [`text: Let me see.\ntool_call: ${call}\n`, "text: Done.\n", "text: Again.\n"]) {
	const stage = createStage();
	const scripts = path.join(stage.shareDir, "scripts.json");
	writeFileSync(scripts, JSON.stringify(answers));
	const model = (name: string) => ({ provider: "p", model: name, max_context_size: 100_000 });
	const config = JSON.stringify({
		default_model: "m",
		models: { m: model("m"), small: model("tiny-1"), large: model("huge-9") },
		providers: {
			p: { type: "_scripted_echo", base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scripts } },
		},
	});
	const env = { ...stage.environment, agentwire: executablePath, config, TERM: "xterm-256color" };
	return { stage, env, run: (script: string) => runExecutable("/bin/sh", ["-c", script], { cwd: stage.workDir, env }) };
}

describe("chat --plain", () => {
	it("answers, asks before it acts, and names the session to continue", async () => {
		const { run } = createChat();
		const { code, stdout } = await run(
			`printf 'Make it\\ny\\n/quit\\n' | "$agentwire" chat --plain --config "$config"; ls made`,
		);
		expect(code).toBe(0);
		expect(stdout).toMatch(
			/^You: Let me see\.\nTool: Run touch made\n\nAllow Shell\?\n {2}\$ touch made\n[\s\S]*: Done\.\nYou: \nTo continue: agentwire chat --session [\w-]+\nmade\n$/,
		);
	});

	it("refuses with the reason that was typed, and ends with its input", async () => {
		const { run } = createChat();
		const { code, stdout } = await run(
			`printf 'Make it\\nnot now\\n' | "$agentwire" chat --plain --config "$config"; test ! -e made`,
		);
		expect(code).toBe(0);
		expect(stdout).toContain("Done.\n");
	});
});

/** Stored sessions of a work directory, the oldest first, each begun with one of these prompts. Gives their ids. */
async function storeSessions(
	{ stage, env }: ReturnType<typeof createChat>,
	prompts: readonly string[],
	{ workDir = stage.workDir, archived = [] }: { readonly workDir?: string; readonly archived?: readonly string[] } = {},
) {
	const kernel = await connect({ command: executablePath, args: ["--config", env.config], env });
	const ids = new Map<string, string>();
	for (const prompt of prompts) {
		const session = await kernel.open({ workDir });
		await session.prompt(prompt);
		ids.set(prompt, session.id);
		if (archived.includes(prompt)) await kernel.archive(session.id);
	}
	// All are closed at once, which must not change their order.
	await kernel.close();
	return (prompt: string) => ids.get(prompt) ?? "";
}

/** Types each key once the text before it is on the screen; gives all that was printed. */
function type(stage: Stage, env: NodeJS.ProcessEnv, keys: readonly (readonly [shown: string, key: string])[]) {
	const command = onTerminal('"$agentwire" --config "$config"');
	// What is on the screen then says what was waited for.
	const child = spawn("/bin/sh", ["-c", command], { cwd: stage.workDir, env, timeout: 45_000 });
	let printed = "";
	let screen = "";
	const waiting = [...keys];
	let seen = 0;
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		printed += text;
		screen = stripVTControlCharacters(printed);
		for (;;) {
			const [shown, key] = waiting[0] ?? ["", ""];
			const at = shown === "" ? -1 : screen.indexOf(shown, seen);
			if (at === -1) return;
			waiting.shift();
			seen = at + shown.length;
			child.stdin.write(key);
		}
	});
	return new Promise<{ readonly code: number | null; readonly screen: string; readonly printed: string }>((resolve) => {
		child.on("close", (code) => resolve({ code, screen, printed }));
	});
}

describe.runIf(hasTerminal)("on a terminal", () => {
	it("approves an edit, and goes back to before it", async () => {
		const { stage, env } = createChat();
		const made = path.join(stage.workDir, "made");
		const { code, screen } = await type(stage, env, [
			["default mode", "Make it\r"],
			["Run this command?", "1"],
			["Allowed once.", "/queue /rewind\r"],
			["Go back to before which message?", "1"],
			["Conversation and files", "4"],
			["would be undone", "1"],
			// The prompt is in the composer again: Ctrl+U, Ctrl+D.
			["rewound. 1 file restored.", "\u0015\u0004"],
		]);
		expect(code, screen).toBe(0);
		expect(screen).toContain("delete made");
		expect(existsSync(made)).toBe(false);
	}, 60_000);

	it("has no colors with NO_COLOR, and leaves with Ctrl+D", async () => {
		const { stage, env } = createChat();
		const bare = await type(stage, { ...env, NO_COLOR: "1" }, [["default mode", "\u0004"]]);
		expect(bare.code).toBe(0);
		expect(bare.printed).not.toContain("\u001b[2m");
		const colored = await type(stage, env, [["default mode", "\u0004"]]);
		expect(colored.printed).toContain("\u001b[2m");
	}, 60_000);
});

const [escapeKey, down, controlD] = ["\u001b", "\u001b[B", "\u0004"];
/** What is drawn anew when the composer comes back. */
const composer = "────";

describe.runIf(hasTerminal)("/model on a terminal", () => {
	it("lists the models with the one in use, and takes one by its number, by the arrows or by its name", async () => {
		const { stage, env } = createChat(["text: Hello.\n"]);
		const { code, screen } = await type(stage, env, [
			["m · default mode", "/model\r"],
			["3. large", "2"],
			["tiny-1 · default mode", "/model\r"],
			["3. large", down],
			["→ 3. large", "\r"],
			["huge-9 · default mode", "/model m\r"],
			["m · default mode", "Hi\r"],
			["Hello.", controlD],
		]);
		expect(code, screen).toBe(0);
		expect(screen).toContain("Which model?");
		expect(screen).toMatch(/→ 1\. m +p · chosen now/);
		expect(screen).toMatch(/ {2}2\. small +tiny-1 · p/);
		expect(screen).toMatch(/→ 2\. small +tiny-1 · p · chosen now/);
	}, 60_000);

	it("changes nothing with Esc, and names the models for one that there is not", async () => {
		const { stage, env } = createChat();
		const { code, screen } = await type(stage, env, [
			["m · default mode", "/model\r"],
			["3. large", escapeKey],
			[composer, "/model huge\r"],
			["m, small, large", controlD],
		]);
		expect(code, screen).toBe(0);
		expect(screen).toContain('There is no model "huge"');
		expect(screen).not.toContain("huge-9 · default mode");
	}, 60_000);
});

describe.runIf(hasTerminal)("/resume on a terminal", () => {
	it("lists the other sessions of the directory, shows the chosen one and continues it", async () => {
		const chat = createChat(["text: First answer.\n"]);
		const { stage, env } = chat;
		const idOf = await storeSessions(chat, ["Older work", "Hidden work", "Newer work"], { archived: ["Hidden work"] });
		await storeSessions(chat, ["Work elsewhere"], { workDir: stage.shareDir });
		const { code, screen } = await type(stage, env, [
			["default mode", "/resume\r"],
			["2. Older work", "2"],
			["› Older work", "Go on\r"],
			["Go on", ""],
			["First answer.", "/queue /resume\r"],
			["1. Newer work", escapeKey],
			[composer, controlD],
		]);
		expect(code, screen).toBe(0);
		expect(screen).toContain("Continue which session?");
		expect(screen).toMatch(/→ 1\. Newer work {2}.*\s+2\. Older work/);
		expect(screen).toMatch(/› Older work\s+First answer\.\s/);
		expect(screen).not.toMatch(/Hidden work|Work elsewhere|2\. Newer work/);
		expect(screen).toContain(`To continue: agentwire chat --session ${idOf("Older work")}`);
	}, 60_000);

	it("says that there is no other session", async () => {
		const { stage, env } = createChat();
		const { code, screen } = await type(stage, env, [
			["default mode", "/resume\r"],
			["There is no other session in this directory.", controlD],
		]);
		expect(code, screen).toBe(0);
	}, 60_000);

	it("leaves the session only once the agent has stopped, as /new does", async () => {
		const sleep = JSON.stringify({ id: "c1", name: "Shell", arguments: JSON.stringify({ command: "sleep 60" }) });
		const chat = createChat([`tool_call: ${sleep}\n`]);
		const { stage, env } = chat;
		await storeSessions({ ...chat, env: { ...env, config: env.config.replace("_scripted_echo", "_echo") } }, ["Other"]);
		const { code, screen } = await type(stage, env, [
			["default mode", "Wait\r"],
			["Working", "/resume\r"],
			["Stop the agent first: Esc.", "/new\r"],
			["Stop the agent first: Esc.", escapeKey],
			["Stopped.", "/resume\r"],
			["1. Other", controlD],
		]);
		expect(code, screen).toBe(0);
		expect(screen).not.toContain("A new session.");
	}, 60_000);

	it("is not continued with -C once it is archived", async () => {
		const chat = createChat(["text: First answer.\n"]);
		const idOf = await storeSessions(chat, ["Older work", "Hidden work"], { archived: ["Hidden work"] });
		const { stdout } = await chat.run(`printf 'Go on\\n/quit\\n' | "$agentwire" chat --plain -C --config "$config"`);
		expect(stdout).toContain(`--session ${idOf("Older work")}`);
	});
});
