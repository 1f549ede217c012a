import { symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolPlace, type ToolPlace } from "../../../test/support/host/tool-environment.ts";
import { type ContentPart, type ToolCall, textPart } from "../../api/values/content.ts";
import type { HistoryEntry, MessageRole } from "../../api/values/conversation.ts";
import { type ExportedConversation, type ExportPlace, exportConversation, toMarkdown } from "./conversation-export.ts";

function say(role: MessageRole, ...parts: readonly (string | ContentPart)[]): HistoryEntry {
	return { role, content: parts.map((part) => (typeof part === "string" ? textPart(part) : part)) };
}

function calling(id: string, name: string, text: string | null): HistoryEntry {
	const call: ToolCall = { type: "function", id, function: { name, arguments: text }, extras: null };
	return { role: "assistant", content: [], toolCalls: [call] };
}

const result = (toolCallId: string, ...parts: readonly (string | ContentPart)[]): HistoryEntry => ({
	...say("tool", ...parts),
	toolCallId,
});

const image = (url: string): ContentPart => ({ type: "image_url", image_url: { url, id: null } });

/** What follows the facts. */
function body(...messages: readonly HistoryEntry[]): string {
	const text = markdownOf({ ...facts, messages });
	return text
		.slice(text.indexOf("- Tokens in the context: 12\n\n") + "- Tokens in the context: 12\n\n".length)
		.trimEnd();
}

function markdownOf(conversation: ExportedConversation): string {
	return [...toMarkdown(conversation)].join("");
}

const facts = {
	sessionId: "0d5c1234-aaaa",
	title: "Mend the\nbuild",
	workDir: "/home/me/project",
	now: Date.UTC(2026, 10, 21, 7, 8, 9),
	tokenCount: 12,
	modelName: "k2",
};

