// The orphans campaign: hostile process trees in the Shell tool and among the MCP servers of the real executable, ended in
// every way there is.
// Nothing of a tree may be left; what clears its environment is caught by containment alone, and counted without it.
import { randomUUID } from "node:crypto";
import { hasBubblewrap } from "../../support/executable/bubblewrap.ts";
import { type CampaignOptions, type CampaignReport, reportOn } from "../frame/campaign.ts";
import { createRandom, type Random } from "../random.ts";
import {
	backgroundEndings,
	type Ending,
	endings,
	foregroundEndings,
	mcpEndings,
	playRound,
	type Round,
	type RoundResult,
} from "./orphans-round.ts";
import { hostileTrees } from "./orphans-trees.ts";

interface Played {
	readonly round: Round;
	readonly result: RoundResult;
}

const progressInterval = 20;
/** Characters shown of a survivor's arguments. */
const commandLength = 200;
/** Rounds in a hundred that end before the tree is known to be grown, and how long after the tool call at most. */
const earlyPercent = 30;
const earlyLimit = 60;
/** Rounds in a hundred whose command runs in the background, and those whose tree is an MCP server's. */
const backgroundPercent = 33;
const mcpPercent = 20;

function chooseRound(random: Random, modes: readonly ["off", ..."auto"[]]): Round {
	const place = choosePlace(random);
	return {
		tree: random.pick(hostileTrees),
		ending: random.pick(endingsOf[place]),
		place,
		contain: random.pick(modes),
		endAfter: random.chance(earlyPercent) ? random.below(earlyLimit) : null,
		token: `orphan-${randomUUID()}`,
	};
}

function choosePlace(random: Random): Round["place"] {
	if (random.chance(mcpPercent)) return "mcp";
	return random.chance(backgroundPercent) ? "background" : "foreground";
}

const endingsOf: { readonly [P in Round["place"]]: readonly [Ending, ...Ending[]] } = {
	foreground: foregroundEndings,
	background: backgroundEndings,
	mcp: mcpEndings,
};

const placeWords: { readonly [P in Round["place"]]: string } = {
	foreground: "",
	background: " in the background",
	mcp: " as an MCP server",
};

function describeRound(number: number, { tree, ending, contain, endAfter, place: where }: Round): string {
	const place = placeWords[where];
	const when = endAfter === null ? "" : ` ${endAfter} ms after the call`;
	return `round ${number}: ${tree.name}${place}, ended by ${ending}${when}, containment ${contain}`;
}

/** The faults of a round; what only containment catches is none without it. */
function judge(number: number, { round, result }: Played): string[] {
	const faults: string[] = [];
	const isPromised = round.contain === "auto" || !round.tree.clearsEnvironment;
	if (result.survivors.length > 0 && isPromised) {
		faults.push(
			`${result.survivors.length} survived, the first: ${(result.survivors[0] ?? "").replaceAll("\n", "; ").slice(0, commandLength)}`,
		);
	}
	if (result.watchdogs > 0) faults.push(`${result.watchdogs} watchdogs did not go`);
	if (result.trouble !== null) faults.push(result.trouble);
	return faults.map((fault) => `${describeRound(number, round)}: ${fault}`);
}

function count(played: readonly Played[]): string {
	const survivors = played.reduce((sum, { result }) => sum + result.survivors.length, 0);
	const rounds = played.filter(({ result }) => result.survivors.length > 0).length;
	return `${survivors} survivors in ${rounds} of ${played.length} rounds`;
}

/** Milliseconds from the end until nothing was left: the median and the longest, of the rounds that left nothing. */
function timesToGo(played: readonly Played[]): string {
	const times = played
		.filter(({ result }) => result.survivors.length === 0)
		.map(({ result }) => result.goneAfter)
		.sort((one, other) => one - other);
	const at = (index: number) => `${(times[index] ?? 0).toFixed(0)} ms`;
	return times.length === 0 ? "none" : `median ${at(times.length >> 1)}, longest ${at(times.length - 1)}`;
}

function toFigures(played: readonly Played[]): Record<string, string> {
	const figures: Record<string, string> = {};
	for (const contain of ["off", "auto"] as const) {
		const ofMode = played.filter(({ round }) => round.contain === contain);
		const name = contain === "auto" ? "with containment" : "without containment";
		figures[name] = ofMode.length === 0 && contain === "auto" ? "not tried: bwrap does not work here" : count(ofMode);
		for (const ending of endings) {
			const ofEnding = ofMode.filter(({ round }) => round.ending === ending);
			if (ofEnding.length > 0) figures[`${name}, ${ending}`] = `${count(ofEnding)}; gone: ${timesToGo(ofEnding)}`;
		}
		for (const place of ["background", "mcp"] as const) {
			const there = ofMode.filter(({ round }) => round.place === place);
			if (there.length > 0) figures[`${name},${placeWords[place]}`] = `${count(there)}; gone: ${timesToGo(there)}`;
		}
		for (const tree of hostileTrees) {
			const ofTree = ofMode.filter(({ round }) => round.tree === tree);
			if (ofTree.length > 0) figures[`${name}, ${tree.name}`] = count(ofTree);
		}
	}
	return figures;
}

/** Plays `rounds` rounds, chosen by the seed, one after the other. Linux only: it looks through /proc. */
export function runCampaign({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	return reportOn("orphans", seed, () => playRounds(rounds, seed, log));
}

async function playRounds(rounds: number, seed: number, log: (line: string) => void) {
	const random = createRandom(seed);
	const modes: readonly ["off", ..."auto"[]] = hasBubblewrap() ? ["off", "auto"] : ["off"];
	const played: Played[] = [];
	const findings: string[] = [];
	for (let number = 1; number <= rounds; number += 1) {
		const round = chooseRound(random, modes);
		const entry = { round, result: await playRound(round) };
		played.push(entry);
		findings.push(...judge(number, entry));
		if (number % progressInterval === 0) log(`${number} rounds, ${findings.length} findings`);
	}
	return { rounds, findings, figures: toFigures(played) };
}
