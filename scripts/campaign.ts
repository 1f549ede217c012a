// The campaign command: runs one kind of campaign and prints its progress, figures and findings. Knows no campaign's insides.
import { parseArgs } from "node:util";
import { errorText } from "../src/base/errors.ts";
import type { CampaignOptions, CampaignReport } from "./campaign/frame/campaign.ts";

interface CampaignModule {
	runCampaign(options: CampaignOptions): Promise<CampaignReport>;
}

interface CampaignKind {
	/** Rounds when none are asked for: about half a minute of work, or all there is. */
	readonly rounds: number;
	readonly load: () => Promise<CampaignModule>;
}

const kinds: ReadonlyMap<string, CampaignKind> = new Map([
	["fuzz", { rounds: 100_000, load: () => import("./campaign/wire/front-end.ts") }],
	["liveness", { rounds: 2_000, load: () => import("./campaign/liveness/liveness.ts") }],
	["crash", { rounds: 100, load: () => import("./campaign/crash/crash.ts") }],
	["kill", { rounds: 100, load: () => import("./campaign/kill/kill.ts") }],
	["answers", { rounds: 5_000, load: () => import("./campaign/answers/answers.ts") }],
	["orphans", { rounds: 100, load: () => import("./campaign/orphans/orphans.ts") }],
	["wedge", { rounds: 0, load: () => import("./campaign/wedge/wedge.ts") }],
]);

/** Those of many sessions over one connection; the others are of one session. */
const meerkatKinds: ReadonlyMap<string, CampaignKind> = new Map([
	["fuzz", { rounds: 20_000, load: () => import("./campaign/meerkat/front-end.ts") }],
	["liveness", { rounds: 1_000, load: () => import("./campaign/meerkat/liveness.ts") }],
	["crash", { rounds: 100, load: () => import("./campaign/meerkat/crash.ts") }],
	["kill", { rounds: 20, load: () => import("./campaign/meerkat/kill.ts") }],
]);

const usage = `Usage: npm run campaign -- --kind ${[...kinds.keys()].join("|")} [--rounds N] [--process-rounds N] [--seed S] [--path P] [--points all|N] [--only TEXT]
       npm run campaign -- --dialect meerkat --kind ${[...meerkatKinds.keys()].join("|")} [--rounds N] [--process-rounds N] [--seed S] [--path P]`;

function parseCount(name: string, text: string): number {
	const count = Number(text);
	if (!Number.isSafeInteger(count) || count < 0) throw new Error(`--${name} needs a whole number, not ${text}.`);
	return count;
}

interface Choice {
	readonly kind: CampaignKind;
	readonly options: Omit<CampaignOptions, "log">;
}

function readChoice(): Choice {
	const { values } = parseArgs({
		options: {
			kind: { type: "string", default: "" },
			dialect: { type: "string" },
			rounds: { type: "string" },
			"process-rounds": { type: "string" },
			seed: { type: "string", default: "1" },
			points: { type: "string", default: "all" },
			only: { type: "string" },
			path: { type: "string" },
		},
	});
	const { dialect } = values;
	if (dialect !== undefined && dialect !== "meerkat") throw new Error("--dialect can be meerkat.");
	const offered = dialect === undefined ? kinds : meerkatKinds;
	const kind = offered.get(values.kind);
	if (kind === undefined) throw new Error(`--kind needs one of ${[...offered.keys()].join(", ")}.`);
	const { points, seed, rounds, only, path } = values;
	const processRounds = values["process-rounds"];
	return {
		kind,
		options: {
			rounds: rounds === undefined ? kind.rounds : parseCount("rounds", rounds),
			seed: parseCount("seed", seed),
			points: points === "all" ? "all" : parseCount("points", points),
			...(only === undefined ? {} : { only }),
			...(path === undefined ? {} : { path }),
			...(processRounds === undefined ? {} : { processRounds: parseCount("process-rounds", processRounds) }),
		},
	};
}

async function main(): Promise<number> {
	let choice: Choice;
	try {
		choice = readChoice();
	} catch (thrown) {
		process.stderr.write(`${errorText(thrown)}\n${usage}\n`);
		return 2;
	}
	const log = (line: string): void => void process.stdout.write(`${line}\n`);
	const { runCampaign } = await choice.kind.load();
	const report = await runCampaign({ ...choice.options, log });
	print(report, log);
	return report.findings.length === 0 ? 0 : 1;
}

function print({ kind, rounds, seed, seconds, findings, figures }: CampaignReport, log: (line: string) => void): void {
	log(`${kind}: ${rounds} rounds, seed ${seed}, ${seconds.toFixed(1)} s`);
	for (const [name, value] of Object.entries(figures)) log(`  ${name}: ${value}`);
	for (const [index, finding] of findings.entries()) log(`finding ${index + 1}: ${finding}`);
	log(`campaign ${kind}: ${Math.max(0, rounds - findings.length)} passed, ${findings.length} failed`);
}

process.exitCode = await main();
