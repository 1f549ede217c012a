// Plugins with more files than one may have: it takes that many files to find out.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Zippable, zipSync } from "fflate";
import { expect, it, onTestFinished } from "vitest";
import { noProcesses } from "../../../test/support/sessions/session-doubles.ts";
import { createFailingFiles } from "../../../test/support/store/failing-files.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { answerPlugin } from "./plugin.ts";
import { PluginError } from "./plugin-source.ts";

const manifest = JSON.stringify({ name: "demo", version: "1.0.0" });
const refusal = "The plugin has more than 20000 files and directories.";

async function createPlace() {
	const root = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-plugins-")));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const install = (source: string, files: Files) =>
		answerPlugin(
			{ name: "install", source },
			{
				files,
				processes: noProcesses,
				environment: {},
				place: { currentDir: root, home: root },
				shareDir: path.join(root, "share"),
				host: { name: "agentwire", version: "9.9.9" },
				values: async () => ({ api_key: "", base_url: "" }),
				signal: new AbortController().signal,
				now: Date.now,
			},
		);
	return { at: (...names: string[]) => path.join(root, ...names), install };
}

it("few directories that links multiply are refused", { timeout: 60_000 }, async () => {
	const { at, install } = await createPlace();
	for (let level = 0; level <= 40; level += 1) {
		mkdirSync(at(`source/d${level}`), { recursive: true });
		writeFileSync(at(`source/d${level}/file`), "");
		for (const name of level < 40 ? ["a", "b"] : []) symlinkSync(`../d${level + 1}`, at(`source/d${level}/${name}`));
	}
	writeFileSync(at("source/plugin.json"), manifest);
	await expect(install("source", createDiskFiles())).rejects.toThrow(new PluginError(refusal));
});

const empty = new Uint8Array();

it.each<[string, Zippable]>([
	["too many files", Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`${n}`, empty]))],
	[
		"few files in too many directories",
		Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`${n}${"/d".repeat(30)}`, empty])),
	],
])("an archive of %s is refused before any file is written", { timeout: 60_000 }, async (_name, content) => {
	const { at, install } = await createPlace();
	writeFileSync(at("demo.zip"), zipSync({ "plugin.json": new TextEncoder().encode(manifest), ...content }));
	const { files, effects } = createFailingFiles(createDiskFiles());
	await expect(install("demo.zip", files)).rejects.toThrow(new PluginError(refusal));
	expect(effects.filter(({ kind }) => kind === "replace")).toEqual([]);
	expect(await readdir(at("share", "plugins"))).toEqual([]);
});
