import { describe, expect, it } from "vitest";
import { normalizeHost } from "./host-name.ts";

describe("hosts", () => {
	it.each([
		["A.Example.", "a.example"],
		["bücher.example", "xn--bcher-kva.example"],
		["0x7f.1", "127.0.0.1"],
		["2130706433", "127.0.0.1"],
		["１２７.0.0.1", "127.0.0.1"],
		["[::1]", "::1"],
		["::ffff:127.0.0.1", "127.0.0.1"],
		["a.example\0.evil", null],
		["a.example\n", null],
		["a example", null],
		["host:80", null],
		["user@a.example", null],
		["a.example/x", null],
		["a.example%00", null],
		["a..example", null],
		["", null],
		[".", null],
		["x".repeat(300), null],
	])("%j is %j", (written, expected) => {
		expect(normalizeHost(written)).toBe(expected);
	});
});
