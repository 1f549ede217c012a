import { describe, expect, it } from "vitest";
import { history, nameIn, predates, renamedTo, sinceOf, undocumented, wireVersions } from "./history.ts";
import { type MessageType, messageDeclarations } from "./message.ts";
import { toMessageType } from "./message-names.ts";
import { protocolVersion } from "./protocol-version.ts";

const types = Object.keys(messageDeclarations).flatMap((name) => toMessageType(name) ?? []);

describe("the history of Kimi Wire", () => {
	it("lists the versions from the first to ours, in ascending order", () => {
		expect(wireVersions[0]).toBe("1.0");
		expect(wireVersions.at(-1)).toBe(protocolVersion);
		for (const [index, version] of wireVersions.entries()) {
			for (const [other, { version: later }] of history.entries()) {
				expect([version, later, predates(version, sampleOf(later))]).toEqual([version, later, index < other]);
			}
		}
	});

	it("contains every message exactly once, or lists it as undocumented", () => {
		const named = history.flatMap(({ messages }): readonly string[] => messages);
		for (const type of types) {
			const listed = [...named, ...undocumented].filter((name) => name === type);
			expect([type, listed.length]).toEqual([type, 1]);
		}
		expect(new Set(named).size).toBe(named.length);
	});

	it.each<[string | number, string | null]>([
		["prompt", "1.0"],
		["initialize", "1.1"],
		["replay", "1.3"],
		["set_plan_mode", "1.4"],
		["TurnEnd", "1.2"],
		["ApprovalRequestResolved", "1.0"],
		["ApprovalResponse", "1.1"],
		["StepRetry", "1.10"],
		["ApprovalRequest.source_kind", "1.6"],
		[-32004, "1.8"],
		["Notification", null],
		["constructor", null],
	])("returns the first version of %s: %s", (what, since) => expect(sinceOf(what)).toBe(since));

	it("knows the renamed messages and fields", () => {
		expect(renamedTo("ApprovalRequestResolved")).toBe("ApprovalResponse");
		expect(renamedTo("SubagentEvent.task_tool_call_id")).toBe("SubagentEvent.parent_tool_call_id");
		expect([renamedTo("ApprovalResponse"), renamedTo("__proto__"), renamedTo("toString")]).toEqual([null, null, null]);
	});
});

describe("the messages of a version", () => {
	const known = (version: (typeof wireVersions)[number]) => types.flatMap((type) => nameIn(version, type) ?? []);

	it("are those of the table for Wire 1.0, under their former names", () => {
		expect(known("1.0").sort()).toEqual(
			[
				...["ApprovalRequest", "ApprovalRequestResolved", "CompactionBegin", "CompactionEnd", "ContentPart"],
				...["StatusUpdate", "StepBegin", "StepInterrupted", "SubagentEvent"],
				...["ToolCall", "ToolCallPart", "ToolResult", "TurnBegin"],
			].sort(),
		);
	});

	it("are in 1.2 what the Go client decodes", () => {
		const added = known("1.2").filter((name) => !known("1.0").includes(name));
		expect(added.sort()).toEqual(["ApprovalResponse", "ToolCallRequest", "TurnEnd"]);
	});

	it("only grow from version to version", () => {
		for (const type of types) {
			const first = wireVersions.findIndex((version) => nameIn(version, type) !== null);
			const later = wireVersions.slice(first === -1 ? wireVersions.length : first);
			expect(later.filter((version) => nameIn(version, type) === null)).toEqual([]);
		}
	});

	it("are all documented ones in the newest version", () => {
		const missing = types.filter((type: MessageType) => nameIn(protocolVersion, type) !== type);
		expect(missing).toEqual(["MCPLoadingBegin", "MCPLoadingEnd", "Notification"]);
	});
});

describe("the age of a client's declared version", () => {
	it.each<[string, boolean]>([
		["1", true],
		["1.0", true],
		["1.5", true],
		["1.6", false],
		["1.10", false],
		["2", false],
		["0.9", true],
		["", false],
		["latest", false],
		["1.5.1", false],
		[" 1.5", false],
		["-1", false],
		["1.55555555555555555555", false],
	])("%j is older than 1.6: %s", (version, isOlder) => {
		expect(predates(version, "SubagentEvent.parent_tool_call_id")).toBe(isOlder);
	});

	it("is irrelevant for a message that no version lists", () => expect(predates("1.0", "Notification")).toBe(false));
});

/** Something that this version brought. */
function sampleOf(version: string): string {
	const entry = history.find((one) => one.version === version);
	const [sample] = [...(entry?.messages ?? []), ...(entry?.methods ?? []), ...(entry?.fields ?? [])];
	if (sample === undefined) throw new Error(version);
	return sample;
}
