import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { claimPlaceholder, isPlaceholder, releasePlaceholders } from "./placeholders.ts";

let work = "";

beforeEach(() => {
	work = mkdtempSync(path.join(tmpdir(), "agentwire-placeholders-"));
});

afterEach(() => {
	rmSync(work, { recursive: true, force: true });
});

/** Removes the directory whenever it is there, until its end. */
const remover = `
	const { rmdirSync } = require("node:fs");
	const { parentPort, workerData } = require("node:worker_threads");
	parentPort.postMessage("ready");
	for (;;) { try { rmdirSync(workerData); } catch {} }
`;

it("claims a directory that another process removes at any moment", async () => {
	const directory = path.join(work, ".idea");
	const other = new Worker(remover, { eval: true, workerData: directory });
	try {
		await new Promise((resolve) => other.once("message", resolve));
		for (let round = 0; round < 3000; round += 1) {
			expect(claimPlaceholder(directory, "directory")).toBe(true);
			isPlaceholder(directory);
		}
	} finally {
		await other.terminate();
	}
	releasePlaceholders(
		Array.from({ length: 3000 }, () => directory),
		true,
	);
	expect(readdirSync(work)).toEqual([]);
});
