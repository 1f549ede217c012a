import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { parseFrontmatter } from "./frontmatter.ts";
import { parseYaml } from "./yaml-text.ts";

const fill = (text: string) => text.repeat(Math.floor(1_000_000 / text.length));
const count = (make: (index: number) => string) => Array.from({ length: 60_000 }, (_, index) => make(index)).join("");

const hostile: readonly (readonly [name: string, source: string])[] = [
	["keys", count((index) => `k${index}: 1\n`)],
	["keys in braces", `{${count((index) => `k${index}: 1,`)}}`],
	["nested lists", fill("[")],
	["nested maps", fill("{a: ")],
	["nested items", fill("- ")],
	["nested complex keys", fill("? ")],
	["nested indentation", Array.from({ length: 1400 }, (_, index) => `${" ".repeat(index)}a:`).join("\n")],
	["aliases", `a: &a 1\n${count((index) => `k${index}: *a\n`)}`],
	[
		"exponential aliases",
		`a0: &a0 [x, x]\n${Array.from({ length: 30 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]\n`).join("")}`,
	],
	["merges", `a: &a {${"k: 1"}}\n${count((index) => `m${index}: {<<: *a}\n`)}`],
	["tags", fill("!!str ")],
	["anchors", fill("&a ")],
	["commas", `[${fill(",")}`],
	["closing brackets", fill("]")],
	["quotes", fill('"')],
	["escapes", `"${fill("\\x41")}"`],
	["lines of a text", `a: |\n${fill("  x\n")}`],
	["blank lines", fill("\n")],
	["comments", fill("# x\n")],
	["colons", fill("a: b: c\n")],
	["directives", fill("%YAML 1.2\n")],
];

/** As many of its characters and tokens as are let through. */
function withinLimits(source: string): string {
	return source.slice(0, 5000);
}

describe("parseYaml", () => {
	it.each(hostile)("parses or refuses a megabyte of %s in bounded time", async (_name, source) => {
		for (const text of [source, source.slice(0, 250_000), withinLimits(source)]) {
			expect(await shortestPause(() => parseYaml(text, "typed"))).toBeLessThan(longestPause);
			expect(await shortestPause(() => parseFrontmatter(text))).toBeLessThan(longestPause);
		}
	});

	it.each([
		["The YAML is too large: it has more than 262144 characters", "x".repeat(300_000)],
		["The YAML is too large: it has more than 5000 words, signs and line ends", "- a\n".repeat(2000)],
		// Whether the values nest too deeply depends on the stack of the runtime; that they are not ended does not.
		["Invalid YAML: ", "[".repeat(4000)],
		["Invalid YAML: Excessive alias count indicates a resource exhaustion attack", hostile[8]?.[1] ?? ""],
	])("says %s", async (reason, source) => {
		const result = await parseYaml(source, "typed");
		expect("reason" in result && result.reason).toContain(reason.slice(0, 60));
	});

	it("reads realistic input: hundreds of keys, and a long text", async () => {
		const keys = Array.from({ length: 500 }, (_, index) => `key-${index}: value\n`).join("");
		const text = `text: |\n${"  a line of a prompt\n".repeat(4)}`;
		expect(await parseYaml(keys + text, "typed")).toMatchObject({ content: { "key-499": "value" } });
	});
});
