import { describe, expect, it } from "vitest";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import { createOutputForwarding } from "./output-forwarding.ts";
import type { OutputSink } from "./port.ts";

function createSink(fail: (n: number) => boolean = () => false) {
	const taken: string[] = [];
	const sink: OutputSink = {
		async append(text) {
			if (fail(taken.length + 1)) throw new Error("disk full");
			taken.push(text);
		},
		close: async () => {
			taken.push("closed");
		},
	};
	return { sink, taken };
}

describe("forwarded output", () => {
	it("is forwarded immediately, whole lines or not, and not stored", async () => {
		const { sink, taken } = createSink();
		const capture = createOutputForwarding({ sink, limit: 1000 }, createMemoryLog());
		await capture.push("output", Buffer.from("Password"));
		await capture.push("error", Buffer.from(": no\n"));
		expect(taken).toEqual(["Password", ": no\n"]);
		expect(await capture.finish()).toEqual({
			output: "",
			errorOutput: "",
			outputBytes: 13,
			truncated: false,
			spilledTo: null,
		});
		expect(taken).toEqual(["Password", ": no\n"]);
	});

	it("splits no character, in either stream", async () => {
		const { sink, taken } = createSink();
		const capture = createOutputForwarding({ sink, limit: 1000 }, createMemoryLog());
		const euro = Buffer.from("€");
		await capture.push("output", euro.subarray(0, 1));
		await capture.push("error", Buffer.from("x"));
		await capture.push("output", euro.subarray(1));
		await capture.push("output", euro.subarray(0, 2));
		await capture.finish();
		expect(taken).toEqual(["x", "€", "\ufffd"]);
	});

	it("ends at the limit with a note", async () => {
		const { sink, taken } = createSink();
		const capture = createOutputForwarding({ sink, limit: 5 }, createMemoryLog());
		await capture.push("output", Buffer.from("abc"));
		await capture.push("output", Buffer.from("defg"));
		expect(capture.push("output", Buffer.from("h"))).toBeNull();
		expect(await capture.finish()).toMatchObject({ outputBytes: 8, truncated: true });
		expect(taken).toEqual(["abc", "de", "\n[output beyond 5 bytes was not stored]\n"]);
	});

	it("is dropped once the sink fails, which is logged once", async () => {
		const log = createMemoryLog();
		const { sink, taken } = createSink((n) => n === 2);
		const capture = createOutputForwarding({ sink, limit: 1000 }, log);
		for (const text of ["a", "b", "c"]) await capture.push("output", Buffer.from(text));
		expect(await capture.finish()).toMatchObject({ outputBytes: 3 });
		expect(taken).toEqual(["a"]);
		expect(log.lines).toEqual([
			{ level: "warn", message: "Output could not be stored", fields: { cause: "disk full" } },
		]);
	});
});
