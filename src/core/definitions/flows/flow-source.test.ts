// Finding the flow in a Markdown text.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../../test/support/host/pauses.ts";
import { parseFlow } from "./flow-source.ts";

const mermaid = "```mermaid\nBEGIN --> m\nm --> END\n```\n";
const d2 = "```d2\nBEGIN -> d -> END\n```\n";

/** The ids of the nodes, or why there are none. */
function read(...markdown: string[]): string {
	const parsed = parseFlow(markdown.join("\n"));
	return parsed.ok ? [...parsed.flow.nodes.keys()].join(" ") : parsed.reason;
}

describe("parseFlow", () => {
	it.each([
		["Mermaid", mermaid, "BEGIN m END"],
		["D2", d2, "BEGIN d END"],
		["a block within text", `---\na: b\n---\n# Title\n\ntext\n${mermaid}text`, "BEGIN m END"],
		["the first of several", `${d2}${mermaid}`, "BEGIN d END"],
		["the first one after other blocks", `\`\`\`sh\nls\n\`\`\`\n${mermaid}`, "BEGIN m END"],
		["no block within another one", `\`\`\`\`markdown\n${d2}\`\`\`\`\n${mermaid}`, "BEGIN m END"],
		["no block within one of tildes", `~~~\n${d2}~~~\n${mermaid}`, "BEGIN m END"],
		["tildes", "~~~ D2 title\nBEGIN -> END\n~~~", "BEGIN END"],
		["an indented block", "- item\n\n  ```mermaid\n  BEGIN --> END\n  ```", "BEGIN END"],
		["line ends of Windows", mermaid.replaceAll("\n", "\r\n"), "BEGIN m END"],
		["a longer closing line", "```d2\nBEGIN -> END\n`````\nx -> y", "BEGIN END"],
		["a block that is not closed", "```d2\nBEGIN -> END\n", "BEGIN END"],
		["no code within a line", `\`\`\`d2 a -> b\`\`\`\n${mermaid}`, "BEGIN m END"],
	])("finds %s", (_, markdown, expected) => {
		expect(read(markdown)).toBe(expected);
	});

	it.each([
		["", "there is no fenced mermaid or d2 block"],
		["```mermaids\nBEGIN --> END\n```", "there is no fenced mermaid or d2 block"],
		["`mermaid` BEGIN --> END", "there is no fenced mermaid or d2 block"],
		["```mermaid\n```", "there is no node BEGIN"],
		[`one\n\n\`\`\`mermaid\nBEGIN --> a\na - b\n\`\`\`\n${d2}`, 'line 5: an arrow is expected at "- b"'],
		["\r\n~~~d2\r\nBEGIN -> a\r\na <- b\r\n~~~", 'line 4: "a <- b" has an unknown arrow: write "a -> b"'],
	])("refuses %j", (markdown, reason) => {
		expect(parseFlow(markdown)).toEqual({ ok: false, reason });
	});

	it("throws only errors with a reason for any text, and returns only complete flows", () => {
		const line = fc.constantFrom(
			"BEGIN",
			"END",
			"a",
			"b",
			"BEGIN->a",
			"a->END:x",
			"a-->|x|END",
			"a-->b",
			"a->b:y",
			"b",
			"{",
			"```",
		);
		const text = fc.oneof(
			fc.string({ unit: "binary" }),
			fc
				.tuple(
					fc.constantFrom("```mermaid", "```d2", "~~~d2"),
					fc.array(fc.oneof(line, line, fc.string()), { maxLength: 8 }),
				)
				.map(([fence, lines]) => [fence, ...lines].join("\n")),
		);
		fc.assert(
			fc.property(text, (markdown) => {
				const parsed = parseFlow(markdown);
				if (!parsed.ok) {
					expect(parsed.reason).not.toBe("");
					return;
				}
				const { begin, nodes } = parsed.flow;
				expect(nodes.get(begin)?.kind).toBe("begin");
				for (const node of nodes.values()) {
					if (node.kind === "end") continue;
					const targets = node.kind === "decision" ? [...node.branches.values()] : [node.next];
					expect(targets.every((target) => nodes.has(target))).toBe(true);
					if (node.kind === "decision") expect(targets.length).toBeGreaterThan(1);
				}
			}),
			{ numRuns: 2000 },
		);
	});

	it.each(["mermaid", "d2"])("parses a large diagram in %s in bounded time", async (language) => {
		const arrow = language === "d2" ? "->" : "-->";
		const draw = (count: number) =>
			[
				`\`\`\`${language}`,
				`BEGIN ${arrow} n0`,
				...Array.from({ length: count }, (_, index) => `n${index} ${arrow} n${index + 1}`),
				`n${count} ${arrow} END`,
				"```",
			].join("\n");
		expect(parseFlow(draw(5000)).ok).toBe(true);
		expect(await shortestPause(async () => parseFlow(draw(5000)))).toBeLessThan(longestPause);
		expect(parseFlow(draw(50_000))).toEqual({ ok: false, reason: "the diagram has more than 131072 characters" });
		expect(await shortestPause(async () => parseFlow(draw(50_000)))).toBeLessThan(longestPause);
	});
});
