import { describe, expect, it } from "vitest";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { Identifiers } from "../../base/ids.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import { PlanMode } from "./plan-mode.ts";

const sessionId = "5ac1e9f4-0000-4000-8000-000000000001";

/** A session with a row is not removed as empty. */
const oneRow: readonly ContextRow[] = [{ type: "message", message: { role: "user", content: [] } }];

interface SubjectOptions {
	readonly store?: SessionStore;
	readonly files?: MemoryFiles;
	/** Digits for the names of plans; the last ones repeat. */
	readonly digits?: readonly string[];
	readonly startsOn?: boolean;
	readonly shareDir?: string;
	readonly isSupported?: boolean;
}

async function createSubject({
	store,
	files = createMemoryFiles(),
	digits = ["000000"],
	startsOn,
	shareDir = "/share",
	isSupported,
}: SubjectOptions = {}) {
	const stored = await (store ?? createMemoryStore()).openOrCreate("/work", sessionId);
	let used = 0;
	const identifiers: Identifiers = {
		uuid: () => "U",
		hex: (length) => {
			if (length !== 6) return "f".repeat(length);
			used += 1;
			return digits[Math.min(used, digits.length) - 1] ?? "000000";
		},
	};
	const plan = new PlanMode({
		stored,
		files,
		identifiers,
		shareDir,
		home: "/home/me",
		startsOn: startsOn ?? false,
		isSupported: isSupported ?? true,
	});
	return { plan, stored, files, namesTried: () => used };
}

async function write(files: MemoryFiles, file: string, text: string) {
	await files.makeDirectory(file.slice(0, file.lastIndexOf("/")));
	await files.replace(file, text);
}

const said = (count: number): HistoryEntry[] =>
	Array.from({ length: count }, () => ({ role: "assistant", content: [{ type: "text", text: "x" }] }));

describe("plan mode of an agent without its tools", () => {
	const refusal = { code: "unsupported", message: "Plan mode is not supported" };

	it("cannot be switched on or off", async () => {
		const { plan, stored } = await createSubject({ isSupported: false });
		let calls = 0;
		for (const enabled of [true, false]) {
			expect(plan.allows(enabled)).toBe(false);
			await expect(plan.set(enabled, true, () => calls++)).rejects.toMatchObject(refusal);
		}
		expect([plan.isOn, stored.state().planSlug, calls]).toEqual([false, null, 0]);
	});

	it("does not start on", async () => {
		const { plan } = await createSubject({ isSupported: false, startsOn: true });
		await plan.start();
		expect(plan.isOn).toBe(false);
	});

	it("is switched off when another agent had switched it on", async () => {
		const store = createMemoryStore();
		const first = await createSubject({ store });
		await first.plan.set(true, true);
		await first.stored.commit({ context: { kind: "append", rows: oneRow } });
		await first.stored.close();
		const { plan } = await createSubject({ store, isSupported: false });
		expect([plan.isOn, plan.allows(true), plan.allows(false)]).toEqual([true, false, true]);
		await plan.set(false, true);
		expect([plan.isOn, plan.allows(false)]).toEqual([false, false]);
		await expect(plan.set(true, true)).rejects.toMatchObject(refusal);
	});
});

describe("plan mode that is on without a name for its plan", () => {
	it("gets a name at the start, which is persisted", async () => {
		const { plan, stored } = await createSubject({ digits: ["000102"] });
		await stored.commit({ state: { planMode: true, planSlug: null } });
		expect(plan.file).not.toBeNull();
		await plan.start();
		const { planSlug } = stored.state();
		expect(planSlug).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
		expect(plan.file).toBe(`/share/plans/${planSlug}.md`);
	});

	it("gets a name even if it cannot be persisted", async () => {
		const { plan, stored } = await createSubject();
		await stored.commit({ state: { planMode: true, planSlug: null } });
		const { file } = plan;
		expect(file).toMatch(/^\/share\/plans\/[a-z]+-[a-z]+-[a-z]+\.md$/);
		expect(plan.file).toBe(file);
	});
});

