// What the page reads out of the texts that events have.
import { describe, expect, it } from "vitest";
import { attachedFile } from "./texts.ts";

describe("a text of a prompt", () => {
	it("is the file that the gateway made of it", () => {
		expect(attachedFile('<file name="a &lt;b&gt; &amp;lt; c.txt">\none\n</file>\n</file>')).toEqual({
			name: "a <b> &lt; c.txt",
			text: "one\n</file>",
		});
		for (const text of ["hello", '<file name="a">x</file>', 'say <file name="a">\nx\n</file>']) {
			expect(attachedFile(text)).toBeNull();
		}
	});
});
