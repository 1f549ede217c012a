// Sessions run again by the built executable, from the store and from an exported file.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";

const key = `sk-${"a1b2c3d4".repeat(4)}`;

it("replays a session and its export, shows a difference, and says what cannot be replayed", async () => {
	const call = JSON.stringify({ id: "c1", name: "Shell", arguments: JSON.stringify({ command: `echo ${key} >>ran` }) });
	const stage = createStage({ scripts: [`text: I will.\ntool_call: ${call}`, "text: Done."] });
	const server = stage.serve("--wire", "--yolo", "--session", "s");
	server.prompt("Do it", "first");
	await server.response("first");
	server.endInput();
	await server.exited;
	const ran = path.join(stage.workDir, "ran");
	const before = statSync(ran).mtimeMs;

	const same = await stage.run("replay", "s");
	expect(same).toMatchObject({ code: 0, stderr: "" });
	expect(same.stdout).toMatch(/^The session s replays the same: \d+ events\.\n/);

	const exported = await stage.run("export", "s", "--replayable");
	expect(exported.code).toBe(0);
	expect(exported.stderr).toMatch(/texts that looked like a key or token were replaced/);
	const file = path.join(stage.workDir, "session-s.jsonl");
	const text = readFileSync(file, "utf8");
	expect(text).not.toContain(key);
	expect(await stage.run("replay", file)).toMatchObject({ code: 0 });
	// An earlier export is replaced, and nothing else.
	expect(await stage.run("export", "s", "--replayable")).toMatchObject({ code: 0 });
	expect(await stage.run("export", "s", "--replayable", "--output", ran)).toMatchObject({ code: 1 });
	expect(statSync(ran).mtimeMs).toBe(before);

	writeFileSync(
		file,
		text
			.replace('"status":"finished"', '"status":"cancelled"')
			.replace('"type":"step.started","n":2', '"type":"step.started","n":3'),
	);
	const differs = await stage.run("replay", file);
	expect(differs.code).toBe(1);
	expect(differs.stdout).toMatch(/^The session s differs at event \d+, in n:\n- recorded: 3\n\+ replayed: 2\n$/);

	writeFileSync(file, text.split("\n").toSpliced(3, 1).join("\n"));
	const damaged = await stage.run("replay", file);
	expect(damaged).toMatchObject({ code: 2, stdout: "" });
	expect(damaged.stderr).toBe("The session s cannot be replayed. The log is damaged: event 3 cannot be read.\n");
	expect(await stage.run("replay", ran)).toMatchObject({ code: 2, stdout: "" });
	expect(await stage.run("replay", "nothing")).toMatchObject({ code: 2, stdout: "" });
	expect(readFileSync(ran, "utf8")).toBe(`${key}\n`);
});
