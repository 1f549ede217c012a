import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import type { PatternSyntax } from "./character-sets.ts";
import { loadPatternCompiler } from "./pattern.ts";

const compile = await loadPatternCompiler();

function find(source: string, text: string, syntax: PatternSyntax = "ecmascript"): boolean | string {
	const compiled = compile(source, syntax);
	return compiled.ok ? compiled.pattern.test(text) : compiled.reason;
}

describe("a pattern of ECMAScript", () => {
	it.each([
		["^(Write|Edit).*$", ["WriteFile", "Edit", "Read", "aWrite"]],
		["\\d", ["a1", "a", "٣"]],
		["^\\w+$", ["abc_1", "é", "a b"]],
		["^\\p{L}+$", ["abcé", "a1"]],
		["^\\p{Letter}+\\P{Script=Greek}$", ["ab", "aλ"]],
		["^\\S+@\\S+$", ["a@b", "a\u00a0@b", "a@\ufeffb"]],
		["[\\s,]", ["a b", "a\u2028b", "a,b", "ab"]],
		["[^\\S]", ["a b", "ab", "\ufeff"]],
		["[\\s-x]", ["-", "x", "w", " "]],
		["^[\\w.-]+$", ["a.b-c", "a+b"]],
		["^[^\\u0000-\\u001f]*$", ["abc", "a\u0001"]],
		["^\\u{1F600}\\uD83D\\uDE00$", ["😀😀", "😀"]],
		["^.$", ["😀", "\u2028", "\n", "a"]],
		["a$", ["a", "a\n"]],
		["^[a-z]{1,2048}$", ["a".repeat(2048), "a".repeat(2049), ""]],
		["^a{900,1400}$", ["a".repeat(899), "a".repeat(900), "a".repeat(1400), "a".repeat(1401)]],
		["^a{1200,}$", ["a".repeat(1200), "a".repeat(1199), "a".repeat(3000)]],
		["^(?<year>\\d{4})$", ["2026", "26"]],
		["^(?=.*\\d)(?=.*[A-Z]).{4,}$", ["abC1", "abc1", "abCd", "aC1"]],
		[
			"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
			["a@b.co", ".a@b.co", "a..b@c.de", "a@b"],
		],
		["^(?!a|b)", ["c", "a", "b", ""]],
		["a\\/b\\-c", ["a/b-c", "ab"]],
		["[^]", ["\n", ""]],
		["[]", ["a", ""]],
		["[[a&&b]", ["[", "&", "c"]],
		["[a^]", ["^", "b"]],
		["x*?y", ["xxy", "x"]],
		["a{,3}", ["a{,3}", "aaa"]],
		["\\0\\cA\\x41", ["\0\u0001A", "A"]],
		["^$", ["", "a"]],
	])("%s matches like the platform's", (source, texts) => {
		// What is too loose for the strict form is read in the other.
		const native = new RegExp(source, /^a\{,3\}|^\[\\s-x|\\-c$/.test(source) ? "" : "u");
		for (const text of texts) expect([text, find(source, text)]).toEqual([text, native.test(text)]);
	});

	it.each([
		["(a)\\1", 'it refers back to a group with "\\1"'],
		["(?<n>a)\\k<n>", 'it refers back to a group with "\\k"'],
		["a(?=b)", 'it has a condition on what follows ("(?=") elsewhere than right after a "^" at its beginning'],
		["^(?!a)b|c", 'of its alternatives only one has the condition "(?!"'],
		["(?<!a)b", 'it has a condition on what comes before ("(?<!"), which is not supported'],
		["(?>a)", 'it has a group of the kind "(?>", which is not supported'],
		["\\h", '"\\h" has no meaning'],
		["\\Qa", '"\\Q" has no meaning'],
		["*", 'there is nothing before "*" that it could repeat'],
		["(", 'a "(" is not closed'],
		[")", 'a ")" closes nothing'],
		["[a", 'a "[" is not closed'],
		["[b-a]", "invalid character class range: `\\x{62}-\\x{61}`"],
		["a{2,1}", 'its repetition "{2,1}" runs backwards'],
		["((a{100}){100}){100}", "with its repetitions it has more than 5000 parts"],
		["a{1000}".repeat(6), "with its repetitions it has more than 5000 parts"],
		["\\S".repeat(101), 'it has more than 100 sets of very many characters, such as "[\\W_]"'],
		["(?i)[ -\\uffff]".repeat(6), 'it has more than 5 sets of very many characters, such as "[\\W_]" and ignores case'],
		["a\\", "it ends with a backslash"],
		["\\p{Nonsense}", "invalid character class range: `\\p{Nonsense}`"],
	])("%s is refused: %s", (source, reason) => {
		expect(find(source, "a")).toBe(reason);
	});

	it("is refused above the maximum length", () => {
		expect(find("a".repeat(4096), "a")).toBe(false);
		expect(find("a".repeat(4097), "a")).toBe("it is longer than 4096 characters");
	});
});

describe("a pattern of Python", () => {
	it.each([
		["^(?!Read|Grep).*$", "Shell", true],
		["^(?!Read|Grep).*$", "ReadFile", false],
		["(?i)^shell$", "Shell", true],
		["(?i)^\\w+\\s\\W+K$", "éa !k", true],
		["(?i)^\\w{3}$", "a b", false],
		["(?P<tool>Shell)", "Shell", true],
		["\\AShell\\Z", "Shell", true],
		["Shell$", "Shell\n", true],
		["(?m)a$", "a\nb", true],
		["a{,2}b", "{,2}b", true],
		["^a{,2}$", "aaa", false],
		["\\d", "٣", true],
		["^\\w+$", "é", true],
		["\\W", "é", false],
		["[]a]", "]", true],
		["(?#comment)a", "a", true],
		["\\U0001F600", "😀", true],
		["\\012", "\n", true],
		["task\\.completed", "task.completed", true],
	])("%s against %j: %s", (source, text, expected) => {
		expect(find(source, text, "python")).toBe(expected);
	});

	it.each([
		["a++", 'it has a "+" after a repetition, which is not supported'],
		["(?x)a", 'it has the flag "x", which is not supported'],
		["(a)(?P=n)", 'it refers back to a group with "(?P="'],
	])("%s is refused: %s", (source, reason) => {
		expect(find(source, "a", "python")).toBe(reason);
	});
});

it("matches like the platform for random patterns", () => {
	const atom = fc.constantFrom(
		"a",
		"b",
		".",
		"[ab]",
		"[^a]",
		"\\d",
		"\\w",
		"\\s",
		"(?:a|b)",
		"(ab|a)",
		"^",
		"$",
		"\\b",
		"é",
		"-",
	);
	const repeated = fc.tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "+?"));
	const pattern = fc
		.array(repeated, { minLength: 1, maxLength: 6 })
		.map((parts) => parts.map(([text, count]) => (/^(\^|\$|\\b)$/.test(text) ? text : text + count)).join(""));
	const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "1", "-", "é", "\n"), maxLength: 12 });
	fc.assert(
		fc.property(pattern, text, (source, value) => {
			expect(find(source, value)).toBe(new RegExp(source, "u").test(value));
		}),
		{ numRuns: 500 },
	);
});

