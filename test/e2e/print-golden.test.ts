// Whole outputs of print mode, of both families of command lines, compared byte by byte but for the session's id. A file
// of test/fixtures/print has the command line, the exit code and both outputs; `AGENTWIRE_UPDATE=1` writes it.
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage, executablePath, runExecutable, toolCall } from "../support/executable/executable.ts";

const answers = [
	`think: hm\ntext: Looking.\n${toolCall("c1", "Shell", { command: "echo found" })}`,
	"text: It says found.",
];

const rows: readonly (readonly [file: string, name: string, argv: readonly string[], scripts: readonly string[]])[] = [
	["kimi-text", "kimi", ["--print", "-p", "go"], answers],
	["kimi-stream-json", "kimi", ["--print", "-p", "go", "--output-format", "stream-json"], answers],
	["kimi-repr", "agentwire", ["--print", "-p", "go", "--print-format", "repr"], answers],
	["kimi-code-text", "kimi-code", ["-p", "go"], answers],
	["kimi-code-stream-json", "kimi-code", ["-p", "go", "--output-format", "stream-json"], answers],
	["kimi-code-failed", "kimi-code", ["-p", "go", "--output-format", "stream-json"], ["error: 400"]],
];

it.each(rows)("prints as before: %s", async (file, name, argv, scripts) => {
	const stage = createStage({ scripts });
	const executable = path.join(stage.workDir, "..", name);
	symlinkSync(executablePath, executable);
	const { code, stdout, stderr } = await runExecutable(executable, argv, {
		cwd: stage.workDir,
		env: stage.environment,
	});
	const text = [`$ ${name} ${argv.join(" ")}`, `exit code ${code}`, "stdout:", stdout, "stderr:", stderr].join("\n");
	const seen = text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID");
	const golden = new URL(`../fixtures/print/${file}.txt`, import.meta.url);
	if (process.env["AGENTWIRE_UPDATE"] === "1") writeFileSync(golden, seen);
	expect(seen).toBe(readFileSync(golden, "utf8"));
});
