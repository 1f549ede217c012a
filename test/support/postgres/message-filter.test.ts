import { describe, expect, it } from "vitest";
import { createMessageFilter } from "./message-filter.ts";

function toMessage(type: string, body: string): Buffer {
	const head = Buffer.alloc(5);
	head.write(type, 0, "latin1");
	head.writeUInt32BE(4 + body.length, 1);
	return Buffer.concat([head, Buffer.from(body)]);
}

describe("the messages of a server of PostgreSQL", () => {
	it.each([1, 3, 5, 7, 1000])("pass but for those that are dropped, in pieces of %d bytes", (size) => {
		const passing = [toMessage("D", "one"), toMessage("Z", ""), toMessage("D", "A")];
		const [first, second, third] = passing;
		const all = Buffer.concat(
			[first, toMessage("A", "lost"), second, toMessage("A", ""), third].flatMap((each) => each ?? []),
		);
		const filter = createMessageFilter((type) => type === "A".charCodeAt(0));
		const passed: Buffer[] = [];
		for (let start = 0; start < all.length; start += size) passed.push(filter(all.subarray(start, start + size)));
		expect(Buffer.concat(passed)).toEqual(Buffer.concat(passing));
	});
});