describe("plan mode", () => {
	it("shows the beginning of an endless plan", async () => {
		const { plan, files } = await createSubject({ startsOn: true });
		await plan.start();
		const file = plan.file ?? "";
		await write(files, file, "x".repeat(10_000_000));
		expect((await plan.read())?.text === `${"x".repeat(262_144)}\n\n[The rest of the plan is in ${file}.]`).toBe(true);
	});

	it("retains the name of the plan while it is on", async () => {
		const { plan, stored } = await createSubject();
		expect([plan.isOn, plan.file]).toEqual([false, null]);
		await plan.set(true, false);
		const { planMode, planSlug, planSessionId } = stored.state();
		expect([plan.isOn, planMode, planSessionId]).toEqual([true, true, "f".repeat(32)]);
		expect(planSlug).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
		expect(plan.file).toBe(`/share/plans/${planSlug}.md`);
		await plan.set(true, false);
		expect(stored.state().planSlug).toBe(planSlug);
		await plan.set(false, false);
		expect([plan.isOn, plan.file]).toEqual([false, null]);
		expect(stored.state()).toMatchObject({ planMode: false, planSlug: null, planSessionId: null });
	});

	it("is on again when the session is reopened", async () => {
		const store = createMemoryStore();
		const first = await createSubject({ store });
		await first.plan.set(true, true);
		const { file } = first.plan;
		await first.stored.commit({ context: { kind: "append", rows: oneRow } });
		await first.stored.close();
		const second = await createSubject({ store });
		await second.plan.start();
		expect([second.plan.isOn, second.plan.file]).toEqual([true, file]);
	});

	it("starts on when the options say so", async () => {
		const { plan } = await createSubject({ startsOn: true });
		expect(plan.isOn).toBe(false);
		await plan.start();
		expect(plan.isOn).toBe(true);
	});

	it("ends in the last requested state, and calls back for each request in order", async () => {
		const { plan } = await createSubject();
		const seen: [boolean, boolean][] = [];
		const set = (enabled: boolean) => plan.set(enabled, true, () => void seen.push([enabled, plan.isOn]));
		await Promise.all([set(true), set(false), set(true), set(true), set(false)]);
		expect(plan.isOn).toBe(false);
		expect(seen).toEqual([
			[true, true],
			[false, false],
			[true, true],
			[true, true],
			[false, false],
		]);
	});

	it("chooses an unused name", async () => {
		const taken = await createSubject();
		await taken.plan.set(true, false);
		await write(taken.files, taken.plan.file ?? "", "# An old plan");
		const { plan, namesTried } = await createSubject({ files: taken.files, digits: ["000000", "000000", "010203"] });
		await plan.set(true, false);
		expect(plan.file).not.toBe(taken.plan.file);
		expect(namesTried()).toBe(3);
	});

	it("adds a suffix to the name when twenty names were in use", async () => {
		const taken = await createSubject();
		await taken.plan.set(true, false);
		await write(taken.files, taken.plan.file ?? "", "# An old plan");
		const { plan, namesTried } = await createSubject({ files: taken.files });
		await plan.set(true, false);
		expect(plan.file).toBe(taken.plan.file?.replace(/\.md$/, "-000000.md"));
		expect(namesTried()).toBe(22);
	});
});

describe("the plan", () => {
	it("is read from its path, or from the path of older versions, unless it is empty", async () => {
		const { plan, files, stored } = await createSubject();
		expect(await plan.read()).toBeNull();
		await plan.set(true, false);
		const file = plan.file ?? "";
		const old = `/home/me/.kimi/plans/${stored.state().planSlug}.md`;
		expect(await plan.read()).toBeNull();
		await write(files, file, " \n\t");
		expect(await plan.read()).toBeNull();
		await write(files, old, "# Old");
		expect(await plan.read()).toEqual({ file: old, text: "# Old" });
		await write(files, file, "# New");
		expect(await plan.read()).toEqual({ file, text: "# New" });
	});
});

