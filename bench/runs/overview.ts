// Start, first event, a long turn and its memory, a replay: what is measured when nothing else is asked for.
import type { Choice } from "../choice.ts";
import { logSize, messageCount, writeLongSessions } from "../long-session.ts";
import {
	measureBareNode,
	measureFirstEvent,
	measureInitialize,
	measureLongTurn,
	measureNewSession,
	measureReplay,
	measureResume,
	partCount,
	writeBenchFiles,
} from "../measurements.ts";
import { type Measure, machineFacts, toData, toTable } from "../report.ts";
import { bare, createEnvironment, createTargets, own } from "../targets.ts";
import { endProgress, showProgress } from "./printing.ts";

export async function runOverview(choice: Choice, folder: string): Promise<void> {
	const files = writeBenchFiles(folder);
	const targets = createTargets(choice, folder);
	const columns = () => new Map<string, number[]>([...targets.map(({ name }) => name), bare].map((name) => [name, []]));
	const initialize = columns();
	const firstEvent = columns();
	const perTarget = () => new Map<string, number[]>(targets.map(({ name }) => [name, []]));
	const rate = perTarget();
	const memory = perTarget();
	const newSession = perTarget();
	const resume = perTarget();
	const replay = perTarget();
	const replayMemory = perTarget();
	for (const { environment } of targets) writeLongSessions(environment["KIMI_SHARE_DIR"] ?? "", files.workDir);
	const firstStart = new Map<string, number>();

	// Round 0 fills the caches of disk and compiler and is not counted, but for what it is: the very first start.
	for (let round = 0; round <= choice.runs; round += 1) {
		const isCounted = round > 0;
		showProgress(choice, isCounted ? `run ${round} of ${choice.runs}` : "warming up");
		const bareTime = await measureBareNode(createEnvironment(folder, bare));
		if (isCounted) for (const column of [initialize, firstEvent]) column.get(bare)?.push(bareTime);
		for (const target of targets) {
			const value = await measureInitialize(target, files);
			if (isCounted) initialize.get(target.name)?.push(value);
			else firstStart.set(target.name, value);
		}
		for (const target of targets) {
			const value = await measureFirstEvent(target, files);
			if (isCounted) firstEvent.get(target.name)?.push(value);
		}
		for (const target of targets) {
			const { eventsPerSecond, peakMemory } = await measureLongTurn(target, files);
			if (!isCounted) continue;
			rate.get(target.name)?.push(eventsPerSecond);
			if (peakMemory !== null) memory.get(target.name)?.push(peakMemory / 1_000_000);
		}
		for (const target of targets) {
			const fresh = await measureNewSession(target, files);
			const resumed = await measureResume(target, files);
			const replayed = await measureReplay(target, files);
			if (!isCounted) continue;
			newSession.get(target.name)?.push(fresh);
			resume.get(target.name)?.push(resumed);
			replay.get(target.name)?.push(replayed.megabytesPerSecond);
			if (replayed.peakMemory !== null) replayMemory.get(target.name)?.push(replayed.peakMemory / 1_000_000);
		}
	}
	endProgress(choice);

	const measures: Measure[] = [
		{ name: "start to `initialize` reply", unit: "ms", values: initialize },
		{ name: "start to first event", unit: "ms", values: firstEvent },
		{ name: `turn of ${partCount.toLocaleString("en-US")} parts`, unit: "events/s", values: rate },
		{ name: "its peak memory", unit: "MB", values: memory },
		{ name: "start to end of a short turn", unit: "ms", values: newSession },
		{ name: `the same behind ${messageCount.toLocaleString("en-US")} messages`, unit: "ms", values: resume },
		{ name: `replay of ${logSize / 1_000_000} MB`, unit: "MB/s", values: replay },
		{ name: "its peak memory", unit: "MB", values: replayMemory },
	];
	const facts = machineFacts();
	if (choice.json) {
		const data = { facts, runs: choice.runs, firstStart: Object.fromEntries(firstStart), measures: toData(measures) };
		console.log(JSON.stringify(data, null, 2));
		return;
	}
	console.log(`${Object.values(facts).join(", ")}; medians of ${choice.runs} interleaved runs\n`);
	console.log(toTable(measures, own));
	for (const [name, value] of firstStart) {
		console.log(`\n${name}: the first start of all, nothing cached: ${value.toFixed(1)} ms`);
	}
}
