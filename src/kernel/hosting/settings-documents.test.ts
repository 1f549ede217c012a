import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { systemClock } from "../../base/clock.ts";
import { createSettingsDocuments } from "./settings-documents.ts";

async function createSubject(files: Readonly<Record<string, string>> = {}) {
	const memory = createMemoryFiles();
	await memory.makeDirectory("/a/b/c");
	for (const [path, text] of Object.entries(files)) {
		await memory.makeDirectory(path.slice(0, path.lastIndexOf("/")));
		await memory.replace(path, text);
	}
	const place = { files: memory, clock: systemClock, workDir: "/a/b/c", home: "/home/me" };
	return { memory, document: createSettingsDocuments(place).find(".rkat/config.toml") };
}

describe("a settings document", () => {
	it("is empty until something is stored, which happens in the home directory", async () => {
		const { memory, document } = await createSubject();
		expect(await document.read()).toEqual({});
		await document.update(() => ({ a: 1, table: { b: "x" } }));
		expect(await document.read()).toEqual({ a: 1, table: { b: "x" } });
		expect(String(await memory.read("/home/me/.rkat/config.toml"))).toBe('a = 1\n\n[table]\nb = "x"\n');
	});

	it("is the nearest one in the work directory and its parents", async () => {
		const { memory, document } = await createSubject({ "/a/.rkat/config.toml": "a = 1\n", "/a/b/.rkat/other": "" });
		expect(await document.read()).toEqual({});
		await document.update((current) => ({ ...current, n: 2 }));
		expect(String(await memory.read("/a/b/.rkat/config.toml"))).toBe("n = 2\n");
		expect(String(await memory.read("/a/.rkat/config.toml"))).toBe("a = 1\n");
	});

	it("is read, and not changed, when it is not UTF-8", async () => {
		const { memory, document } = await createSubject();
		const before = Buffer.from("a = 1 # caf\xe9\n", "latin1");
		await memory.makeDirectory("/a/.rkat");
		await memory.replace("/a/.rkat/config.toml", before);
		expect(await document.read()).toEqual({ a: 1 });
		const refused = { code: "storage-failed", message: expect.stringContaining("/a/.rkat/config.toml is not UTF-8") };
		await expect(document.update((current) => ({ ...current, n: 2 }))).rejects.toMatchObject(refused);
		expect(await memory.read("/a/.rkat/config.toml")).toEqual(before);
	});

	it("keeps comments, the form of values, and tables of others", async () => {
		const before = [
			"# Ours.",
			"max_tokens = 100   # few",
			"",
			"[agent] # the agent",
			"model = 'a' # its model",
			"since = 2026-01-02T03:04:05Z",
			"",
			"[realm.global] # of somebody else",
			'key = "k"',
			"list = [1,   2]",
			"",
		].join("\n");
		const { memory, document } = await createSubject({ "/a/.rkat/config.toml": before });
		const text = async () => String(await memory.read("/a/.rkat/config.toml"));
		const agentOf = (current: Readonly<Record<string, unknown>>) => current["agent"] as Record<string, unknown>;
		await document.update((current) => ({ ...current, max_tokens: 200, agent: { ...agentOf(current), max_turns: 3 } }));
		expect(await text()).toBe(
			before.replace("max_tokens = 100 ", "max_tokens = 200 ").replace("03:04:05Z\n", "03:04:05Z\nmax_turns = 3\n"),
		);
		await document.update(({ max_tokens: _, ...current }) => {
			const { model: _model, max_turns: _turns, ...agent } = agentOf(current);
			return { ...current, agent };
		});
		expect(await text()).toBe(
			before.replace("max_tokens = 100   # few\n", "").replace("model = 'a' # its model\n", ""),
		);
	});

	it("is written anew where a value cannot be changed in its place", async () => {
		const { memory, document } = await createSubject({
			"/a/.rkat/config.toml": 'agent = { model = "a" } # in a line\n',
		});
		await document.update(() => ({ agent: { model: "b" } }));
		expect(await document.read()).toEqual({ agent: { model: "b" } });
		expect(String(await memory.read("/a/.rkat/config.toml"))).toContain('model = "b"');
	});

	it("loses neither of two concurrent changes", async () => {
		const { document } = await createSubject();
		const add = (key: string) => document.update((current) => ({ ...(current as Record<string, number>), [key]: 1 }));
		await Promise.all([add("a"), add("b"), add("c")]);
		expect(await document.read()).toEqual({ a: 1, b: 1, c: 1 });
	});

	it("is replaced a few times for many changes at once, and leaves out only the change that fails", async () => {
		const { memory, document } = await createSubject();
		let replacements = 0;
		const { replace } = memory;
		memory.replace = async (...given) => {
			replacements += 1;
			await replace(...given);
		};
		const outcomes = await Promise.allSettled(
			Array.from({ length: 100 }, (_, n) =>
				document.update((current) => {
					if (n === 50) throw new Error("no");
					return { ...(current as Record<string, number>), [`k${n}`]: n };
				}),
			),
		);
		expect(outcomes.flatMap(({ status }, n) => (status === "rejected" ? [n] : []))).toEqual([50]);
		// Each resolves with the content right after its own change.
		const counts = outcomes.map((outcome) => (outcome.status === "fulfilled" ? Object.keys(outcome.value).length : 0));
		expect(counts.slice(48, 53)).toEqual([49, 50, 0, 51, 52]);
		expect(Object.keys(await document.read())).toHaveLength(99);
		expect(replacements).toBeLessThan(4);
	});

	it("is not changed when the result would be too long to read again", async () => {
		const { document } = await createSubject({ "/a/b/c/.rkat/config.toml": "a = 1\n" });
		await expect(document.update(() => ({ a: "x".repeat(300_000) }))).rejects.toThrow(
			"/a/b/c/.rkat/config.toml may have 262144 characters, not 300007.",
		);
		expect(await document.read()).toEqual({ a: 1 });
	});

	it("is not changed when the change throws or the document cannot be read", async () => {
		const { memory, document } = await createSubject({ "/a/b/c/.rkat/config.toml": "a = = 1\n" });
		await expect(document.read()).rejects.toThrow("Cannot read /a/b/c/.rkat/config.toml: it is not TOML at line 1");
		await expect(document.update(() => ({}))).rejects.toThrow("Cannot read");
		await memory.replace("/a/b/c/.rkat/config.toml", "a = 1\n");
		const refuse = () => {
			throw new Error("no");
		};
		await expect(document.update(refuse)).rejects.toThrow("no");
		expect(await document.read()).toEqual({ a: 1 });
	});
});
