// Turns of every kind on a disk that is slow and fails at random, until the process closes its session or is killed: the next
// opening has every commit that was stored, once and in order, and the files of other programs have it after the next one.
import path from "node:path";
import { expect, it } from "vitest";
import { createRandom, type Random } from "../../../../test/campaign/random.ts";
import { eventAt, readAll } from "../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createMemoryFiles } from "../../../../test/support/store/memory-files.ts";
import { createMemoryLog } from "../../../../test/support/store/store-directory.ts";
import type { ContextRow } from "../../../api/values/conversation.ts";
import type { EventBody } from "../../../api/values/event.ts";
import { createDeferred } from "../../../base/deferred.ts";
import type { Files } from "../../files/port.ts";
import type { Batch } from "../session-store.ts";
import { createDiskStore } from "./disk-store.ts";

const id = "11111111-2222-4333-8444-555555555555";
const workDir = "/home/me/project";
const firstTime = 1_700_000_000_123;
const projections = ["wire.jsonl", "context.jsonl", "state.json"];
const moment = () => new Promise((resolve) => setImmediate(resolve));
const never = () => new Promise<never>(() => {});

interface BadDisk {
	readonly files: Files;
	/** Resolves when the process is killed. */
	readonly killed: Promise<void>;
	kill(): void;
}

/** A disk that takes its time; writes fail now and then, and at some effect the process is killed. */
function createBadDisk(disk: Files, random: Random): BadDisk {
	const failing = random.chance(60) ? random.below(30) : 0;
	const journalFailing = random.chance(40) ? random.below(30) : 0;
	const slowness = 1 + random.below(6);
	let left = random.chance(60) ? 10 + random.below(60) : Number.POSITIVE_INFINITY;
	let isKilled = false;
	const killed = createDeferred<void>();
	const kill = () => {
		isKilled = true;
		killed.resolve();
	};
	const effect = async <T>(
		file: string,
		work: () => Promise<T>,
		half?: () => Promise<void>,
		canFail = true,
	): Promise<T> => {
		const name = path.basename(file);
		const failsWith = projections.includes(name) ? failing : name === "journal.jsonl" ? journalFailing : 0;
		const isProjection = projections.includes(name);
		const waits = isProjection || name === "journal.jsonl" ? random.below(slowness) : 0;
		for (let count = waits; count > 0; count--) await moment();
		if (isKilled) return never();
		left -= 1;
		if (left <= 0) {
			if (random.chance(30)) await half?.();
			else if (random.chance(50)) await work();
			kill();
			return never();
		}
		if (!canFail || !random.chance(failsWith)) return work();
		if (random.chance(50)) await half?.();
		throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
	};
	const files: Files = {
		...disk,
		replace: (file, content, options) => effect(file, () => disk.replace(file, content, options)),
		replaceByPieces: (file, pieces, options) =>
			effect(file, () => disk.replaceByPieces(file, slowly(pieces, random), options)),
		// Else what was refused could be in the journal when the process is killed.
		truncate: (file, size) => effect(file, () => disk.truncate(file, size), undefined, !file.endsWith("journal.jsonl")),
		rename: (from, to) => effect(from, () => disk.rename(from, to)),
		async openAppend(file) {
			const opened = await effect(file, () => disk.openAppend(file));
			return {
				append: (text) =>
					effect(
						file,
						() => opened.append(text),
						() => opened.append(text.slice(0, random.below(text.length))),
					),
				appendPieces: (pieces) => effect(file, () => opened.appendPieces(pieces)),
				sync: () => effect(file, () => opened.sync()),
				close: () => opened.close(),
			};
		},
	};
	return { files, killed: killed.promise, kill };
}

async function* slowly(pieces: AsyncIterable<Uint8Array>, random: Random): AsyncGenerator<Uint8Array> {
	for await (const piece of pieces) {
		if (random.chance(30)) await moment();
		yield piece;
	}
}

/** A commit, and what became of it. Its number is in its event, its rows and its state. */
interface Made {
	readonly at: number;
	readonly batch: Batch;
	/** Null for one that nobody waits for, and for one that was not answered. */
	isStored: boolean | null;
}

const row = (tokenCount: number): ContextRow => ({ type: "usage", tokenCount });
const at = (number: number, body: EventBody) => [eventAt(body, firstTime + number)];

function createStep(number: number, random: Random): Batch {
	const rows = [row(number)];
	const kind = random.below(10);
	return {
		events: at(number, { type: "step.started", n: number }),
		...(kind < 6 ? { context: { kind: "append", rows } } : kind < 8 ? { context: { kind: "replace", rows } } : {}),
		...(random.chance(15) ? { state: { customTitle: `${number}` } } : {}),
	};
}

