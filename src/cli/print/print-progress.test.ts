import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import {
	callBegins,
	callCompleted,
	coder,
	result,
	retry,
	step,
	text,
	thought,
	turnBegins,
	turnEnds,
} from "../../../test/support/protocol/printed-events.ts";
import { toolSuccess } from "../../api/values/content.ts";
import type { AgentPathEntry, EventBody } from "../../api/values/event.ts";
import { createCursor, createProgress } from "./print-progress.ts";

const erase = "\r\u001b[K";

function createSubject({ columns = 80 } = {}) {
	const clock = createFakeClock();
	const written: string[] = [];
	let column: number | null = 0;
	const progress = createProgress({
		clock,
		write: (words) => void written.push(words),
		columns: () => columns,
		column: () => column,
	});
	return {
		clock,
		progress,
		take(body: EventBody, ...agentPath: AgentPathEntry[]) {
			progress.take({ sessionId: "s", turnId: "t", agentPath, at: 0, body });
		},
		allowDrawing(allowed: boolean) {
			column = allowed ? 0 : null;
		},
		moveTo(place: number) {
			column = place;
		},
		/** What the terminal's line shows once some time has passed. */
		shown(milliseconds = 250) {
			clock.advance(milliseconds);
			return (written.at(-1) ?? "").replace(erase, "");
		},
		written,
	};
}

describe("createProgress", () => {
	it("shows the state of the turn, its step and its seconds", () => {
		const { take, shown } = createSubject();
		take(turnBegins);
		expect(shown()).toBe("waiting for the model, 0 s");
		take(step(1));
		expect(shown()).toBe("waiting for the model, step 1, 0 s");
		expect(shown(1500)).toBe("waiting for the model, step 1, 2 s");
		take(step(2));
		take(thought("hm"));
		expect(shown()).toBe("thinking, step 2, 2 s");
	});

	it.each<[string, readonly EventBody[]]>([
		["thinking", [thought("hm")]],
		["answering", [thought("hm"), text("a")]],
		["calling Shell", [text("a"), callBegins("c1", "Shell", "{")]],
		['Shell {"command":"ls"}', [callCompleted("c1", "Shell", '{"command":"ls"}'), text("a")]],
		["2 calls, first A", [callCompleted("c1", "A", null), callCompleted("c2", "B", null)]],
		["B", [callCompleted("c1", "A", null), callCompleted("c2", "B", null), result("c1", toolSuccess({}))]],
		["waiting for the model", [callCompleted("c1", "A", null), result("c1", toolSuccess({}))]],
		["retrying (attempt 2 of 3)", [callCompleted("c1", "A", null), retry]],
		["summarizing the context", [{ type: "compaction.started" }]],
		["connecting to tool servers", [{ type: "mcp.loading-started" }]],
		["waiting for the model", [{ type: "mcp.loading-started" }, { type: "mcp.loading-ended" }]],
	])("shows %s", (expected, events) => {
		const { take, shown } = createSubject();
		for (const event of [turnBegins, step(1), ...events]) take(event);
		expect(shown()).toBe(`${expected}, step 1, 0 s`);
	});

	it("ignores subagents", () => {
		const { take, shown } = createSubject();
		take(turnBegins);
		take(step(1));
		take(step(7), coder);
		take(callCompleted("c1", "Grep", null), coder);
		expect(shown()).toBe("waiting for the model, step 1, 0 s");
	});

	it("redraws only changes", () => {
		const { take, clock, written } = createSubject();
		take(turnBegins);
		clock.advance(1999);
		expect(written).toEqual([`${erase}waiting for the model, 0 s`, `${erase}waiting for the model, 1 s`]);
	});

	it("is erased before other output, and redrawn after it", () => {
		const { take, shown, progress, written } = createSubject();
		take(turnBegins);
		shown();
		progress.clear();
		progress.clear();
		expect(written.slice(1)).toEqual([erase]);
		expect(shown()).toBe("waiting for the model, 0 s");
	});

	it("is not drawn within other output", () => {
		const { take, shown, allowDrawing, written } = createSubject();
		allowDrawing(false);
		take(turnBegins);
		shown(1000);
		expect(written).toEqual([]);
		allowDrawing(true);
		expect(shown()).toBe("waiting for the model, 1 s");
	});

	it("is erased after the turn, and starts anew with the next", () => {
		const { take, shown, clock, written } = createSubject();
		take(turnBegins);
		take(step(3));
		shown(5000);
		take(turnEnds);
		expect(written.at(-1)).toBe(erase);
		expect(clock.waiting()).toBe(0);
		take(turnBegins);
		expect(shown()).toBe("waiting for the model, 0 s");
	});

	it("persists through nested turns", () => {
		const { take, shown } = createSubject();
		take(turnBegins);
		take(turnBegins);
		take(step(1));
		expect(shown(1000)).toBe("waiting for the model, step 1, 1 s");
		take({ type: "turn.ended", outcome: null });
		take(turnBegins);
		take(step(1));
		expect(shown(1000)).toBe("waiting for the model, step 1, 2 s");
	});

	it("ends permanently, also within a turn", () => {
		const { take, shown, progress, clock, written } = createSubject();
		take(turnBegins);
		shown();
		progress.end();
		clock.advance(5000);
		expect(written.at(-1)).toBe(erase);
		take(turnBegins);
		expect(clock.waiting()).toBe(0);
	});

	it.each([
		[30, "waiting for the, step 1, 0 s"],
		[12, ", step 1, 0"],
	])("stays within %i columns", (columns, expected) => {
		const { take, shown } = createSubject({ columns });
		take(turnBegins);
		take(step(1));
		expect(shown()).toBe(expected);
	});

	it("counts wide characters as two columns", () => {
		const { take, shown } = createSubject({ columns: 21 });
		take(turnBegins);
		take(callCompleted("c1", "日本日本日本日本日本", null));
		expect(shown()).toBe("日本日本日本日, 0 s");
	});
});

describe("after text without a newline", () => {
	it("is drawn below the text, and the cursor goes back to its end", () => {
		const { take, shown, moveTo, progress, written } = createSubject();
		take(turnBegins);
		moveTo(7);
		expect(shown()).toBe("\nwaiting for the model, 0 s");
		expect(shown(1000)).toBe("waiting for the model, 1 s");
		progress.clear();
		expect(written.at(-1)).toBe(`${erase}\u001b[A\u001b[8G`);
	});

	it("comes once the text has stopped for a second, where its width is known", () => {
		const clock = createFakeClock();
		const cursor = createCursor(clock, () => 10);
		expect(cursor.column()).toBe(0);
		const columnAfter = (text: string, milliseconds = 1000) => {
			cursor.take(text);
			clock.advance(milliseconds);
			return cursor.column();
		};
		expect(columnAfter("abc", 500)).toBeNull();
		expect(columnAfter("de")).toBe(5);
		expect(columnAfter("fghijkl")).toBe(2);
		expect(columnAfter("\n日本")).toBe(4);
		expect(columnAfter("👍")).toBeNull();
		expect(columnAfter("\n0123456789")).toBeNull();
		expect(columnAfter("\n", 0)).toBe(0);
	});
});
