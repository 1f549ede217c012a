// Approvals cover what was shown: also when links change while somebody is asked, when several requests are open, and when they
// come back from disk.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse } from "../support/executable/running-server.ts";

const stateFile = (stage: Stage, id: string) => path.join(stage.sessionDir(id), "state.json");

/** Makes a session, replaces its approvals for the session in `state.json`, and says whether a command is asked about then. */
async function isAskedAbout(grants: unknown, command: string): Promise<boolean> {
	const stage = createStage({ scripts: ["text: hello"] });
	const first = stage.serve("--wire");
	first.prompt("go", "p");
	await first.readUntil((line) => isResponse(line, "p"));
	first.endInput();
	await first.exited;
	const [id = ""] = stage.sessionIds();
	const state = JSON.parse(readFileSync(stateFile(stage, id), "utf8"));
	state.approval = { ...state.approval, auto_approve_actions: grants };
	writeFileSync(stateFile(stage, id), JSON.stringify(state));
	stage.setScripts([toolCall("c", "Shell", { command }), "text: done"]);
	const second = stage.serve("--wire", "--session", id);
	second.prompt("go", "p");
	let asked = false;
	await second.readUntil((line) => {
		if (line.params?.type === "ApprovalRequest" && typeof line.id === "string") {
			asked = true;
			second.answer(line.id, { request_id: line.id, response: "reject" });
		}
		return isResponse(line, "p");
	});
	second.endInput();
	expect(await second.exited).toBe(0);
	expect(existsSync(path.join(stage.workDir, "made"))).toBe(!asked);
	return asked;
}

describe("an approval for the session that was stored", () => {
	it("covers what it names, after the session was continued", async () => {
		expect(await isAskedAbout(["Shell(touch made)"], "touch made")).toBe(false);
	});

	it.each<[string, unknown]>([
		["the old key of all commands", ["run command"]],
		["a glob", ["*", "S*", "Shell*"]],
		["a broken pattern", ["Shell(touch", "Shell(touch:*", ")", "", " ", "Shell()"]],
		["other types than texts", [1, null, {}, ["Shell(touch:*)"], true]],
		["a text in place of a list", "Shell(touch:*)"],
		["null in place of a list", null],
		["an object in place of a list", { 0: "Shell(touch:*)" }],
		["another program", ["Shell(touching:*)", "Shell(tou:*)"]],
		["a pattern with a NUL", ["Shell(touch\u0000:*)"]],
		["a very long pattern", [`Shell(${"a".repeat(1_000_000)}:*)`]],
	])("covers nothing more: %s", async (_name, grants) => {
		expect(await isAskedAbout(grants, "touch made")).toBe(true);
	});

	it.each([
		"touch made; rm x",
		"touch made && $(rm x)",
		"touch $(rm x) made",
		"env touch made; rm x",
		"touch made | sh",
	])("does not cover other commands beside it: %s", async (command) => {
		expect(await isAskedAbout(["Shell(touch:*)"], command)).toBe(true);
	});

	it("are read in bounded time, however many there are", async () => {
		const many = Array.from({ length: 20_000 }, (_, index) => `Shell(program-${index}:*)`);
		expect(await isAskedAbout(many, "touch made")).toBe(true);
	});
});

describe("an approval", () => {
	/** Asks about a write through a link, and leads the link elsewhere before the answer. */
	async function swap(call: string, into: string): Promise<{ readonly elsewhere: boolean; readonly shown: string }> {
		const stage = createStage({ scripts: [call, "text: done"] });
		const [shown, other] = ["shown", "other"].map((name) => path.join(stage.workDir, name)) as [string, string];
		for (const directory of [shown, other]) {
			mkdirSync(directory);
			writeFileSync(path.join(directory, "file"), "before");
		}
		const link = path.join(stage.workDir, "link");
		symlinkSync(shown, link);
		const server = stage.serve("--wire");
		server.prompt("go", "p");
		let text = "";
		await server.readUntil((line) => {
			if (line.params?.type === "ApprovalRequest" && typeof line.id === "string") {
				text = JSON.stringify(line.params);
				rmSync(link);
				symlinkSync(other, link);
				server.answer(line.id, { request_id: line.id, response: into });
			}
			return isResponse(line, "p");
		});
		server.endInput();
		await server.exited;
		return { elsewhere: readFileSync(path.join(other, "file"), "utf8") !== "before", shown: text };
	}

	it.each([
		["WriteFile", { path: "link/file", content: "after" }],
		["StrReplaceFile", { path: "link/file", edit: { old: "before", new: "after" } }],
	])("of %s through a link changes no file that it did not show", async (name, args) => {
		for (const response of ["approve", "approve_for_session"]) {
			const { elsewhere, shown } = await swap(toolCall("c", name, args), response);
			expect(elsewhere, shown).toBe(false);
		}
	});

	it("for the session settles the other open requests that it covers, and no others", async () => {
		const scripts = [
			[
				toolCall("a", "Shell", { command: "touch first" }),
				toolCall("b", "Shell", { command: "touch first" }),
				toolCall("c", "Shell", { command: "mkdir other" }),
			].join("\n"),
			"text: done",
		];
		const stage = createStage({ scripts });
		const server = stage.serve("--wire");
		server.prompt("go", "p");
		const asked: string[] = [];
		await server.readUntil((line) => {
			if (line.params?.type === "ApprovalRequest" && typeof line.id === "string") {
				const text = JSON.stringify(line.params);
				const isFirst = text.includes("touch first");
				asked.push(isFirst ? "first" : "other");
				server.answer(line.id, { request_id: line.id, response: isFirst ? "approve_for_session" : "reject" });
			}
			return isResponse(line, "p");
		});
		server.endInput();
		await server.exited;
		expect(asked.filter((each) => each === "other")).toHaveLength(1);
		expect(existsSync(path.join(stage.workDir, "first"))).toBe(true);
		expect(existsSync(path.join(stage.workDir, "other"))).toBe(false);
	});
});
