import { describe, expect, it } from "vitest";
import { toWellFormed } from "../../base/text/well-formed.ts";
import { createOutputView } from "./shell-output.ts";

function view(pieces: readonly string[], headShare = 1 / 2) {
	const output = createOutputView();
	for (const piece of pieces) output.write(piece);
	return output.finish(headShare);
}

const mark = /\[\.\.\. (\d+) characters in (\d+) lines left out \.\.\.\]\n/;

describe("a long output", () => {
	const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index} 😀\n`);
	const whole = lines.join("");

	it.each([
		["half and half", 1 / 2, 25, 25],
		["a quarter and three quarters", 1 / 4, 12, 37],
	])("is shown with its beginning and its end, %s", (_name, share, first, last) => {
		const { text, isShortened, lastLines } = view([whole.slice(0, 1000), whole.slice(1000)], share);
		const [head = "", characters, count, tail = ""] = text.split(mark);
		expect(text.length).toBeLessThanOrEqual(50_000);
		expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
		expect([head.length, tail.length].map((length) => Math.round(length / 1000))).toEqual([first, last]);
		expect(Number(characters)).toBe(whole.length - head.length - tail.length);
		expect(Number(count)).toBe(lines.length - head.split("\n").length - tail.split("\n").length + 2);
		expect(isShortened).toBe(true);
		expect(lastLines.at(-1)).toBe("line 199999 😀");
	});

	it("of one line is cut in its middle, never within a character", () => {
		for (const shift of ["", "a"]) {
			const line = `${shift}${"😀".repeat(100_000)}end`;
			const { text, isShortened } = view([line]);
			expect(text).toMatch(/^a?(😀)+\[\.\.\. \d+ characters left out \.\.\.\](😀)+end$/u);
			expect(toWellFormed(text)).toBe(text);
			expect(isShortened).toBe(true);
		}
	});

	it("is left whole where it fits exactly", () => {
		const exact = `${"x".repeat(999)}\n`.repeat(50);
		expect(view([exact])).toMatchObject({ text: exact, isShortened: false });
		expect(view([`${exact}y`])).toMatchObject({ isShortened: true });
	});
});

describe("redraws", () => {
	it.each([
		["a progress bar", "start\n 1%\r 50%\r100%\ndone\n", "start\n100%\ndone\n"],
		["one that ends with a return", "10%\r20%\r", "20%"],
		["one that ends its last frame with CR LF", "10%\r20%\r\nnext\r\n", "20%\nnext\r\n"],
		["lines of Windows", "a\r\nb\r\n\r\n", "a\r\nb\r\n\r\n"],
		["a line that is erased", "Resolving...\r\x1b[KFetching...\x1b[2K\x1b[1GDone\n", "Done\n"],
		["erased at its end", "working\r\x1b[K", ""],
		["several lines with cursor up", "a: 1\nb: 1\n\x1b[2Aa: 2\nb: 2\n\x1b[2Aa: 3\nb: 3\nend\n", "a: 3\nb: 3\nend\n"],
		["cursor up with erasing", "one\ntwo\n\x1b[1A\x1b[2Kthree\n", "one\nthree\n"],
		["everything below is erased", "a\nb\nc\n\x1b[3A\x1b[Jdone\n", "done\n"],
		["a spinner", "wait |\b/\b-\b done\n", "wait  done\n"],
		["colors", "\x1b[32mok\x1b[0m\n", "\x1b[32mok\x1b[0m\n"],
	])("%s", (_name, output, shown) => {
		expect(view([output]).text).toBe(shown);
		expect(view([...output]).text).toBe(shown);
	});

	it("of megabytes leave room for what was printed around them", () => {
		const frames = Array.from({ length: 100_000 }, (_, index) => `Downloading ${index}/100000 [=====>    ]\r`);
		const { text, isShortened } = view(["begin\n", ...frames, "\nend\n"]);
		expect(text).toBe("begin\nDownloading 99999/100000 [=====>    ]\nend\n");
		expect(isShortened).toBe(false);
	});
});
