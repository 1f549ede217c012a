import { expect, it } from "vitest";
import { MessageParser } from "./event-source.ts";

it("reads messages however they are cut, and passes over signs of life", () => {
	const text = ': ping\n\nid: a@e:1\nevent: e\ndata: {"a":1}\n\nevent: v\ndata: {"b":\ndata: 2}\n\n';
	for (const size of [1, 7, 1000]) {
		const found: string[][] = [];
		const parser = new MessageParser((name, data) => found.push([name, data]));
		for (let at = 0; at < text.length; at += size) parser.add(text.slice(at, at + size));
		expect(found).toEqual([
			["e", '{"a":1}'],
			["v", '{"b":\n2}'],
		]);
	}
});
