import { expect, it } from "vitest";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createMemoryFiles } from "../../../../test/support/store/memory-files.ts";
import type { AgentEvent } from "../../../api/values/event.ts";
import { silentLog } from "../../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { createDiskStore } from "./disk-store.ts";

it("has no file open between turns, and goes on in the same files", async () => {
	const inner = createMemoryFiles();
	let open = 0;
	const files: Files = {
		...inner,
		async openAppend(file) {
			const opened = await inner.openAppend(file);
			open += 1;
			return {
				...opened,
				async close() {
					open -= 1;
					await opened.close();
				},
			};
		},
	};
	const clock = createSteppingClock(Date.now());
	const options = { files, shareDir: "/share", log: silentLog, clock, protocolVersion: "1.10" };
	const session = await createDiskStore(options).openOrCreate("/work", "s");
	const at = { sessionId: "s", turnId: "t", agentPath: [], at: 1 };
	const turn: readonly AgentEvent[] = [
		{ ...at, body: { type: "turn.started", input: "hi" } },
		{ ...at, body: { type: "turn.ended", outcome: { status: "finished" } } },
	];
	for (let n = 0; n < 3; n += 1) {
		await session.commit({ events: turn.slice(0, 1) }, { sync: true });
		expect(open).toBeGreaterThan(0);
		await session.commit({ events: turn.slice(1) }, { sync: true });
		clock.runBackground();
		await expect.poll(() => open).toBe(0);
	}
	await session.close();
	const again = await createDiskStore(options).openOrCreate("/work", "s");
	expect(again.cursor().seq).toBe(6);
});
