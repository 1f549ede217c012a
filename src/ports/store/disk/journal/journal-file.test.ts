// Events after a number are found by bisection: whatever the journal contains, they are those that reading all of it gives.
import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../../../test/support/store/memory-files.ts";
import { readJournalEvents } from "./journal-file.ts";

const file = "/journal.jsonl";
const origin = { sessionId: "s", epoch: "e" };
const header = '{"journal":1,"epoch":"e","history":{"wire":0,"events":0}}';
const event = (seq: number, length: number) =>
	JSON.stringify({
		seq,
		at: 1,
		turn: null,
		event: { type: "steer.consumed", input: `\n{"seq":3,`.padEnd(length, "x") },
	});
const context = (length: number) => JSON.stringify({ context: "append", rows: ["z".repeat(length)] });

async function read(lines: readonly string[], after: number, rest = ""): Promise<number[]> {
	const text = [header, ...lines].map((line) => `${line}\n`).join("");
	const files = createMemoryFiles();
	await files.replace(file, text + rest);
	const range = { start: 0, end: text.length };
	const seqs: number[] = [];
	for await (const events of readJournalEvents(files, file, range, origin, after, () => {}))
		for (const { seq } of events) seqs.push(seq ?? 0);
	return seqs;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("the events after a number", () => {
	it.each([
		["short lines", (n: number) => event(n, 5_000)],
		["lines of many lengths", (n: number) => event(n, [0, 10, 65_530, 300_000][n % 4] ?? 0)],
		["long lines of another kind between them", (n: number) => `${context(200_000)}\n${event(n, 50)}`],
	])("are complete among %s", async (_, line) => {
		const lines = numbers(1, 100).map(line);
		for (const after of [1, 2, 30, 31, 64, 98, 99, 100])
			expect(await read(lines, after)).toEqual(numbers(after + 1, 100));
	});

	it("are complete where a process wrote earlier numbers late, after it had lost the session", async () => {
		for (const place of numbers(1, 20).map((n) => n * 5)) {
			const after = Math.max(1, place - 20);
			const late = numbers(1, 5).map((n) => event(Math.max(1, place - 30 - n), 20_000));
			const lines = numbers(1, 100).map((n) => event(n, 20_000));
			lines.splice(place, 0, ...late);
			expect(await read(lines, after)).toEqual(numbers(after + 1, 100));
		}
	});

	it("are complete where a number was damaged", async () => {
		const lines = numbers(1, 100).map((n) => event(n, 5_000));
		lines[52] = (lines[52] ?? "").replace('{"seq":53,', '{"seq":5\0\0');
		for (const after of [10, 51, 52, 53, 60]) {
			const seqs = await read(lines, after);
			expect(numbers(after + 1, 100).filter((seq) => seq !== 53 && !seqs.includes(seq))).toEqual([]);
		}
	});

	it("do not depend on what is written behind them meanwhile", async () => {
		const lines = [...numbers(1, 30).map((n) => event(n, 100)), context(400_000)];
		for (const rest of ['{"seq":1', '{"seq":31,']) expect(await read(lines, 20, rest)).toEqual(numbers(21, 30));
	});
});
