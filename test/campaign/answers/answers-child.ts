// A part of the answers campaign, in a process of its own, so that its end is seen: plays the rounds from one number to
// another, and says in lines of JSON what it found.
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { createNetwork, type Network } from "../../../src/ports/network/network.ts";
import { plainNetworkSettings } from "../../support/host/network.ts";
import { createRandom } from "../random.ts";
import { answerProtocols } from "./answers-protocols.ts";
import { drawManner, loadAdapter, readAnswer } from "./answers-reader.ts";
import { drawAnswer } from "./answers-script.ts";
import { type AnswerServer, authorityFile, startAnswerServer } from "./answers-server.ts";

export interface ChildReport {
	readonly outcomes: Readonly<Record<string, number>>;
	readonly findings: readonly string[];
	readonly connections: number;
	/** Milliseconds. */
	readonly longestPause: number;
	/** Megabytes. */
	readonly peakMemory: number;
}

/** Calls in parallel. */
const parallelRounds = 64;
/** Milliseconds for connections to be seen closed. */
const closePatience = 10_000;
const securePercent = 10;

const outcomes = new Map<string, number>();
const findings: string[] = [];
const underWay = new Set<string>();
const uncaught = (kind: string) => (thrown: unknown) => {
	const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
	findings.push(`${kind}: ${text}\n    during ${[...underWay].join("; ").slice(0, 3000)}`);
};
process.on("uncaughtException", uncaught("an exception that nobody caught"));
process.on("unhandledRejection", uncaught("a rejection that nobody handled"));

async function playRound(seed: number, round: number, server: AnswerServer, network: Network): Promise<void> {
	const random = createRandom(seed * 1_000_003 + round);
	const protocol = answerProtocols[round % answerProtocols.length] ?? answerProtocols[0];
	const script = drawAnswer(random, protocol);
	const manner = drawManner(random);
	const isSecure = random.chance(securePercent);
	const type = protocol.settings.providerType;
	const traits = JSON.stringify(script.traits).slice(0, 400);
	const name = `round ${round}, ${type}${isSecure ? " over TLS" : ""}, read ${manner.name}: ${traits}`;
	underWay.add(name);
	const { fault, outcome } = await readAnswer(protocol, server.play(script, isSecure), network, script, manner);
	underWay.delete(name);
	const key = `${type}, ${outcome}`;
	outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
	if (fault !== null) findings.push(`${name}: ${fault}`);
}

const sockets = () => process.getActiveResourcesInfo().filter((name) => /TCPSocketWrap|TLSWrap/.test(name)).length;

/** What is left once the other side has closed everything is held by somebody who forgot it. */
async function countLeftSockets(server: AnswerServer): Promise<number> {
	await server.close();
	for (const end = Date.now() + closePatience; sockets() > 0 && Date.now() < end; ) await pause(10);
	return sockets();
}

async function main(): Promise<void> {
	const [seed = 1, from = 0, to = 0] = process.argv.slice(2).map(Number);
	const server = await startAnswerServer();
	const network = createNetwork({ ...plainNetworkSettings, caFile: authorityFile, readFile: (file) => readFile(file) });
	for (const protocol of answerProtocols) await loadAdapter(protocol);
	// What is loaded with the first requests would take the others of their time.
	const first = Math.min(to, from + answerProtocols.length);
	for (let round = from; round < first; round += 1) await playRound(seed, round, server, network);
	const delay = monitorEventLoopDelay({ resolution: 10 });
	delay.enable();
	let next = first;
	const work = async () => {
		while (next < to) {
			next += 1;
			await playRound(seed, next - 1, server, network);
		}
	};
	await Promise.all(Array.from({ length: parallelRounds }, work));
	delay.disable();
	const connections = server.connections();
	const left = await countLeftSockets(server);
	if (left > 0) findings.push(`rounds ${from} to ${to}: ${left} sockets are left`);
	const report: ChildReport = {
		outcomes: Object.fromEntries(outcomes),
		findings,
		connections,
		longestPause: Math.round(delay.max / 1e6),
		peakMemory: Math.round(process.resourceUsage().maxRSS / 1000),
	};
	process.stdout.write(`${JSON.stringify(report)}\n`);
}

await main();
