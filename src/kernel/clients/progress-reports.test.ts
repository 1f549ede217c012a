import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import type { EventBodyOf } from "../../api/values/event.ts";
import { ProgressReports } from "./progress-reports.ts";

type Progress = EventBodyOf<"tool.progress">;

function createSubject() {
	const clock = createFakeClock();
	const delivered: Progress[] = [];
	const wanted = { now: true };
	const reports = new ProgressReports({
		emitter: { deliverProgress: (_where, body) => void delivered.push(body) },
		clock,
		isWanted: () => wanted.now,
	});
	const controller = new AbortController();
	const open = (id = "c1") => reports.open({ turnId: "t", agentPath: [] }, id, controller.signal);
	/** What was delivered since the last time, as `stream@offset text`. */
	const take = () => delivered.splice(0).map(({ stream, text, offset }) => `${stream}@${offset} ${text}`);
	return { clock, reports, wanted, controller, open, take, delivered };
}

describe("the progress of a call", () => {
	it("is delivered at once after a pause, and then every 50 ms", () => {
		const { clock, open, take } = createSubject();
		const { report } = open();
		report("stdout", "a");
		expect(take()).toEqual(["stdout@0 a"]);
		report("stdout", "b");
		clock.advance(49);
		report("stdout", "c");
		expect(take()).toEqual([]);
		clock.advance(1);
		expect(take()).toEqual(["stdout@1 bc"]);
		clock.advance(50);
		expect(take()).toEqual([]);
		report("stdout", "d");
		expect(take()).toEqual(["stdout@3 d"]);
	});

	it("has one offset over all streams, in UTF-16 units", () => {
		const { clock, open, take } = createSubject();
		const { report } = open();
		report("stdout", "€😀");
		report("stdout", "x");
		report("stderr", "no");
		report("stderr", "!");
		report("stdout", "y");
		clock.advance(50);
		expect(take()).toEqual(["stdout@0 €😀", "stdout@3 x", "stderr@4 no!", "stdout@7 y"]);
	});

	it("skips what is beyond 32 KiB of a delivery, which the next offset shows", () => {
		const { clock, open, delivered } = createSubject();
		const { report } = open();
		report("stdout", "-");
		report("stdout", "a".repeat(30_000));
		report("stdout", "b".repeat(10_000));
		report("stdout", "c".repeat(10_000));
		clock.advance(50);
		report("stdout", "d");
		clock.advance(50);
		expect(delivered.map(({ text, offset }) => [offset, text.length, text.at(-1)])).toEqual([
			[0, 1, "-"],
			[1, 32_768, "b"],
			[50_001, 1, "d"],
		]);
	});

	it("is cut between characters", () => {
		const { open, delivered } = createSubject();
		open().report("stdout", `${"a".repeat(32 * 1024 - 1)}😀`);
		expect(delivered.map(({ text }) => text.length)).toEqual([32 * 1024 - 1]);
	});

	it("skips streams that alternate too often", () => {
		const { clock, open, delivered } = createSubject();
		const { report } = open();
		report("message", "-");
		for (let n = 0; n < 100; n += 1) report(n % 2 === 0 ? "stdout" : "stderr", "x");
		clock.advance(50);
		expect(delivered.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
		report("stdout", "y");
		clock.advance(50);
		expect(delivered.at(-1)).toMatchObject({ offset: 101, text: "y" });
	});

	it("decodes bytes, also of characters that come in parts and of streams that are mixed", () => {
		const { clock, open, take } = createSubject();
		const { report } = open();
		const euro = Buffer.from("€");
		report("stdout", euro.subarray(0, 2));
		report("stderr", Buffer.from("x"));
		report("stdout", euro.subarray(2));
		clock.advance(50);
		expect(take()).toEqual(["stderr@0 x", "stdout@1 €"]);
	});

	it("is delivered before its call ends, and never afterwards", () => {
		const { clock, open, take, reports } = createSubject();
		const progress = open();
		progress.report("stdout", "a");
		progress.report("stdout", "b");
		progress.end();
		expect(take()).toEqual(["stdout@0 a", "stdout@1 b"]);
		progress.report("stdout", "c");
		progress.end();
		clock.advance(1000);
		expect([take(), clock.waiting(), reports.unfinished()]).toEqual([[], 0, []]);
	});

	it("is dropped when the call is aborted", () => {
		const { clock, open, take, controller, reports } = createSubject();
		const progress = open();
		progress.report("stdout", "a");
		progress.report("stdout", "b");
		controller.abort();
		progress.report("stdout", "c");
		progress.end();
		open().report("stdout", "d");
		clock.advance(1000);
		expect([take(), clock.waiting(), reports.unfinished()]).toEqual([["stdout@0 a"], 0, []]);
	});

	it("is counted, but neither delivered nor retained, while no client wants it", () => {
		const { clock, open, take, wanted, reports } = createSubject();
		const progress = open();
		wanted.now = false;
		progress.report("stdout", Buffer.from("12345"));
		expect([clock.waiting(), take()]).toEqual([0, []]);
		wanted.now = true;
		progress.report("stdout", Buffer.from("a"));
		progress.report("stdout", Buffer.from("b"));
		wanted.now = false;
		clock.advance(50);
		progress.report("stdout", Buffer.from("c"));
		expect([take(), reports.unfinished()]).toEqual([["stdout@5 a"], []]);
		wanted.now = true;
		progress.skip(10);
		progress.report("stdout", Buffer.from("d"));
		expect(take()).toEqual(["stdout@18 d"]);
	});
});

describe("what is retained of running calls", () => {
	it("is what was delivered, merged, by call", () => {
		const { clock, open, reports } = createSubject();
		const [one, other] = [open("c1"), open("c2")];
		for (const text of ["a", "b", "c"]) {
			one.report("stdout", text);
			clock.advance(50);
		}
		one.report("stderr", "d");
		other.report("message", "1 of 2\n");
		clock.advance(50);
		one.report("stdout", "e");
		one.report("stdout", "pending");
		const body = (toolCallId: string, stream: string, text: string, offset: number) => ({
			agentPath: [],
			body: { type: "tool.progress", toolCallId, stream, text, offset },
		});
		expect(reports.unfinished()).toEqual([
			body("c1", "stdout", "abc", 0),
			body("c1", "stderr", "d", 3),
			body("c1", "stdout", "e", 4),
			body("c2", "message", "1 of 2\n", 0),
		]);
		one.end();
		expect(reports.unfinished()).toEqual([body("c2", "message", "1 of 2\n", 0)]);
	});

	it("is bounded to the last 64 KiB of each", () => {
		const { clock, open, reports } = createSubject();
		const { report } = open();
		for (let n = 0; n < 5; n += 1) {
			report(n === 3 ? "stderr" : "stdout", `${n}`.repeat(30_000));
			clock.advance(50);
		}
		const parts = reports.unfinished().map(({ body }) => body);
		expect(parts).toMatchObject([
			{ stream: "stdout", text: "2".repeat(65_536 - 60_000), offset: 150_000 - 65_536 },
			{ stream: "stderr", offset: 90_000 },
			{ stream: "stdout", offset: 120_000 },
		]);
	});
});
