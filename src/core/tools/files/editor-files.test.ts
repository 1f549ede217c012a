// The tools for files where a client's editor has the files of the workspace.
import { readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	call,
	createToolPlace,
	openCall,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import { allMedia } from "../../../../test/support/sessions/session-doubles.ts";
import { createReadFile } from "./read-file.ts";
import { createReadMediaFile } from "./read-media-file.ts";
import { createStringReplaceFile } from "./string-replace-file.ts";
import { createWriteFile } from "./write-file.ts";

let place: ToolPlace;
let asked: string[];
/** What the editor has, by path; it writes while `writes` says so. */
let buffers: Map<string, string>;
let writes: boolean;
/** The signals that it was given. */
let signals: AbortSignal[];
/** Called while it is asked. */
let whileAsked: () => void;

beforeEach(async () => {
	asked = [];
	buffers = new Map();
	writes = true;
	signals = [];
	whileAsked = () => {};
	place = await createToolPlace({
		editor: {
			async read(path, signal) {
				asked.push(`read ${path}`);
				signals.push(signal);
				whileAsked();
				return buffers.get(path) ?? null;
			},
			async write(path, text, signal) {
				asked.push(`write ${path}`);
				signals.push(signal);
				whileAsked();
				if (writes) buffers.set(path, text);
				return writes;
			},
		},
	});
});
afterEach(() => place.remove());

const onDisk = (path: string) => readFile(path, "utf8");

describe("ReadFile", () => {
	it("shows what is not saved yet", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "saved\n");
		buffers.set(file, "one\ntwo");
		const { output, message } = await call(createReadFile(place.environment), { path: "a.txt", line_offset: 2 });
		expect(output).toBe("     2\ttwo");
		expect(message).toContain("Total lines in file: 2.");
	});

	it("reads the disk where the editor gives nothing", async () => {
		await writeFile(place.at("work", "a.txt"), "saved\n");
		expect((await call(createReadFile(place.environment), { path: "a.txt" })).output).toBe("     1\tsaved\n");
	});

	it("shows a file that was never saved, and no empty one", async () => {
		buffers.set(place.at("work", "new.txt"), "unsaved\n");
		buffers.set(place.at("work", "empty.txt"), "");
		buffers.set(place.at("work", "new.png"), "text");
		const read = createReadFile(place.environment);
		expect((await call(read, { path: "new.txt" })).output).toBe("     1\tunsaved\n");
		expect((await call(read, { path: "empty.txt" })).message).toContain("does not exist");
		expect((await call(read, { path: "new.png" })).output).toBe("     1\ttext");
		expect((await call(read, { path: "other.txt" })).message).toContain("does not exist");
	});

	it("shows no more of an editor's text than of a file", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "");
		buffers.set(file, "line\n".repeat(2000));
		const { message } = await call(createReadFile(place.environment), { path: "a.txt" });
		expect(message).toContain("Max 1000 lines reached.");
	});

	it("reads the disk, by its rules, where a link took the place of the file since", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "one\n");
		await writeFile(place.at("work", ".env"), "KEY=1\n");
		const prepared = await prepareCall(createReadFile(place.environment), { path: "a.txt" });
		await rm(file);
		await symlink(place.at("work", ".env"), file);
		expect((await prepared.execute()).is_error).toBe(true);
		expect(asked).toEqual([]);
	});

	it("reads the disk where the file is not UTF-8, as changes do", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, Buffer.from("caf\xe9 = 1\n", "latin1"));
		buffers.set(file, "caf\ufffd = 1\n");
		expect((await call(createReadFile(place.environment), { path: "a.txt" })).output).toBe("     1\tcafé = 1\n");
		await call(createStringReplaceFile(place.environment), { path: "a.txt", edit: { old: "café", new: "thé" } });
		expect((await readFile(file)).toString("latin1")).toBe("th\xe9 = 1\n");
		expect(asked.filter((each) => each.startsWith("write"))).toEqual([]);
	});

	it("is told of a cancellation", async () => {
		await writeFile(place.at("work", "a.txt"), "one\n");
		const stopping = new AbortController();
		whileAsked = () => stopping.abort();
		const prepared = await prepareCall(createReadFile(place.environment), { path: "a.txt" });
		expect((await prepared.execute(stopping.signal)).message).toContain("cancelled");
		expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
	});

	it("asks the editor neither about files outside of the workspace, also by a link, nor about those of secrets", async () => {
		const outside = place.at("outside", "a.txt");
		await writeFile(outside, "outside\n");
		await symlink(outside, place.at("work", "link.txt"));
		await writeFile(place.at("work", ".env"), "KEY=1\n");
		const read = createReadFile(place.environment);
		expect((await call(read, { path: outside })).output).toContain("outside");
		expect((await call(read, { path: place.at("work", "link.txt") })).output).toContain("outside");
		expect((await call(read, { path: ".env" })).is_error).toBe(true);
		expect(asked).toEqual([]);
	});
});

