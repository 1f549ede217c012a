import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { type Log, type LogFields, silentLog } from "../../base/log.ts";
import { createServerLog } from "./server-log.ts";

function createSubject() {
	const logged: LogFields[] = [];
	const log: Log = { ...silentLog, info: (_, fields = {}) => void logged.push(fields) };
	const clock = createFakeClock();
	return { clock, logged, log: createServerLog("s", clock, log), texts: () => logged.map(({ text }) => text) };
}

describe("the log output of a server", () => {
	it("is logged by lines, whatever chunks it arrives in", () => {
		const { log, logged, texts } = createSubject();
		log.hear(Buffer.from("one\ntw"));
		log.hear(Buffer.from("o\r\n\nthr"));
		expect(texts()).toEqual(["one", "two"]);
		expect(logged[0]).toEqual({ server: "s", source: "stderr", text: "one" });
		expect(log.end()).toBe("thr");
		expect(texts()).toEqual(["one", "two", "thr"]);
	});

	it("is truncated when it is long", () => {
		const { log, texts } = createSubject();
		log.hear(Buffer.from(`${"x".repeat(2000)}\n${"y".repeat(100_000)}\n`));
		expect(texts()).toEqual([`${"x".repeat(1000)}…`, "[a line of more than 65536 bytes]"]);
		expect(log.end()).toBe("x".repeat(300));
	});

	it("has a limit per minute", () => {
		const { log, clock, logged, texts } = createSubject();
		for (let n = 0; n < 100; n += 1) log.note("stdout", "x".repeat(1000));
		expect(logged).toHaveLength(65);
		clock.advance(59_999);
		log.note("stdout", "still too much");
		expect(logged).toHaveLength(65);
		clock.advance(1);
		log.note("stdout", "again");
		expect(logged.at(-2)).toEqual({ server: "s", lines: 36 });
		expect(texts().at(-1)).toBe("again");
	});
});
