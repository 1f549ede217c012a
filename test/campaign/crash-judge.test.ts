// What the crash campaign judges by: it must notice whatever files may do wrong.
import { expect, it } from "vitest";
import { countEffects, playCrash } from "../../scripts/campaign/frame/crash.ts";
import { wireCrash } from "../../scripts/campaign/wire/crash.ts";
import { scenarios } from "../../scripts/campaign/wire/crash-scenarios.ts";
import type { Files } from "../../src/files/port.ts";
import { withoutSync } from "../../src/files/unsynced-files.ts";

const losingIntents = (files: Files): Files => ({
	...files,
	openAppend: async (target) => {
		const file = await files.openAppend(target);
		return { ...file, append: async (text) => (text.includes('"tool.started"') ? undefined : file.append(text)) };
	},
});

/** Files that break a promise of theirs: the campaign must notice. */
const faultyPorts: readonly (readonly [string, string, (files: Files) => Files])[] = [
	["sync nothing", "plain", withoutSync],
	["do not sync directories", "plain", (files) => ({ ...files, syncDirectory: async () => {} })],
	[
		"lose what is appended to the journal",
		"plain",
		(files) => ({
			...files,
			openAppend: async (target) => {
				const file = await files.openAppend(target);
				return target.endsWith("journal.jsonl") ? { ...file, append: async () => {} } : file;
			},
		}),
	],
	["lose the intents of calls", "approve", losingIntents],
	["lose the intents of the calls of a server's tool", "tool of a server", losingIntents],
	[
		"do not sync the journal",
		"approve",
		(files) => ({
			...files,
			openAppend: async (target) => {
				const file = await files.openAppend(target);
				return target.endsWith("journal.jsonl") ? { ...file, sync: async () => {} } : file;
			},
		}),
	],
	[
		"lose what is appended to a subagent's event log",
		"subagent",
		(files) => ({
			...files,
			openAppend: async (target) => {
				const file = await files.openAppend(target);
				return /subagents.*wire/.test(target) ? { ...file, append: async () => {} } : file;
			},
		}),
	],
	[
		"keep half-written lines",
		"plain",
		(files) => ({ ...files, truncate: async () => {}, readRange: async () => Buffer.from("\n") }),
	],
];

it.each(faultyPorts)("the crash campaign finds what goes wrong with files that %s", async (_, scenarioName, port) => {
	const scenario = scenarios.find(({ name }) => name === scenarioName);
	if (scenario === undefined) throw new Error(`There is no scenario ${scenarioName}.`);
	const { effects } = await countEffects(wireCrash, scenario, port);
	const findings: string[] = [];
	for (let effect = 1; effect <= effects && findings.length === 0; effect += 1) {
		for (const loss of ["least", null] as const) {
			const stops = [{ effect, when: "half-way", loss } as const];
			findings.push(...(await playCrash(wireCrash, { scenario, stops }, port)).faults);
		}
	}
	expect(findings).not.toEqual([]);
});
