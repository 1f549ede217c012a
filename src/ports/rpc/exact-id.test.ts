import { describe, expect, it, vi } from "vitest";
import { exactId } from "./exact-id.ts";

describe("a numeric id with its exact digits", () => {
	it.each<[string, number | bigint | null]>([
		['{"id":1}', 1],
		['{"id":-7}', -7],
		['{ "jsonrpc" : "2.0", "id" : 42 }', 42],
		['{"id":9007199254740991}', 9007199254740991],
		['{"id":9007199254740993}', 9007199254740993n],
		['{"id":9223372036854775807}', 9223372036854775807n],
		['{"id":-9223372036854775808}', -9223372036854775808n],
		['{"id":9223372036854775808}', null],
		['{"id":-9223372036854775809}', null],
		// No integer is spelled so: it could not be sent back as it came.
		['{"id":-0}', null],
		['{"id":1.0}', null],
		['{"id":1e3}', null],
		['{"id":1.5}', null],
		// The last one counts, as in JSON.parse.
		['{"id":1,"id":2}', 2],
		['{"\\u0069d":3}', 3],
		// What only looks like it.
		['{"params":{"id":5},"id":6}', 6],
		['{"id":7,"params":{"id":8}}', 7],
		['{"params":["id",{"id":9}],"id":10}', 10],
		['{"method":"id","id":11}', 11],
		['{"method":"\\"id\\":12","id":13}', 13],
		['{"method":"\\\\","id":14}', 14],
		['{"method":"}{","id":15}', 15],
		['{"method":"x"}', null],
	])("is extracted from %s", (text, id) => {
		expect(JSON.parse(text)).toBeTypeOf("object");
		expect(exactId(text)).toBe(id);
	});

	it("is refused for a million digits, which are not computed", () => {
		const parse = vi.spyOn(globalThis, "BigInt");
		expect(exactId(`{"id":${"9".repeat(1_000_000)}}`)).toBeNull();
		expect(parse).not.toHaveBeenCalled();
		parse.mockRestore();
	});
});