describe("a change of a file", () => {
	it("is shown over what the editor has, and written by the editor", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "one\n");
		buffers.set(file, "one\nunsaved\n");
		const edit = createStringReplaceFile(place.environment);
		const prepared = await prepareCall(edit, { path: "a.txt", edit: { old: "unsaved", new: "new" } });
		expect(prepared.approval?.display).toMatchObject([{ old_text: "one\nunsaved", new_text: "one\nnew" }]);
		expect((await prepared.execute()).is_error).toBe(false);
		expect(buffers.get(file)).toBe("one\nnew\n");
		expect(await onDisk(file)).toBe("one\n");
	});

	it("is not made when the text in the editor has changed since it was shown", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "one\n");
		const prepared = await prepareCall(createWriteFile(place.environment), { path: "a.txt", content: "two\n" });
		buffers.set(file, "typed meanwhile\n");
		expect((await prepared.execute()).message).toContain("changed since this call was prepared");
		expect(asked.filter((each) => each.startsWith("write"))).toEqual([]);
	});

	it("is made on disk when the editor does not write it", async () => {
		writes = false;
		const file = place.at("work", "new.txt");
		await call(createWriteFile(place.environment), { path: "new.txt", content: "x\n" });
		expect(asked).toEqual([`read ${file}`, `read ${file}`, `write ${file}`]);
		expect(await onDisk(file)).toBe("x\n");
	});

	it("is shown over a file that was never saved", async () => {
		const file = place.at("work", "new.txt");
		buffers.set(file, "typed\n");
		const prepared = await prepareCall(createWriteFile(place.environment), { path: "new.txt", content: "x\n" });
		expect(prepared.approval?.display).toMatchObject([{ old_text: "typed", new_text: "x" }]);
		await prepared.execute();
		expect(buffers.get(file)).toBe("x\n");
	});

	it("appends to what is not saved yet, and writes the whole", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "saved\n");
		buffers.set(file, "saved\nunsaved\n");
		await call(createWriteFile(place.environment), { path: "a.txt", content: "added\n", mode: "append" });
		expect(buffers.get(file)).toBe("saved\nunsaved\nadded\n");
		expect(await onDisk(file)).toBe("saved\n");
	});

	it.each([
		["neither", "one\ntwo\n", "one\n2\n", "\ufeffone\r\n2\r\n"],
		["line ends alone", "one\r\ntwo\r\n", "one\r\n2\r\n", "\ufeffone\r\n2\r\n"],
		["the mark alone", "\ufeffone\ntwo\n", "\ufeffone\n2\n", "\ufeffone\r\n2\r\n"],
		["both", "\ufeffone\r\ntwo\r\n", "\ufeffone\r\n2\r\n", "\ufeffone\r\n2\r\n"],
		["mixed line ends", "one\r\ntwo\n", "one\r\n2\n", "\ufeffone\r\n2\n"],
	])("keeps line ends and byte order mark, of which the editor shows %s", async (_, shown, written, stored) => {
		const file = place.at("work", "a.txt");
		const edit = { path: "a.txt", edit: { old: "two", new: "2" } };
		await writeFile(file, "\ufeffone\r\ntwo\r\n");
		buffers.set(file, shown);
		await call(createStringReplaceFile(place.environment), edit);
		expect(buffers.get(file)).toBe(written);
		expect(await onDisk(file)).toBe("\ufeffone\r\ntwo\r\n");
		buffers.set(file, shown);
		writes = false;
		await call(createStringReplaceFile(place.environment), edit);
		expect(await onDisk(file)).toBe(stored);
	});

	it("gives an editor that shows no text the file as it is stored", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "\ufeffone\r\n");
		await call(createStringReplaceFile(place.environment), { path: "a.txt", edit: { old: "one", new: "two" } });
		expect(buffers.get(file)).toBe("\ufefftwo\r\n");
	});

	it("is made on disk outside of the workspace, and where the file is not text", async () => {
		const outside = place.at("outside", "a.txt");
		const binary = place.at("work", "b.bin");
		await writeFile(binary, Buffer.from([0xff, 0xfe, 0x00]));
		await symlink(outside, place.at("work", "link.txt"));
		const write = createWriteFile(place.environment);
		await call(write, { path: outside, content: "x" });
		await call(write, { path: place.at("work", "link.txt"), content: "y" });
		await call(write, { path: "b.bin", content: "text" });
		expect(await Promise.all([outside, binary].map(onDisk))).toEqual(["y", "text"]);
		expect(asked).toEqual([]);
	});

	it("of a file that may hold secrets, or that a rule denies to be read, is made on disk", async () => {
		const denied = place.at("work", "denied.txt");
		const { secrets } = place.environment;
		const forMany = (): ReturnType<typeof secrets.forMany> => ({
			...secrets.forMany(),
			kindOf: async (resolved) => (resolved === denied ? "rule" : await secrets.kindOf(resolved)),
		});
		const environment = { ...place.environment, secrets: { ...secrets, forMany } };
		for (const name of [".env", "denied.txt"]) {
			const file = place.at("work", name);
			await writeFile(file, "KEY=1\n");
			buffers.set(file, "KEY=2\n");
			const write = await prepareCall(createWriteFile(environment), { path: name, content: "KEY=3\n" });
			expect(write.approval?.display).toMatchObject([{ old_text: "KEY=1", new_text: "KEY=3" }]);
			await write.execute();
			expect(await onDisk(file)).toBe("KEY=3\n");
		}
		expect(asked).toEqual([]);
	});

	it("of the plan file is made on disk, where the plan is read", async () => {
		const plan = place.at("work", "plan.md");
		const environment = { ...place.environment, plan: { ...place.environment.plan, file: () => plan } };
		await call(createWriteFile(environment), { path: plan, content: "1. Go\n" });
		await call(createStringReplaceFile(environment), { path: plan, edit: { old: "Go", new: "Come" } });
		expect(await onDisk(plan)).toBe("1. Come\n");
		expect(asked).toEqual([]);
	});

	it("is refused where the editor's text is too large, as on disk", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "one\n");
		buffers.set(file, "é".repeat(32 * 1024 * 1024 + 1));
		const { message } = await call(createWriteFile(place.environment), { path: "a.txt", content: "two\n" });
		expect(message).toContain("`a.txt` is too large to be changed: 67108866 bytes.");
	});

	it("asks nothing about a file that is too large on disk, or read-only", async () => {
		const file = place.at("work", "a.txt");
		await writeFile(file, "one\n", { mode: 0o444 });
		await writeFile(place.at("work", "large.txt"), "");
		await truncate(place.at("work", "large.txt"), 64 * 1024 * 1024 + 1);
		const write = createWriteFile(place.environment);
		expect((await call(write, { path: "a.txt", content: "x" })).message).toContain("is read-only");
		expect((await call(write, { path: "large.txt", content: "x" })).message).toContain("too large to be changed");
		expect(asked).toEqual([]);
	});

	it.each(["read", "write"])(
		"writes nothing, also not to disk, when it is cancelled during the editor's %s",
		async (during) => {
			const file = place.at("work", "a.txt");
			await writeFile(file, "one\n");
			writes = false;
			const prepared = await prepareCall(createWriteFile(place.environment), { path: "a.txt", content: "two\n" });
			const stopping = new AbortController();
			whileAsked = () => {
				if (asked.at(-1)?.startsWith(during) === true) stopping.abort();
			};
			expect((await prepared.execute(stopping.signal)).message).toContain("cancelled");
			expect(await onDisk(file)).toBe("one\n");
			expect(signals.at(-1)?.aborted).toBe(true);
		},
	);

	it("is prepared with the signal of the turn", async () => {
		await writeFile(place.at("work", "a.txt"), "one\n");
		const stopping = new AbortController();
		await openCall(createWriteFile(place.environment), { path: "a.txt", content: "x" }, stopping.signal);
		await openCall(createReadFile(place.environment), { path: "new.txt" }, stopping.signal);
		stopping.abort();
		expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
	});
});

it("media are read from disk", async () => {
	const media = createReadMediaFile({ ...place.environment, media: allMedia });
	await writeFile(place.at("work", "a.txt"), "text");
	if (media !== null) await call(media, { path: "a.txt" });
	expect(asked).toEqual([]);
});
