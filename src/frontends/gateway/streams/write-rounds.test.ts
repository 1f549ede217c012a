import { describe, expect, it } from "vitest";
import { WriteRounds } from "./write-rounds.ts";

const turnEnded = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("WriteRounds", () => {
	it("writes at the end of the turn while there is time, to each stream once", async () => {
		const rounds = new WriteRounds(
			() => false,
			() => expect.unreachable(),
		);
		const written: string[] = [];
		const write = () => written.push("one");
		rounds.add(write);
		rounds.add(() => written.push("other"));
		rounds.add(write);
		expect(written).toEqual([]);
		await turnEnded();
		expect(written).toEqual(["one", "other"]);
	});

	it("writes to all streams in one round after a while when the process is busy, and then in another one", async () => {
		const started: (() => void)[] = [];
		const rounds = new WriteRounds(
			() => true,
			(run) => started.push(run),
		);
		const written: string[] = [];
		rounds.add(() => written.push("one"));
		rounds.add(() => written.push("other"));
		await turnEnded();
		expect(written).toEqual([]);
		expect(started).toHaveLength(1);
		started[0]?.();
		expect(written).toEqual(["one", "other"]);
		rounds.add(() => written.push("again"));
		expect(started).toHaveLength(2);
		started[1]?.();
		expect(written).toEqual(["one", "other", "again"]);
	});
});
