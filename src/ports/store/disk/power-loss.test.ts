// What a loss of power leaves of a session: all that was committed with a sync, whatever became of the other files.
import { expect, it } from "vitest";
import { eventAt, promptRow } from "../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../../test/support/store/memory-files.ts";
import { silentLog } from "../../../base/log.ts";
import { createDiskStore } from "./disk-store.ts";

const open = (files: MemoryFiles) =>
	createDiskStore({
		files,
		shareDir: "/home/share",
		log: silentLog,
		clock: createSteppingClock(1_800_000_000_000),
		protocolVersion: "1.10",
	}).openOrCreate("/work", "11111111-2222-4333-8444-555555555555");

it.each([
	["the least", 0],
	["the most", 0.999],
] as const)("a change of the state survives a loss of %s after the turn that made it", async (_name, share) => {
	const first = createMemoryFiles();
	await first.makeDirectory("/home");
	await first.syncDirectory("/");
	const before = await open(first);
	await before.commit({ context: { kind: "append", rows: [promptRow] }, state: { planMode: false } }, { sync: true });
	await before.close();
	// All of an earlier run is on stable storage.
	const files = first.afterPowerLoss(() => 0.999);
	const session = await open(files);
	await session.commit({ state: { planMode: true } }, { sync: true });
	for (const n of [1, 2]) {
		await session.commit({ events: [eventAt({ type: "turn.started", input: `${n}` })] });
		await session.commit(
			{ events: [eventAt({ type: "turn.ended", outcome: { status: "finished" } })] },
			{ sync: true },
		);
	}
	const again = await open(files.afterPowerLoss(() => share));
	expect(again.state().planMode).toBe(true);
});

it.each([
	["the least", 0],
	["the most", 0.999],
] as const)("a context that replaced another one is there after a loss of %s", async (_name, share) => {
	const first = createMemoryFiles();
	await first.makeDirectory("/home");
	await first.syncDirectory("/");
	const before = await open(first);
	const said = { type: "message", message: { role: "user", content: [{ type: "text", text: "long" }] } } as const;
	await before.commit({ context: { kind: "append", rows: [promptRow, said] } }, { sync: true });
	await before.close();
	const files = first.afterPowerLoss(() => 0.999);
	const session = await open(files);
	await session.commit({ context: { kind: "replace", rows: [promptRow] } });
	const again = await open(files.afterPowerLoss(() => share));
	expect(again.contextRows).toEqual([promptRow]);
});
