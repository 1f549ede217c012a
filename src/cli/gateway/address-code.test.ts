import { encode } from "uqr";
import { describe, expect, it } from "vitest";
import { toAddressCode } from "./address-code.ts";

const address = `http://192.168.1.20:7420/#token=${"a".repeat(64)}`;

/** The modules that the blocks show, true for dark ones, which are blanks. */
function modulesOf(text: string): boolean[][] {
	const upper = { " ": true, "▀": false, "▄": true, "█": false };
	const lower = { " ": true, "▀": true, "▄": false, "█": false };
	const has = (block: string): block is keyof typeof upper => Object.hasOwn(upper, block);
	return text
		.split("\n")
		.filter((line) => line !== "")
		.flatMap((line) => {
			const blocks = [...line].filter(has);
			return [blocks.map((block) => upper[block]), blocks.map((block) => lower[block])];
		});
}

describe("the code of an address", () => {
	it("shows every module of it, without an escape where there is no terminal", async () => {
		const text = await toAddressCode(address, false);
		expect(text).toMatch(/^\n[ ▀▄█\n]+\n\n$/);
		const { data, size } = encode(address, { ecc: "L", border: 2 });
		expect(modulesOf(text).slice(0, size)).toEqual(data);
	});

	it("has colors of its own on a terminal, and takes them back on each line", async () => {
		const lines = (await toAddressCode(address, true)).trim().split("\n");
		for (const line of lines) {
			expect([line.startsWith("\x1b[97;40m"), line.endsWith("\x1b[0m")]).toEqual([true, true]);
			expect(line.slice("\x1b[97;40m".length, -"\x1b[0m".length)).toMatch(/^[ ▀▄█]+$/);
		}
		expect(modulesOf(lines.join("\n"))).toEqual(modulesOf(await toAddressCode(address, false)));
	});
});
