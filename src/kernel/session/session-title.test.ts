import { describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import { SessionTitle } from "./session-title.ts";

async function createSubject() {
	const stored = await createMemoryStore().openOrCreate("/work", "s");
	const held: (() => void)[] = [];
	const state = { isHeld: false };
	const title = new SessionTitle({
		stored,
		async emit(_, change) {
			if (state.isHeld) await new Promise<void>((resolve) => held.push(resolve));
			await stored.commit({ state: change });
		},
		suggest: null,
		log: silentLog,
	});
	return { stored, title, state, release: () => held.splice(0).forEach((resolve) => void resolve()) };
}

describe("the title of a session", () => {
	it("is the beginning of its first input, once", async () => {
		const { stored, title } = await createSubject();
		await title.derive("first input");
		await title.derive("second input");
		expect(stored.state().customTitle).toBe("first input");
	});

	it("is the one that somebody gave it, whatever comes later", async () => {
		const { stored, title } = await createSubject();
		expect(await title.set(" My\n title ")).toEqual({ title: "My title" });
		await title.derive("first input");
		expect(stored.state().customTitle).toBe("My title");
		await title.set("Another");
		expect(stored.state().customTitle).toBe("Another");
	});

	it("is not replaced by the input of a turn that ends while it is stored", async () => {
		const { stored, title, state, release } = await createSubject();
		state.isHeld = true;
		const renamed = title.set("Given");
		await title.derive("first input");
		expect(stored.state().customTitle).toBeNull();
		release();
		await renamed;
		expect(stored.state().customTitle).toBe("Given");
	});

	it.each([
		["nothing", ""],
		["spaces", " \n\t "],
		["what cannot be seen", "\u0000\u001b\u200b"],
		["too much", "x".repeat(201)],
	])("is not %s", async (_name, text) => {
		const { title } = await createSubject();
		await expect(title.set(text)).rejects.toMatchObject({ code: "invalid-input" });
	});

	it("has no characters that move the cursor of a terminal", async () => {
		const { title } = await createSubject();
		expect(await title.set("a\u001b[31mb\u009bc\u202ed")).toEqual({ title: "a [31mb c d" });
	});
});
