import { describe, expect, it } from "vitest";
import { UsageError } from "../arguments/usage-error.ts";
import { chooseSession, sessionListText } from "./session-choice.ts";

const sessions = [
	{ id: "b-2", workDir: "/w", title: "Mend the\u001b[31m tests", updatedAt: 2, archivedAt: null },
	{ id: "a-1", workDir: "/w", title: "Untitled", updatedAt: 1, archivedAt: null },
];

describe("sessionListText", () => {
	it("numbers the sessions, and removes terminal control characters", () => {
		expect(sessionListText("/w", sessions)).toBe(
			["Sessions of /w, the last used first:", "", "  1  b-2  Mend the\ufffd[31m tests", "  2  a-1  Untitled", ""].join(
				"\n",
			),
		);
	});

	it("shows a limited number and counts the others", () => {
		const many = Array.from({ length: 60 }, (_, index) => ({
			id: `s${index}`,
			workDir: "/w",
			title: "t",
			updatedAt: -index,
			archivedAt: null,
		}));
		const lines = sessionListText("/w", many).split("\n");
		expect(lines).toHaveLength(54);
		expect(lines.at(-2)).toBe("  … and 10 older ones.");
	});
});

function choose(answers: readonly (string | null)[], listed = sessions) {
	const left = [...answers];
	const shown: string[] = [];
	const chosen = chooseSession("-S", "/w", listed, {
		show: (text) => shown.push(text),
		ask: async () => left.shift() ?? null,
	});
	return { chosen, shown, left };
}

describe("chooseSession", () => {
	it.each([
		["1", "b-2"],
		[" 2 ", "a-1"],
		["a-1", "a-1"],
	])("reads %j as %s", async (answer, id) => {
		const { chosen, shown } = choose([answer]);
		expect(await chosen).toBe(id);
		expect(shown.join("")).toContain("  2  a-1  Untitled");
	});

	it("repeats the question for an answer that is not in the list", async () => {
		const { chosen, shown } = choose(["0", "3", "c", "2"]);
		expect(await chosen).toBe("a-1");
		expect(shown.filter((text) => text.includes("is not in the list"))).toHaveLength(3);
	});

	it.each([[["", "1"]], [[" "]], [[null, "1"]]])("returns null when nothing is chosen: %j", async (answers) => {
		expect(await choose(answers).chosen).toBeNull();
	});

	it("throws when there is no session", async () => {
		await expect(choose([], []).chosen).rejects.toThrow(UsageError);
		await expect(choose([], []).chosen).rejects.toThrow("-S: there is no earlier session in /w.");
	});
});
