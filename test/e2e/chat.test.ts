// The chat of a terminal: in lines, and on a real terminal where there is one.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, type Stage } from "../support/executable/executable.ts";
import { hasTerminal, onTerminal } from "../support/executable/terminal.ts";

const call = JSON.stringify({ id: "c1", name: "Shell", arguments: JSON.stringify({ command: "touch made" }) });

function createChat() {
	const stage = createStage();
	const scripts = path.join(stage.shareDir, "scripts.json");
	writeFileSync(
		scripts,
		JSON.stringify([`text: Let me see.\ntool_call: ${call}\n`, "text: Done.\n", "text: Again.\n"]),
	);
	const config = JSON.stringify({
		default_model: "m",
		models: { m: { provider: "p", model: "m", max_context_size: 100_000 } },
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

/** Types each key once the text before it is on the screen; gives all that was printed. */
function type(stage: Stage, env: NodeJS.ProcessEnv, keys: readonly (readonly [shown: string, key: string])[]) {
	const child = spawn("/bin/sh", ["-c", onTerminal('"$agentwire" --config "$config"')], { cwd: stage.workDir, env });
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
			["rewound. 1 file restored.", "\u0003"],
			["again to quit", "\u0004"],
		]);
		expect(code).toBe(0);
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
