import { describe, expect, it } from "vitest";
import type { Subject } from "../../api/values/subject.ts";
import { autoAllowPolicy, outsidePolicy } from "./sandbox-policy.ts";

const command = (more: object = {}): Subject => ({ kind: "command", text: "make", cwd: "/work", ...more });
const outside = command({ outsideSandbox: true });
const file: Subject = { kind: "file", operation: "write", path: "/work/a" };
const request = (...subjects: readonly Subject[]) => ({ action: "act", subjects, byDefault: "ask" }) as const;

describe("leaving the sandbox", () => {
	it("is asked about, whatever else a call acts on", async () => {
		for (const subjects of [[outside], [command(), outside], [file, outside]]) {
			expect(await outsidePolicy.decide(request(...subjects))).toMatchObject({ decision: "ask", by: "rule" });
		}
		expect(await outsidePolicy.decide(request(command(), file))).toBeNull();
	});

	it("is not allowed by allowing what is in it", async () => {
		expect(await autoAllowPolicy.decide(request(command()))).toMatchObject({ decision: "allow" });
		const others = [[outside], [command(), outside], [command(), file], [file], []];
		for (const subjects of others) expect(await autoAllowPolicy.decide(request(...subjects))).toBeNull();
	});
});
