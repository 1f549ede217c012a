import { expect, it } from "vitest";
import { readChoice } from "./choice.ts";

const read = (...words: string[]) => readChoice(words, "bin/agentwire");

it("measures the program of this folder 11 times when nothing is asked for", () => {
	expect(read()).toMatchObject({
		runs: 11,
		json: false,
		kind: null,
		check: false,
		commit: false,
		peers: [],
		executable: "bin/agentwire",
	});
});

it("measures the start to compare it or to commit it", () => {
	expect(read("--gateway").kind).toBe("gateway");
	expect(read("--check")).toMatchObject({ kind: "start", check: true, commit: false });
	expect(read("--commit")).toMatchObject({ kind: "start", check: false, commit: true });
});

it.each(["0", "1.5", "many"])("refuses %s runs", (runs) => {
	expect(() => read("--runs", runs)).toThrow("--runs needs a whole number of at least 1.");
});

it("refuses what it does not know", () => {
	expect(() => read("--fast")).toThrow("'--fast'");
	expect(() => read("word")).toThrow("'word'");
});

it("takes the loads of the gateway and of streaming sessions, and of nothing else", () => {
	const { kind, loads } = read("--gateway", "--load", "250x20", "--load", "1x20x50");
	expect(kind).toBe("gateway");
	expect(loads.map(({ name }) => name)).toEqual(["250x20", "1x20x50"]);
	expect(() => read("--load", "250x20")).toThrow("--load needs --gateway or --streaming.");
	expect(() => read("--sessions", "--load", "250x20")).toThrow("--load needs --gateway or --streaming.");
	expect(read("--streaming", "--load", "250x20").loads.map(({ name }) => name)).toEqual(["250x20"]);
	expect(read("--streaming").loads.every(({ isShared }) => !isShared)).toBe(true);
	expect(() => read("--streaming", "--load", "1x20x50")).toThrow("--streaming has one client");
	expect(() => read("--gateway", "--load", "many")).toThrow("--load needs SESSIONSxRATE");
});