describe("a plan below the home directory, the path of the reference for any share directory", () => {
	/** A session in plan mode, opened again after another program wrote its plan file. */
	const reopened = async (write: (files: MemoryFiles, own: string, homes: string) => Promise<void>) => {
		const store = createMemoryStore();
		const files = createMemoryFiles();
		const first = await createSubject({ store, files });
		await first.plan.set(true, false);
		const own = first.plan.file ?? "";
		const homes = `/home/me/.kimi/plans/${first.stored.state().planSlug}.md`;
		await first.stored.commit({ context: { kind: "append", rows: oneRow } });
		await first.stored.close();
		await write(files, own, homes);
		const { plan } = await createSubject({ store, files });
		await plan.start();
		return { plan, files, own, homes };
	};

	it("is continued at that path", async () => {
		const { plan, homes } = await reopened((files, _own, home) => write(files, home, "# Old"));
		expect(plan.file).toBe(homes);
		expect(await plan.read()).toEqual({ file: homes, text: "# Old" });
		expect((await plan.due([])).join()).toContain(homes);
	});

	it("is overridden by one in the share directory, unless that is empty", async () => {
		const { plan, own } = await reopened(async (files, mine, home) => {
			await write(files, mine, "# New");
			await write(files, home, "# Old");
		});
		expect(plan.file).toBe(own);
		const other = await reopened(async (files, mine, home) => {
			await write(files, mine, " \n");
			await write(files, home, "# Old");
		});
		expect(other.plan.file).toBe(other.homes);
	});

	it("is ignored once plan mode went off and on: the next plan is a new one", async () => {
		const { plan } = await reopened((files, _own, home) => write(files, home, "# Old"));
		await plan.set(false, true);
		expect(plan.file).toBeNull();
		await plan.set(true, true);
		expect(plan.file).toMatch(/^\/share\/plans\//);
	});

	it("reserves its name", async () => {
		const files = createMemoryFiles();
		const taken = await createSubject({ files });
		await taken.plan.set(true, false);
		await write(files, `/home/me/.kimi/plans/${taken.stored.state().planSlug}.md`, "# Another's");
		const { plan, namesTried } = await createSubject({ files, digits: ["000000", "010203"] });
		await plan.set(true, false);
		expect(plan.file).not.toBe(taken.plan.file);
		expect(namesTried()).toBe(2);
	});

	it("is cleared together with one in the share directory", async () => {
		const { plan } = await reopened(async (files, mine, home) => {
			await write(files, mine, "# New");
			await write(files, home, "# Old");
		});
		await plan.clear();
		expect(await plan.read()).toBeNull();
	});

	it("is the only path for the usual share directory", async () => {
		const { plan } = await createSubject({ shareDir: "/home/me/.kimi" });
		await plan.set(true, false);
		expect(plan.file).toMatch(/^\/home\/me\/\.kimi\/plans\//);
	});

	it("counts as absent when it cannot be read", async () => {
		const { plan, own } = await reopened(async (files) => {
			files.read = async () => {
				throw Object.assign(new Error("EACCES"), { code: "EACCES" });
			};
		});
		expect(plan.file).toBe(own);
	});
});

describe("reminders", () => {
	const kindOf = (texts: readonly string[]): string => {
		if (texts.length === 0) return "none";
		const [text = ""] = texts;
		if (text.includes("Work in this order")) return "full";
		return text.includes("plan from before") ? "re-entry" : "short";
	};

	it("are absent outside plan mode", async () => {
		const { plan } = await createSubject();
		expect(await plan.due([])).toEqual([]);
	});

	it("come first in full, then briefly after five answers each, every fifth in full again", async () => {
		const { plan } = await createSubject();
		await plan.set(true, false);
		const kinds: string[] = [];
		for (let count = 0; count <= 30; count += 1) kinds.push(kindOf(await plan.due(said(count))));
		const due = kinds.flatMap((kind, count) => (kind === "none" ? [] : [[count, kind]]));
		expect(due).toEqual([
			[0, "full"],
			[5, "short"],
			[10, "short"],
			[15, "short"],
			[20, "short"],
			[25, "full"],
			[30, "short"],
		]);
	});

	it("count only answers", async () => {
		const { plan } = await createSubject();
		await plan.set(true, false);
		const message = (role: "user" | "assistant"): HistoryEntry => ({ role, content: [] });
		await plan.due([]);
		const many = [message("user"), message("user"), message("user"), message("user"), message("user")];
		expect(await plan.due([...many, message("assistant")])).toEqual([]);
	});

	it("name the plan file and say whether there is a plan", async () => {
		const { plan, files } = await createSubject();
		await plan.set(true, false);
		const file = plan.file ?? "";
		expect((await plan.due([])).join()).toMatch(/does not exist yet/);
		expect((await plan.due(said(5))).join()).toContain(file);
		await write(files, file, "# Plan");
		for (const count of [10, 15, 20]) await plan.due(said(count));
		expect((await plan.due(said(25))).join()).toMatch(/already holds a plan/);
	});

	it("start again when plan mode is switched on again, and in a reopened session", async () => {
		const store = createMemoryStore();
		const { plan, stored } = await createSubject({ store });
		await plan.set(true, false);
		expect(kindOf(await plan.due(said(3)))).toBe("full");
		await plan.set(false, false);
		await plan.set(true, false);
		expect(kindOf(await plan.due(said(4)))).toBe("full");
		await stored.commit({ context: { kind: "append", rows: oneRow } });
		await stored.close();
		const again = await createSubject({ store });
		expect(kindOf(await again.plan.due(said(4)))).toBe("full");
	});

	it("name the existing plan when a person switched plan mode on", async () => {
		const { plan, files } = await createSubject();
		await plan.set(true, true);
		await write(files, plan.file ?? "", "# Plan");
		expect(kindOf(await plan.due(said(0)))).toBe("re-entry");
		expect(kindOf(await plan.due(said(5)))).toBe("short");
		const byTool = await createSubject();
		await byTool.plan.set(true, false);
		await write(byTool.files, byTool.plan.file ?? "", "# Plan");
		expect(kindOf(await byTool.plan.due(said(0)))).toBe("full");
	});
});