it("takes bounded time for patterns that make others backtrack", async () => {
	for (const source of ["^(a+)+$", "(a|a)*b", "(.*)*x", "^([a-z]+)*[0-9]$"]) {
		const compiled = compile(source, "ecmascript");
		if (!compiled.ok) throw new Error(compiled.reason);
		const text = `${"a".repeat(50_000)}!`;
		const pause = await shortestPause(async () => expect(compiled.pattern.test(text)).toBe(false));
		expect(pause).toBeLessThan(longestPause);
	}
});

describe("the cost of a pattern", () => {
	const costOf = (source: string, length: number) => {
		const compiled = compile(source, "python");
		if (!compiled.ok) throw new Error(compiled.reason);
		return compiled.pattern.costIn(length) / 1_000_000;
	};

	it("is small for words, however many there are and however long the text is", () => {
		expect(costOf("(?i)(?:secret|password|api key|token)", 400_000)).toBeLessThan(200);
	});

	/** Each takes longer than a matcher may: measured, on an idle core. */
	const words = (count: number, length: number) =>
		Array.from({ length: count }, (_, n) => (n * 7919 + 1_000_003).toString(26).repeat(length).slice(0, length));
	it.each([
		["choices after one another", `a${"(?:a|b)".repeat(20)}c`, 500_000],
		["more of them", `a${"(?:a|b)".repeat(200)}c`, 30_000],
		["choices that may be empty", `a${"(?:a|b|)".repeat(200)}c`, 30_000],
		["hundreds of words", `(?i)(?:${words(400, 6).join("|")})`, 10_000],
		["hundreds of words in a longer text", words(200, 6).join("|"), 30_000],
		["two long words that begin alike", `${"a".repeat(2000)}b|${"a".repeat(1900)}c`, 10_000],
	])("is what the engine may take for %s", (_name, source, length) => {
		expect(costOf(source, length)).toBeGreaterThan(200);
	});

	it.each([
		["a few dozen words", `(?i)(?:${words(20, 8).join("|")})`, 50_000],
		["whole words", "\\b(?:rm|mkfs|dd|shutdown|reboot)\\b", 200_000],
		["names", "^(?:ReadFile|WriteFile|StrReplaceFile|Shell|Grep|Glob)$", 400_000],
	])("stays small for %s", (_name, source, length) => {
		expect(costOf(source, length)).toBeLessThan(200);
	});

	it("is that of learning what follows, for the first texts, and small for those after them", () => {
		const compiled = compile("a.{10}b", "python");
		if (!compiled.ok) throw new Error(compiled.reason);
		const { pattern } = compiled;
		const [first, text] = [pattern.costIn(10_000), "a".repeat(10_000)];
		expect(first).toBeGreaterThan(15_000_000);
		expect(pattern.test(text)).toBe(false);
		expect(pattern.costIn(10_000)).toBeLessThan(first / 4);
	});

	it("covers all steps of a program in which no state repeats", () => {
		const source = "(?i)[ab]*a[ab]{900}c";
		const compiled = compile(source, "python");
		if (!compiled.ok) throw new Error(compiled.reason);
		let seed = 1;
		const text = Array.from({ length: 3000 }, () => {
			seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
			return (seed >> 16) % 2 === 0 ? "a" : "b";
		}).join("");
		expect(compiled.pattern.test(text)).toBe(false);
		expect(costOf(source, text.length)).toBeGreaterThan(200);
	});
});
