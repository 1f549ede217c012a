// What a session costs when many plugins are installed: work is counted, not time.
import { beforeEach, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createHostServices } from "../../../test/support/host/host-services.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/store/memory-files.ts";
import { silentLog } from "../../base/log.ts";
import type { Admit, Files } from "../../ports/files/port.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { plainSessionOptions } from "../compose/session-options.ts";
import { Kernel } from "./kernel.ts";

let disk: MemoryFiles;
let reads: Map<string, number>;
beforeEach(() => {
	disk = createMemoryFiles();
	reads = new Map();
});

/** The same files, whose reads are counted by path, those of an admitting port as well. */
function counting(files: Files): Files {
	const count = (path: string) => void reads.set(path, (reads.get(path) ?? 0) + 1);
	return {
		...files,
		admitting: (admit: Admit) => counting(files.admitting(admit)),
		read(path) {
			count(path);
			return files.read(path);
		},
		readRange(path, offset, length) {
			count(path);
			return files.readRange(path, offset, length);
		},
	};
}

async function createSession(plugins: number): Promise<void> {
	await disk.makeDirectory("/work");
	for (let n = 0; n < plugins; n += 1) {
		const directory = `/share/plugins/p${n}`;
		await disk.makeDirectory(directory);
		const tool = { name: `t${n}`, command: ["true"] };
		await disk.replace(`${directory}/plugin.json`, JSON.stringify({ name: `p${n}`, version: "1", tools: [tool] }));
		await disk.replace(`${directory}/SKILL.md`, `---\nname: p${n}\ndescription: d\n---\ntext\n`);
	}
	const { configuration } = await readConfiguration({ kind: "text", text: "{}" }, disk, silentLog);
	const files = counting(disk);
	const hostServices = createHostServices({ files, clock: createFakeClock() });
	const kernel = new Kernel({ store: createMemoryStore(), configuration, hostServices });
	await kernel.create("/work", plainSessionOptions);
	await kernel.close();
}

it("reads no manifest more often the more plugins there are", async () => {
	await createSession(2);
	const ofFew = Math.max(...reads.values());
	reads.clear();
	await createSession(60);
	expect([...reads.keys()].filter((path) => path.endsWith("/plugin.json"))).toHaveLength(60);
	expect(Math.max(...reads.values())).toBeLessThanOrEqual(ofFew);
});
