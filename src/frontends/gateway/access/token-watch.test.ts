import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../../test/support/host/campaign-clock.ts";
import type { Scope } from "../../../api/operations.ts";
import { TokenWatch, tokenCheckSpan } from "./token-watch.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function createSubject() {
	const valid = new Map<string, Scope>([
		["a", "control"],
		["b", "control"],
	]);
	const looks: string[] = [];
	const clock = createFakeClock();
	const scopeOf = async (token: string) => {
		looks.push(token);
		if (token === "unreadable") throw new Error("the file cannot be read");
		return valid.get(token) ?? null;
	};
	const watch = new TokenWatch({ scopeOf }, clock);
	const ended: string[] = [];
	const open = (token: string, name: string) => watch.watch(token, "control", () => void ended.push(name));
	const pass = async () => {
		clock.advance(tokenCheckSpan);
		await settled();
	};
	return { valid, looks, ended, open, pass };
}

describe("TokenWatch", () => {
	it("looks once at the token of many streams, and ends all of them and no other", async () => {
		const { valid, looks, ended, open, pass } = createSubject();
		for (const name of ["a1", "a2", "a3"]) open("a", name);
		open("b", "b1");
		await pass();
		expect(looks).toEqual(["a", "b"]);
		expect(ended).toEqual([]);
		valid.delete("a");
		await pass();
		expect(ended).toEqual(["a1", "a2", "a3"]);
		valid.delete("b");
		await pass();
		expect(ended).toEqual(["a1", "a2", "a3", "b1"]);
	});

	it("ends what was opened to control with a token that may only observe from then on", async () => {
		const { valid, ended, open, pass } = createSubject();
		open("a", "a1");
		valid.set("a", "observe");
		await pass();
		expect(ended).toEqual(["a1"]);
	});

	it("ends what was opened with a file that cannot be read any more", async () => {
		const { ended, open, pass } = createSubject();
		open("unreadable", "u");
		await pass();
		expect(ended).toEqual(["u"]);
	});

	it("forgets what was withdrawn, and looks at nothing when nothing is open", async () => {
		const { valid, looks, ended, open, pass } = createSubject();
		const withdraw = open("a", "a1");
		open("a", "a2");
		withdraw();
		valid.delete("a");
		await pass();
		expect(ended).toEqual(["a2"]);
		await pass();
		await pass();
		expect(looks).toEqual(["a"]);
		open("b", "b1");
		await pass();
		expect(looks).toEqual(["a", "b"]);
	});
});