/** The rows and the title after these commits. */
function resultOf(made: readonly Made[]) {
	let rows: readonly ContextRow[] = [];
	let title: string | null = null;
	for (const { batch } of made) {
		if (batch.context?.kind === "append") rows = [...rows, ...batch.context.rows];
		if (batch.context?.kind === "replace") rows = batch.context.rows;
		title = batch.state?.customTitle ?? title;
	}
	return { rows, title };
}

async function play(seed: number): Promise<void> {
	const random = createRandom(seed);
	const disk = createMemoryFiles();
	await disk.makeDirectory("/root");
	const clock = createSteppingClock(firstTime);
	const log = createMemoryLog();
	const open = (files: Files) =>
		createDiskStore({ files, shareDir: "/root/share", log, clock, protocolVersion: "1.10" }).openOrCreate(workDir, id);
	const bad = createBadDisk(disk, random);
	const session = await open(bad.files);
	const made: Made[] = [];
	/** Whether it was stored. */
	const commit = async (batch: Batch, sync: boolean): Promise<boolean> => {
		const one: Made = { at: firstTime + made.length, batch, isStored: null };
		made.push(one);
		one.isStored = await session.commit(batch, { sync }).then(
			() => true,
			() => false,
		);
		return one.isStored;
	};
	const commitWithNext = async (): Promise<void> => {
		const batch: Batch = { context: { kind: "append", rows: [row(made.length)] } };
		made.push({ at: firstTime + made.length, batch, isStored: null });
		await session.commit(batch, { withNext: true });
		for (let count = random.below(4); count > 0; count--) await moment();
		if (random.chance(40)) clock.runBackground();
	};
	const work = async (): Promise<void> => {
		for (let turns = 1 + random.below(3); turns > 0; turns--) {
			await commit({ events: at(made.length, { type: "turn.started", input: "hi" }) }, true);
			for (let steps = random.below(8); steps > 0; steps--) {
				if (random.chance(30)) await commitWithNext();
				const together = random.chance(30) ? 1 + random.below(3) : 1;
				const commits = Array.from({ length: together }, () =>
					commit(createStep(made.length, random), random.chance(40)),
				);
				await Promise.all(commits);
			}
			if (random.chance(30)) await commitWithNext();
			// The end of a turn may not come to be stored.
			if (random.chance(15)) continue;
			await commit({ events: at(made.length, { type: "turn.ended", outcome: { status: "finished" } }) }, true);
		}
		if (random.chance(60)) await session.close();
	};
	await Promise.race([work(), bad.killed]);
	bad.kill();

	const again = await open(disk);
	const times = new Set((await readAll(again)).map((event) => event.at));
	const lastAt = made.findLastIndex((one) => times.has(one.at));
	const isAwaited = ({ batch }: Made) => batch.events !== undefined;
	const present = made.filter((one, index) => times.has(one.at) || (!isAwaited(one) && index < lastAt));
	expect(made.filter((one) => one.isStored === true && !times.has(one.at))).toEqual([]);
	expect(made.filter((one) => one.isStored === false && times.has(one.at))).toEqual([]);
	const events = present.filter(isAwaited);
	expect([...times]).toEqual(events.map((one) => one.at));
	// What nobody waited for after them may have been stored without another one.
	const later = made.slice(lastAt + 1).filter((one) => !isAwaited(one));
	const possible = later.map((_, count) => resultOf([...present, ...later.slice(0, count + 1)]));
	const { rows, title } =
		possible.find((result) => result.rows.length === again.contextRows.length) ?? resultOf(present);
	expect(again.contextRows).toEqual(rows);
	expect(again.state().customTitle).toBe(title);

	const last = { events: at(made.length, { type: "turn.started", input: "last" }) };
	await again.commit({ ...last, context: { kind: "append", rows: [row(made.length)] } });
	await again.commit({ events: at(made.length, { type: "turn.ended", outcome: { status: "finished" } }) });
	const linesOf = async (name: string) =>
		String(await disk.read(path.join(String(again.directory), name)))
			.trimEnd()
			.split("\n");
	expect(await linesOf("wire.jsonl")).toHaveLength(1 + events.length + 2);
	expect(await linesOf("context.jsonl")).toHaveLength(rows.length + 1);
	if (random.chance(50)) await again.close();
	const third = await open(disk);
	expect(await readAll(third)).toHaveLength(events.length + 2);
	expect(third.contextRows).toEqual([...rows, row(made.length)]);
}

it.each(Array.from({ length: 5 }, (_, index) => 1 + index * 20))(
	"loses and repeats nothing, seeds from %i",
	async (first) => {
		for (let seed = first; seed < first + 20; seed++) {
			try {
				await play(seed);
			} catch (thrown) {
				throw new Error(`seed ${seed}`, { cause: thrown });
			}
		}
	},
);
