// The chat of a terminal: in lines, and on a real terminal where there is one.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";
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
	return { stage, run: (script: string) => runExecutable("/bin/sh", ["-c", script], { cwd: stage.workDir, env }) };
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

describe.runIf(hasTerminal)("on a terminal", () => {
	it("draws the chat, and leaves with Ctrl+D", async () => {
		const { run } = createChat();
		const { code, stdout } = await run(
			`(sleep 2; printf '\\004') | timeout 20 ${onTerminal('"$agentwire" --config "$config"')}`,
		);
		expect(code).toBe(0);
		expect(stdout).toContain("agentwire");
		expect(stdout).toContain("default mode");
	});
});
