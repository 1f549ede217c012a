import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import type { EditorFiles } from "../../api/editor-files.ts";
import { guardEditor } from "./editor-files.ts";

const never = new AbortController().signal;

function createSubject(files: EditorFiles) {
	const clock = createFakeClock();
	const log = createMemoryLog();
	const logged = () => log.lines.map(({ message }) => message);
	return { clock, logged, editor: guardEditor(files, { clock, log }) };
}

/** An editor that never answers, and the signals that it was given. */
function createHangingFiles() {
	const signals: AbortSignal[] = [];
	const hang = (signal: AbortSignal) => {
		signals.push(signal);
		return new Promise<never>(() => {});
	};
	const files: EditorFiles = { read: (_, signal) => hang(signal), write: (_, __, signal) => hang(signal) };
	return { files, signals };
}

describe("a guarded editor", () => {
	it("gives the editor's texts and writes", async () => {
		const written: string[] = [];
		const { editor, logged } = createSubject({
			read: async (path) => `text of ${path}`,
			write: async (path, text) => written.push(`${path}: ${text}`) > 0,
		});
		expect(await editor.read("/work/a", never)).toBe("text of /work/a");
		expect(await editor.write("/work/a", "x", never)).toBe(true);
		expect(written).toEqual(["/work/a: x"]);
		expect(logged()).toEqual([]);
	});

	it("leaves to the disk what the editor does not do or refuses", async () => {
		const unable = createSubject({});
		expect(await unable.editor.read("/work/a", never)).toBeNull();
		expect(await unable.editor.write("/work/a", "x", never)).toBe(false);
		const refusing = createSubject({ read: async () => null, write: async () => false });
		expect(await refusing.editor.read("/work/a", never)).toBeNull();
		expect(await refusing.editor.write("/work/a", "x", never)).toBe(false);
		expect([...unable.logged(), ...refusing.logged()]).toEqual([]);
	});

	it.each([
		["rejects", () => Promise.reject(new Error("closed"))],
		[
			"throws",
			() => {
				throw new Error("closed");
			},
		],
	])("leaves to the disk what fails, and logs it: it %s", async (_, fail) => {
		const { editor, logged } = createSubject({ read: fail, write: fail });
		expect(await editor.read("/work/a", never)).toBeNull();
		expect(await editor.write("/work/a", "x", never)).toBe(false);
		expect(logged()).toEqual([
			"The editor could not read a file; the disk is used.",
			"The editor could not write a file; the disk is used.",
		]);
	});

	it("takes nothing that no file could hold", async () => {
		const texts = ["whole \u{1f600}", "half \ud83d"];
		const { editor, logged } = createSubject({ read: async () => texts.shift() ?? null });
		expect(await editor.read("/work/a", never)).toBe("whole \u{1f600}");
		expect(await editor.read("/work/a", never)).toBeNull();
		expect(logged()).toEqual(["What the editor gave of a file is not text; the disk is used."]);
	});

	it("waits ten seconds for an answer, then withdraws the request and uses the disk", async () => {
		const { files, signals } = createHangingFiles();
		const { editor, clock, logged } = createSubject(files);
		const read = editor.read("/work/a", never);
		const written = editor.write("/work/a", "x", never);
		clock.advance(9_999);
		expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
		clock.advance(1);
		expect(await Promise.all([read, written])).toEqual([null, false]);
		expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
		expect(logged()).toEqual([
			"The editor did not read a file in time; the disk is used.",
			"The editor did not write a file in time; the disk is used.",
		]);
	});

	it("does not wait after a cancellation, and asks nothing more", async () => {
		const { files, signals } = createHangingFiles();
		const { editor, clock, logged } = createSubject(files);
		const stopping = new AbortController();
		const cancelled = editor.write("/work/a", "x", stopping.signal);
		stopping.abort();
		expect(await cancelled).toBe(false);
		expect(await editor.read("/work/a", stopping.signal)).toBeNull();
		clock.advance(10_000);
		expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
		expect(logged()).toEqual([]);
	});
});
