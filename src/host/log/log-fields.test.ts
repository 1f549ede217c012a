import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { toLoggable, toLoggableText } from "./log-fields.ts";

const fail = () => {
	throw new Error("from inside");
};

function revoked(): object {
	const { proxy, revoke } = Proxy.revocable({}, {});
	revoke();
	return proxy;
}

const withGetter = (name: string) => Object.defineProperty(new Error("e"), name, { get: fail });

/** As it is in the log. */
const written = (value: unknown): unknown => JSON.parse(JSON.stringify(toLoggable({ error: value }))).error;

describe("what is logged", () => {
	it.each([
		["null", null, null],
		["a symbol", Symbol("x"), undefined],
		["a function", () => {}, undefined],
		["a proxy", new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail }), "[unreadable]"],
		["a revoked proxy", revoked(), "[unreadable]"],
		["a getter that throws", Object.defineProperty({}, "x", { get: fail, enumerable: true }), { x: "[unreadable]" }],
		["no date", new Date(Number.NaN), null],
		["a date whose JSON throws", Object.assign(new Date(0), { toJSON: fail }), "1970-01-01T00:00:00.000Z"],
		["something whose JSON throws", { a: { toJSON: fail } }, { a: {} }],
		["bytes", Buffer.alloc(10_000_000), "[10000000 bytes]"],
		["the name of the prototype", JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
	])("is never a reason to fail: %s", (_name, value, expected) => {
		expect(written(value)).toEqual(expected);
	});

	it.each([
		["a stack that throws", withGetter("stack"), { message: "e", stack: "[unreadable]" }],
		["a name that throws", withGetter("name"), { message: "e", name: "[unreadable]" }],
		["a cause that throws", withGetter("cause"), { message: "e", cause: "[unreadable]" }],
		["texts that are none", Object.assign(new Error("e"), { message: null, stack: 5 }), { message: null, stack: 5 }],
	])("is never a reason to fail: an error with %s", (_name, value, expected) => {
		expect(written(value)).toMatchObject(expected);
	});

	it.each([
		["a long message", new Error("word ".repeat(2_000_000))],
		["a long message with dots", new Error("abcdefghijklm.".repeat(700_000))],
		["a long text", "y".repeat(10_000_000)],
		["many texts", Array(10_000).fill("z".repeat(1000))],
		["long names", Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${n}${"k".repeat(100_000)}`, n]))],
	])("is cut, and says so: %s", async (_name, value) => {
		const write = () => JSON.stringify(toLoggable({ error: value }));
		expect(await shortestPause(async () => write())).toBeLessThan(longestPause);
		const line = write();
		expect(line.length).toBeLessThan(500_000);
		expect(line).toContain("[cut off");
	});

	it("holds no beginning of a secret where it is cut", () => {
		const line = toLoggableText(`${" ".repeat(65_530)}sk-0123456789abcdef`);
		expect(line).not.toContain("sk-");
		expect(line).toMatch(/\[cut off, \d+ characters in all\]$/);
	});
});
