import { describe, expect, it } from "vitest";
import { readPageRequest, readStreamOptions, sessionsOfStream } from "./requests.ts";

const read = (query: string, last: string | null = null) => readStreamOptions(query, last, "control");

describe("readStreamOptions", () => {
	it("reads sessions with and without cursors", () => {
		expect(read("sessions=a@e1:7,b%2C%40c,d@e2:0").attachments).toMatchObject([
			{ sessionId: "a", after: { epoch: "e1", seq: 7 } },
			{ sessionId: "b,@c" },
			{ sessionId: "d", after: { epoch: "e2", seq: 0 } },
		]);
	});

	it("reads a cursor whose signs are encoded, as makers of queries do", () => {
		const made = new URLSearchParams({ sessions: "a@e1:7" }).toString();
		expect(made).toContain("%40");
		expect(read(made).attachments).toMatchObject([{ sessionId: "a", after: { epoch: "e1", seq: 7 } }]);
	});

	it("takes the cursor of the last event that a client had", () => {
		expect(read("sessions=a@e:1,b", "a@e:9").attachments).toMatchObject([
			{ sessionId: "a", after: { epoch: "e", seq: 9 } },
			{ sessionId: "b" },
		]);
	});

	it("answers requests unless the token or the client says otherwise", () => {
		expect(read("sessions=a").attachments).toEqual([{ sessionId: "a", answers: true, grade: "delta" }]);
		expect(read("sessions=a&role=observe&grade=block&client=My%20phone").attachments).toEqual([
			{ sessionId: "a", answers: false, grade: "block", client: { name: "My phone", version: null } },
		]);
		expect(readStreamOptions("sessions=a", null, "observe").attachments[0]?.answers).toBe(false);
		expect(() => readStreamOptions("sessions=a&role=control", null, "observe")).toThrow("may only observe");
	});

	it.each([
		["", "needs sessions"],
		["sessions=", "needs sessions"],
		["sessions=a,a", "each session once"],
		["sessions=a@e", "A cursor is EPOCH:SEQ"],
		["sessions=a@e:-1", "A cursor is EPOCH:SEQ"],
		["sessions=a@e:1.5", "A cursor is EPOCH:SEQ"],
		["sessions=a@e:9999999999999999", "A cursor is EPOCH:SEQ"],
		["sessions=%E0%A4%A", "invalid percent-encoding"],
		["sessions=a&sessions=b", "once"],
		["sessions=a&grade=all", "'grade'"],
		["sessions=a&role=root", "'role'"],
		["sessions=a&token=x", "no parameter 'token'"],
		[`sessions=a&client=${"n".repeat(101)}`, "at most 100 characters"],
		[`sessions=${Array.from({ length: sessionsOfStream + 1 }, (_, index) => index).join()}`, "at most 100 sessions"],
	])("refuses %s", (query, why) => {
		expect(() => read(query)).toThrow(why);
	});
});

describe("readPageRequest", () => {
	it("has two hundred events from the end by default", () => {
		expect(readPageRequest("")).toEqual({ before: null, limit: 200 });
		expect(readPageRequest("before=12&limit=1000")).toEqual({ before: 12, limit: 1000 });
	});

	it.each(["limit=0", "limit=1001", "limit=x", "before=-1", "before=1e3", "after=1"])("refuses %s", (query) => {
		expect(() => readPageRequest(query)).toThrow();
	});
});
