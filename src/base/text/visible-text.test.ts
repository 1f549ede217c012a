import { describe, expect, it } from "vitest";
import { hidesContent, hidesText, visibleLine, visiblePieces, visibleText } from "./visible-text.ts";

describe("a text made visible", () => {
	it.each([
		[
			"bidirectional controls",
			"rm \u202e# oN\u202c \u2066x\u2069 \u200e\u200f\u061c",
			"rm \\u{202e}# oN\\u{202c} \\u{2066}x\\u{2069} \\u{200e}\\u{200f}\\u{61c}",
		],
		["zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff", "a\\u{200b}b\\u{200c}c\\u{200d}d\\u{2060}e\\u{feff}f"],
		["tags", "ls\u{e0072}\u{e006d}", "ls\\u{e0072}\\u{e006d}"],
		["variation selectors", "a\ufe0f 1\ufe0e b\u{e0100} \ufe00", "a\\u{fe0f} 1\\u{fe0e} b\\u{e0100} \\u{fe00}"],
		["a soft hyphen", "re\u00admove", "re\\u{ad}move"],
		[
			"fillers",
			"\u3164\uffa0\u115f\u1160\u034f\u180e\u2800\u17b4",
			"\\u{3164}\\u{ffa0}\\u{115f}\\u{1160}\\u{34f}\\u{180e}\\u{2800}\\u{17b4}",
		],
		[
			"blanks that are no blank",
			"rm\u00a0-rf\u2003x\u2028y\u2029z\u202f",
			"rm\\u{a0}-rf\\u{2003}x\\u{2028}y\\u{2029}z\\u{202f}",
		],
		[
			"carriage returns and other controls",
			"safe\rrm \u001b[2Kx\u0008\u007f\u0085\u0000",
			"safe\\u{d}rm \\u{1b}[2Kx\\u{8}\\u{7f}\\u{85}\\u{0}",
		],
		["half a character", "a\ud800b", "a\\u{d800}b"],
		["runs of line feeds", `ls${"\n".repeat(57)}rm x`, "ls\n\\u{a}×57\nrm x"],
		["lines of blanks", `ls\n \n\t\n  \nrm x`, "ls\n\\u{a}×4\nrm x"],
		["runs of blanks", `ls${" ".repeat(300)}; rm x`, "ls \\u{20}×300 ; rm x"],
	])("shows %s as escapes", (_, text, shown) => {
		expect(visibleText(text)).toBe(shown);
		expect(hidesText(text)).toBe(true);
	});

	it.each([
		"git commit -m 'one\n\n\ntwo'\n\tindented",
		"👩‍💻 ❤️ 👍🏽 👨‍👩‍👧 1️⃣ ©️ 🏳️‍🌈 👩🏽‍🚀",
		"naïve 日本語　テスト עברית العربية हिन्दी Ünïcödé",
		"",
	])("leaves what is seen: %j", (text) => {
		expect(visibleText(text)).toBe(text);
		expect(hidesText(text)).toBe(false);
	});

	it("leaves gaps and line ends of files", () => {
		const file = `a${" ".repeat(80)}b\r\n\r\n\r\n\r\n\r\nc`;
		expect([hidesText(file), hidesContent(file), hidesContent("a\rb"), hidesContent("a\u200bb")]).toEqual([
			true,
			false,
			true,
			true,
		]);
		expect(visibleLine(`${" ".repeat(80)}b\r`)).toEqual([
			{ text: `${" ".repeat(80)}b`, isEscape: false },
			{ text: "\\u{d}", isEscape: true },
		]);
	});

	it("has its escapes as pieces of their own", () => {
		expect(visiblePieces("a\u202eb")).toEqual([
			{ text: "a", isEscape: false },
			{ text: "\\u{202e}", isEscape: true },
			{ text: "b", isEscape: false },
		]);
	});

	it("takes time in proportion to the text", () => {
		const text = `${"\n ".repeat(500_000)}${" \t".repeat(500_000)}x`;
		const start = performance.now();
		visibleText(text);
		expect(performance.now() - start).toBeLessThan(1000);
	});
});