describe("toMarkdown", () => {
	it("begins with its marker, the title and the metadata", () => {
		const text = markdownOf({ ...facts, messages: [say("user", "Hi")] });
		expect(text.split("\n").slice(0, 12)).toEqual([
			"<!-- A conversation, exported by agentwire -->",
			"",
			"# Mend the build",
			"",
			"- Session: `0d5c1234-aaaa`",
			"- Work directory: `/home/me/project`",
			"- Exported: 2026-11-21T07:08:09.000Z",
			"- Model: `k2`",
			"- Messages: 1",
			"- Tokens in the context: 12",
			"",
			"## Turn 1",
		]);
		expect(text.endsWith("Hi\n")).toBe(true);
	});

	it("works without title, model and messages", () => {
		const text = markdownOf({ ...facts, title: " ", modelName: null, messages: [] });
		expect(text).toContain("\n# Conversation\n");
		expect(text).not.toContain("Model");
		expect(text.endsWith("*Nothing has been said yet.*\n")).toBe(true);
	});

	it("shows turns, reasoning, calls and results", () => {
		const answer = say("assistant", { type: "think", think: "First\n\nlook", encrypted: "x" }, "I look.");
		const text = body(
			say("user", "Look"),
			{ ...answer, toolCalls: calling("c1", "Shell", '{"command":"ls","n":1}').toolCalls ?? [] },
			result("c1", "<system>Done.</system>", "a.txt\n"),
			say("assistant", "One file."),
			say("user", "Thanks"),
		);
		expect(text).toBe(
			[
				"## Turn 1\n\n### User\n\nLook",
				"### Assistant\n\n*Thinking:*\n\n> First\n>\n> look\n\nI look.",
				'**Call of `Shell`** (`c1`)\n\n```json\n{\n  "command": "ls",\n  "n": 1\n}\n```',
				"**Result of `Shell`** (`c1`)\n\n```\n<system>Done.</system>\na.txt\n```",
				"### Assistant\n\nOne file.",
				"## Turn 2\n\n### User\n\nThanks",
			].join("\n\n"),
		);
	});

	it("adds steers to the running turn, and starts a new turn after one without an answer", () => {
		const text = body(
			say("user", "Start"),
			calling("c1", "Shell", "{}"),
			result("c1", "x"),
			say("user", "Stop after this"),
			say("user", "and be brief"),
			say("assistant", "Done"),
			say("user", "Cancelled at once"),
			say("user", "Go on"),
		);
		expect(text.match(/## (Turn \d|User)/g)).toEqual(
			["Turn 1", "User", "User", "User", "Turn 2", "User", "Turn 3", "User"].map((name) => `## ${name}`),
		);
	});

	it("omits reminders and notifications, and marks texts of the program for the model", () => {
		const text = body(
			say("user", "<system-reminder>\nPlan mode is on.\n</system-reminder>"),
			say("user", '<notification id="n1">\nTitle\n</notification>'),
			say("user", "<system>Earlier context:</system>", "Three questions were answered."),
			say("system", "Be brief."),
			say("user", "Go", "<system-reminder>\nPlan mode is on.\n</system-reminder>"),
		);
		expect(text).toBe(
			[
				"### Note to the model\n\n<system>Earlier context:</system>\n\nThree questions were answered.",
				"### Note to the model\n\nBe brief.",
				"## Turn 1\n\n### User\n\nGo",
			].join("\n\n"),
		);
	});

	it("fences arguments and results with more backticks than they contain", () => {
		const text = body(
			calling("c1", "WriteFile", '{"content":"```\\n````"}'),
			result("c1", "````js"),
			calling("c2", "Broken", '{"cut'),
			calling("c3", "Deep", "[".repeat(100_000) + "]".repeat(100_000)),
			calling("c4", "Bare", null),
			result("c9", "of nobody"),
			result("c4"),
		);
		expect(text).toContain('`````json\n{\n  "content": "```\\n````"\n}\n`````');
		expect(text).toContain("`````\n````js\n`````");
		expect(text).toContain('**Call of `Broken`** (`c2`)\n\n```\n{"cut\n```');
		expect(text).toContain(`**Call of \`Deep\`** (\`c3\`)\n\n\`\`\`\n${"[".repeat(100_000)}`);
		expect(text).toContain("**Result** (`c9`)\n\n```\nof nobody\n```");
		expect(
			text.endsWith(
				"**Call of `Bare`** (`c4`)\n\n**Result** (`c9`)\n\n```\nof nobody\n```\n\n**Result of `Bare`** (`c4`)\n\n*Nothing.*",
			),
		).toBe(true);
	});

	it("shows first and last lines of a long result, and truncates long lines", () => {
		const lines = Array.from({ length: 100 }, (_, n) => `line ${n + 1}`);
		const text = body(result("c1", [...lines, "x".repeat(10_000)].join("\n")));
		expect(text).toContain("line 30\n[... 61 lines left out ...]\nline 92\n");
		expect(text).not.toContain("line 31\n");
		expect(text.length).toBeLessThan(1500);
		expect(text.endsWith("x [...]\n```")).toBe(true);
		const whole = lines.slice(0, 41).join("\n");
		expect(body(result("c1", whole))).toContain(`\`\`\`\n${whole}\n\`\`\``);
	});

	it("names media without their data", () => {
		const text = body(
			say("user", "See", image("data:image/png;base64,AAAA"), image("data:,AAAA"), image("https://example.org/a.png")),
			result("c1", { type: "video_url", video_url: { url: "DATA:video/mp4;base64,AAAA", id: null } }),
			say("assistant", { type: "audio_url", audio_url: { url: "file:///a.mp3", id: "a" } }),
		);
		expect(text).toContain("See\n\n*[image: image/png]*\n\n*[image]*\n\n*[image: `https://example.org/a.png`]*");
		expect(text).toContain("(`c1`)\n\n*[video: video/mp4]*");
		expect(text).toContain("*[audio: `file:///a.mp3`]*");
		expect(text).not.toContain("AAAA");
	});

	it("shortens imported text", () => {
		const text = body(say("user", `<imported_context source="a">\n${"more\n".repeat(1000)}</imported_context>`));
		expect(text.startsWith("### Note to the model\n\n```\n<imported_context")).toBe(true);
		expect(text.length).toBeLessThan(500);
	});

	it("prevents a message from swallowing the next one", () => {
		expect(body(say("user", "```\nopen"), say("assistant", "~~~\nopen"))).toContain(
			"```\nopen\n```\n\n### Assistant\n\n~~~\nopen\n~~~",
		);
	});

	it("omits empty messages", () => {
		expect(
			body(say("user"), say("assistant", ""), say("assistant", { type: "think", think: " ", encrypted: "x" })),
		).toBe("*Nothing has been said yet.*");
	});
});

describe("exportConversation", () => {
	let place: ToolPlace;
	let exportPlace: ExportPlace;
	const name = "kimi-export-0d5c1234-20260307-040509.md";
	const markdown = markdownOf({ ...facts, messages: [] });

	beforeEach(async () => {
		place = await createToolPlace();
		const { files, workDir, home } = place.environment;
		exportPlace = { files, workDir, home, now: new Date(2026, 2, 7, 4, 5, 9).getTime(), sessionId: facts.sessionId };
	});
	afterEach(() => place.remove());

	const read = async (...names: readonly string[]) => (await exportPlace.files.read(place.at(...names)))?.toString();

	it.each([
		["", ["work", name]],
		["  ", ["work", name]],
		["talk.md", ["work", "talk.md"]],
		["../outside", ["outside", name]],
		["~/talk", ["home", "talk"]],
		["~", ["home", name]],
	])("writes %j to %j", async (target, expected) => {
		const done = await exportConversation(target, exportPlace, [markdown]);
		expect(done).toEqual({ ok: true, path: place.at(...expected) });
		expect(await read(...expected)).toBe(markdown);
	});

	it("accepts an absolute path", async () => {
		expect(await exportConversation(place.at("outside", "x.md"), exportPlace, [markdown])).toMatchObject({ ok: true });
		expect(await read("outside", "x.md")).toBe(markdown);
	});

	it("replaces an earlier export, and nothing else", async () => {
		await exportConversation("talk.md", exportPlace, [markdown]);
		expect(await exportConversation("talk.md", exportPlace, [`${markdown}more\n`])).toMatchObject({ ok: true });
		expect(await read("work", "talk.md")).toBe(`${markdown}more\n`);
		for (const [file, content] of [
			["mine.md", "# Mine\n"],
			["empty", ""],
		] as const) {
			await writeFile(place.at("work", file), content);
			expect(await exportConversation(file, exportPlace, [markdown])).toEqual({
				ok: false,
				reason: `${place.at("work", file)} is there already and is no export. Give another name, or remove it first.`,
			});
			expect(await read("work", file)).toBe(content);
		}
		await symlink("mine.md", place.at("work", "link.md"));
		expect(await exportConversation("link.md", exportPlace, [markdown])).toMatchObject({ ok: false });
	});

	it("creates nothing through a link, and names the target of a link to an earlier export", async () => {
		await symlink(place.at("home", ".bashrc"), place.at("work", "new.md"));
		expect(await exportConversation("new.md", exportPlace, [markdown])).toEqual({
			ok: false,
			reason: `${place.at("work", "new.md")} is a link to ${place.at("home", ".bashrc")}, which does not exist. Give another name, or remove the link first.`,
		});
		await exportConversation("first.md", exportPlace, [markdown]);
		await symlink("first.md", place.at("work", "again.md"));
		expect(await exportConversation("again.md", exportPlace, [markdown])).toEqual({
			ok: true,
			path: place.at("work", "first.md"),
		});
	});

	it.each([
		["none/talk.md", "There is no directory ROOT/work/none."],
		["none/", "There is no directory ROOT/work/none."],
		["a\0b", "A file path must not contain a NUL character."],
	])("reports why not: %j", async (target, reason) => {
		const done = await exportConversation(target, exportPlace, [markdown]);
		expect(done).toEqual({ ok: false, reason: reason.replace("ROOT", place.root) });
		expect(await exportPlace.files.list(place.at("work"))).toEqual([]);
	});

	it("lets other work go on while a very large context is written", async () => {
		const messages = [say("user", 'a\n"b'.repeat(3_000_000)), say("assistant", "word ".repeat(3_000_000))];
		let length = 0;
		let pieces = 0;
		let stretches = 0;
		const files = {
			...exportPlace.files,
			async replaceByPieces(_target: string, content: AsyncIterable<Uint8Array>) {
				const count = () => {
					stretches += 1;
					turn = setImmediate(count);
				};
				let turn = setImmediate(count);
				for await (const piece of content) {
					length += piece.length;
					pieces += 1;
				}
				clearImmediate(turn);
			},
		};
		const text = toMarkdown({ ...facts, messages });
		expect(await exportConversation("", { ...exportPlace, files }, text)).toMatchObject({ ok: true });
		expect(length).toBeGreaterThan(27_000_000);
		expect(pieces).toBeGreaterThan(50);
		expect(stretches).toBeGreaterThan(2);
	});

	it("reports the error of the disk", async () => {
		const failing = { ...exportPlace.files, replaceByPieces: () => Promise.reject(new Error("ENOSPC: no space")) };
		expect(await exportConversation("", { ...exportPlace, files: failing }, [markdown])).toEqual({
			ok: false,
			reason: `The export could not be written to ${path.join(place.root, "work")}: ENOSPC: no space`,
		});
	});
});
