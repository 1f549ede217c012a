// The search program that is installed with the executable is found at every start, also by code from the code cache.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";

const search = 'tool_call: {"id":"c","name":"Grep","arguments":"{\\"pattern\\":\\"zebra\\"}"}';

it("Grep works at the first start and, with compiled code from the cache, at later ones", async () => {
	const stage = createStage({ scripts: [search, "text: done"], isFirstStart: true });
	writeFileSync(path.join(stage.workDir, "animals.txt"), "zebra\n");
	for (const start of ["first", "second"]) {
		const server = stage.serve("--wire");
		server.prompt("go", start);
		const lines = await server.readUntil((line) => line.id === start);
		expect(JSON.stringify(lines)).toContain('"output":"animals.txt"');
		server.endInput();
		expect(await server.exited).toBe(0);
	}
});
