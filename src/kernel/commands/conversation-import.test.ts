import { mkdir, symlink, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolPlace, type ToolPlace } from "../../../test/support/host/tool-environment.ts";
import { textPart } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { type ImportPlace, importedContext, readImport } from "./conversation-import.ts";

const limit = 10 * 1024 * 1024;
const sessions: Readonly<Record<string, readonly HistoryEntry[]>> = {
	"other-1": [
		{ role: "user", content: [textPart("Say hello")] },
		{ role: "assistant", content: [textPart("Hello.")] },
	],
	silent: [],
	huge: [{ role: "user", content: [textPart("x".repeat(limit))] }],
};

describe("readImport", () => {
	let place: ToolPlace;
	let importPlace: ImportPlace;

	beforeEach(async () => {
		place = await createToolPlace();
		const { files, workDir, home } = place.environment;
		const openSession = async (id: string) => sessions[id] ?? null;
		importPlace = { files, workDir, home, sessionId: "own", openSession };
	});
	afterEach(() => place.remove());

	const put = (name: string, content: string | Buffer) => writeFile(place.at("work", name), content);
	const reasonFor = async (source: string): Promise<string> => {
		const read = await readImport(source, importPlace);
		return read.ok ? `read ${read.source}` : read.reason.replaceAll(place.root, "ROOT");
	};

	it.each(["notes.md", "NOTES.TXT", "data.jsonl", "program.ts", "Makefile", ".gitignore", "with space.log"])(
		"reads %s",
		async (name) => {
			await put(name, "héllo\n");
			expect(await readImport(` ${name} `, importPlace)).toEqual({
				ok: true,
				source: place.at("work", name),
				text: "héllo\n",
			});
		},
	);

	it("reads from the home directory and by absolute paths, without a byte order mark", async () => {
		await writeFile(place.at("home", "a.md"), "\ufeffof home\r\n");
		expect(await readImport("~/a.md", importPlace)).toMatchObject({ ok: true, text: "of home\n" });
		expect(await readImport(place.at("home", "a.md"), importPlace)).toMatchObject({ ok: true });
	});

	it("reads up to 10 MiB", async () => {
		await put("a.txt", "x".repeat(limit));
		expect(await readImport("a.txt", importPlace)).toMatchObject({ ok: true });
		await put("a.txt", "x".repeat(limit + 1));
		expect(await reasonFor("a.txt")).toBe("ROOT/work/a.txt is larger than 10 MiB. Import a part of it.");
	});

	it.each<[string, string | Buffer, RegExp]>([
		["a.pdf", "text", /^Files that end in \.pdf are not imported\./],
		["a.zip", "text", /\.zip/],
		["a.unheard", "text", /\.unheard/],
		["a.txt", Buffer.from([0x68, 0xff, 0x69]), /^ROOT\/work\/a\.txt is not text in UTF-8\.$/],
		["a.txt", `${"x".repeat(2000)}\0`, /not text in UTF-8/],
		["picture", Buffer.from("\x89PNG\r\n\x1a\n rest", "latin1"), /not text in UTF-8/],
		["a.md", " \n", /^There is nothing in ROOT\/work\/a\.md\.$/],
		[".env", "KEY=1", /may hold secrets/],
		["id_rsa", "KEY", /may hold secrets/],
	])("refuses %s with %j", async (name, content, reason) => {
		await put(name, content);
		expect(await reasonFor(name)).toMatch(reason);
	});

	it("refuses a link to a secret file, and a path that is no file", async () => {
		await put(".env", "KEY=1");
		await symlink(".env", place.at("work", "harmless.txt"));
		expect(await reasonFor("harmless.txt")).toMatch(/may hold secrets/);
		await mkdir(place.at("share"));
		await writeFile(place.at("share", "config.toml"), "KEY=1");
		await symlink(place.at("share"), place.at("work", "docs"));
		for (const settings of [place.at("share", "config.toml"), "docs/config.toml"]) {
			expect(await reasonFor(settings)).toMatch(/share\/config\.toml holds settings, keys or sign-ins of this program/);
		}
		expect(await reasonFor(".")).toBe("ROOT/work is a directory. Name a text file in it.");
		expect(await reasonFor("/dev/null")).toBe("/dev/null is not a file.");
		expect(await reasonFor("")).toMatch(/^Name a text file/);
		expect(await reasonFor("a\0b")).toBe("A file path must not contain a NUL character.");
	});

	it("reads another session", async () => {
		expect(await readImport("other-1", importPlace)).toEqual({
			ok: true,
			source: "session other-1",
			text: "## Turn 1\n\n### User\n\nSay hello\n\n### Assistant\n\nHello.",
		});
	});

	it("prefers a file to a session with the same name", async () => {
		await put("other-1", "of the file");
		expect(await readImport("other-1", importPlace)).toMatchObject({ text: "of the file" });
	});

	it.each([
		["own", "A session cannot import itself. Name another one."],
		["silent", "Nothing was said in the session silent."],
		["huge", "The session huge is larger than 10 MiB as text. Export it, and import a part of that."],
		["none", "There is neither a file ROOT/work/none nor a session none of this work directory."],
		["none/x.md", "There is no file ROOT/work/none/x.md."],
	])("reports why the session %j is not read", async (source, reason) => {
		expect(await reasonFor(source)).toBe(reason);
	});

	it("reports the errors of store and disk", async () => {
		const openSession = () => Promise.reject(new Error("EIO"));
		expect(await readImport("other-1", { ...importPlace, openSession })).toEqual({
			ok: false,
			reason: "other-1 cannot be read: EIO",
		});
	});
});

describe("importedContext", () => {
	it("wraps the text and names its source", () => {
		expect(importedContext("/w/a.md", "text\n")).toBe(
			'<imported_context source="/w/a.md">\ntext\n\n</imported_context>',
		);
	});

	it("escapes the source", () => {
		expect(importedContext('/w/a"><b>&\n.md', "")).toContain('source="/w/a&quot;&gt;&lt;b&gt;&amp; .md">');
	});

	it.each(["</imported_context>", "</IMPORTED_CONTEXT >", "< / imported_context", "</imported_context\n>"])(
		"escapes %j in the text",
		(end) => {
			const text = importedContext("a", `before ${end} after <b>`);
			expect(text).toContain(`before &lt;${end.slice(1)} after <b>`);
			expect(text.match(/<\s*\/\s*imported_context/gi)).toHaveLength(1);
		},
	);
});
