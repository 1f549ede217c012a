// What the crash campaign judges by: it must notice whatever files may do wrong.
import { expect, it } from "vitest";
import type { Files } from "../../src/ports/files/port.ts";
import { withoutSync } from "../../src/ports/files/unsynced-files.ts";
import { countEffects, MemoryWorld, playCrash, type Stop } from "./frame/crash.ts";
import { type Lived, playRound, type World } from "./frame/crash-round.ts";
import { toPart, wireCrash } from "./wire/crash.ts";
import { recovery, type Scenario, scenarios } from "./wire/crash-scenarios.ts";

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

function scenarioOf(name: string): Scenario {
	const found = scenarios.find((scenario) => scenario.name === name);
	if (found === undefined) throw new Error(`There is no scenario ${name}.`);
	return found;
}

it.each(faultyPorts)("the crash campaign finds what goes wrong with files that %s", async (_, scenarioName, port) => {
	const scenario = scenarioOf(scenarioName);
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

const stop: Stop = { effect: 1_000, when: "after", loss: null };

/** The world in memory, in which one life is reported otherwise than it was. */
function createWorld(scenario: Scenario, changed: number, change: (lived: Lived) => Lived): World<Stop> {
	const world = new MemoryWorld(wireCrash, scenario);
	return {
		live: async (parts, life) => {
			const lived = await world.live(parts, life, null);
			return life === changed ? change(lived) : lived;
		},
		readSession: (id) => world.readSession(id),
		damage: (damage, round) => world.damage(damage, round),
		marks: world.marks,
	};
}

it("a recovery that is killed while it replays has started no turn of its own", async () => {
	const scenario = scenarioOf("plain");
	const cutInReplay = (lived: Lived): Lived => ({
		...lived,
		completed: false,
		delivered: lived.delivered.map((lines) => {
			const end = lines.findIndex((line) => line.includes('"StepBegin"'));
			expect(end).toBeGreaterThan(0);
			return lines.slice(0, end + 1);
		}),
	});
	const world = createWorld(scenario, 2, cutInReplay);
	const replaying: World<Stop> = {
		...world,
		live: (parts, life, at) => {
			const asked = life === 2 ? [toPart({ ...recovery(life, 0, "commands"), prompts: [] }, 0)] : parts;
			return world.live(asked, life, at);
		},
	};
	const { faults } = await playRound(wireCrash, scenario, [null, stop], replaying);
	expect(faults).toEqual([]);
});

it("what was delivered in the second life is looked for in the log, as in the first", async () => {
	const scenario = scenarioOf("resume");
	const text = '{"jsonrpc":"2.0","method":"event","params":{"type":"StatusUpdate","payload":{"message_id":"never"}}}';
	const world = createWorld(scenario, 2, (lived) => ({
		...lived,
		delivered: lived.delivered.map((lines) => [...lines, text]),
	}));
	const { faults } = await playRound(wireCrash, scenario, [null], world);
	expect(faults.join()).toContain("delivered but not persisted");
});
