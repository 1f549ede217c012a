// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are written so.
import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../../test/support/host/pauses.ts";
import { createMemoryFiles } from "../../../../test/support/store/memory-files.ts";
import { loadPromptTemplate, renderTemplate } from "./prompt-template.ts";
import type { TemplateValue } from "./template-expression.ts";
import { TemplateError } from "./template-nodes.ts";

const values: Readonly<Record<string, TemplateValue>> = {
	NAME: "kim",
	EMPTY: "",
	MARKUP: "${NAME} {% if %} {# #}",
	LIST: ["a", "b"],
	COUNT: 2,
	NOTHING: null,
	LONG: "a".repeat(30_000),
};

async function render(source: string, others: Readonly<Record<string, string>> = {}): Promise<string> {
	const files = createMemoryFiles();
	for (const [name, text] of Object.entries({ "main.md": source, ...others })) {
		await files.makeDirectory(`/p/${name}/..`);
		await files.replace(`/p/${name}`, text);
	}
	return renderTemplate(await loadPromptTemplate("/p/main.md", files), new Map(Object.entries(values)));
}

async function refusal(source: string, others: Readonly<Record<string, string>> = {}) {
	const thrown = await render(source, others).catch((error: unknown) => error);
	if (!(thrown instanceof TemplateError)) throw new Error(`Not refused: ${String(thrown)}`);
	const { file, line, reason } = thrown;
	return [file, line, reason];
}

describe("rendering", () => {
	it.each([
		["  \n plain $NAME {NAME} 50% \n\n", "plain $NAME {NAME} 50%"],
		["I am ${NAME}, ${ NAME }${EMPTY}.", "I am kim, kim."],
		["${MARKUP}", "${NAME} {% if %} {# #}"],
		["${COUNT} ${NOTHING}.", "2 ."],
		["${'${NAME}'}", "${NAME}"],
		["a{# not ${SEEN} #}b", "ab"],
		["{% if NAME %}yes{% endif %}", "yes"],
		["{% if EMPTY %}yes{% else %}no{% endif %}", "no"],
		["{% if EMPTY %}1{% elif NAME == 'x' %}2{% elif COUNT == 2 %}3{% else %}4{% endif %}", "3"],
		["{% if EMPTY %}${MISSING}{% endif %}fine", "fine"],
		["{% if NAME %}{% if EMPTY %}a{% else %}b{% endif %}{% endif %}", "b"],
		["{% for item in LIST %}[${item}]{% endfor %}", "[a][b]"],
		["{% for a in LIST %}{% for b in LIST %}${a}${b} {% endfor %}{% endfor %}", "aa ab ba bb"],
		["{% for NAME in LIST %}${NAME}{% endfor %}${NAME}", "abkim"],
		['{% if NAME == "%}" %}a{% else %}b{% endif %}', "b"],
		["a {%- if NAME -%} b {%- endif %} c", "ab c"],
	])("%s", async (source, text) => {
		expect(await render(source)).toBe(text);
	});

	it("removes a line that has nothing but a tag", async () => {
		const source =
			"Tools:\n  {% for item in LIST %}\n- ${item}\n  {% endfor %}\n{# note #}\n\t{% if NAME %}\nend\n{% endif %}\n.";
		expect(await render(source)).toBe("Tools:\n- a\n- b\nend\n.");
		expect(await render("x {% if NAME %}\ny{% endif %}")).toBe("x y");
		expect(await render("x\n  {%+ if NAME +%}\ny{% endif %}")).toBe("x\n  \ny");
	});

	it("includes files relative to the prompt, whichever file includes them", async () => {
		const others = { "parts/a.md": "A ${NAME} {% include 'parts/b.md' %}", "parts/b.md": "B" };
		expect(await render('{% include "parts/a.md" %}, {% include "parts/b.md" %}', others)).toBe("A kim B, B");
		expect(await render('{% for NAME in LIST %}{% include "parts/a.md" %};{% endfor %}', others)).toBe("A a B;A b B;");
	});
});

describe("faults", () => {
	it.each([
		["\n\n${MISSING}", 3, "the variable 'MISSING' is not defined"],
		["{% if MISSING %}{% endif %}", 1, "the variable 'MISSING' is not defined"],
		["a\n${LIST}", 2, "the value is a list or a map, not a string"],
		["{% for x in NAME %}{% endfor %}", 1, "a loop needs a list"],
		["\n{% for x %}{% endfor %}", 2, "a loop is written {% for NAME in LIST %}"],
		["{% for x in LIST %}", 1, "{% for %} has no {% endfor %}"],
		["{% if NAME %}\n{% else %}", 1, "{% if %} has no {% endif %}"],
		["{% if NAME %}{% else %}{% elif NAME %}{% endif %}", 1, "{% elif %} is not expected here"],
		["{% if NAME %}\n{% endfor %}{% endif %}", 2, "{% endfor %} is not expected here"],
		["{% endif %}", 1, "{% endif %} is not expected here"],
		["{% macro x %}", 1, "{% macro %} is not expected here"],
		["{% include NAME %}", 1, 'write {% include "file" %}'],
		["\n{% if NAME", 2, "'{%' is not closed"],
		["costs ${ 5", 1, "'${' is not closed"],
		["{# note", 1, "'{#' is not closed"],
		["${NAME | upper}", 1, "'NAME | upper' is not understood"],
	])("%j", async (source, line, reason) => {
		expect(await refusal(source)).toEqual(["/p/main.md", line, reason]);
	});

	it("name the included file", async () => {
		expect(await refusal('{% include "a.md" %}', { "a.md": "1\n${MISSING}" })).toEqual([
			"/p/a.md",
			2,
			"the variable 'MISSING' is not defined",
		]);
		expect(await refusal('\n{% include "none.md" %}')).toEqual([
			"/p/main.md",
			2,
			'cannot include "none.md": there is no such file',
		]);
	});

	it("include circular includes", async () => {
		expect(await refusal('{% include "a.md" %}', { "a.md": '{% include "main.md" %}' })).toEqual([
			"/p/a.md",
			1,
			'includes itself through "main.md"',
		]);
	});

	it("include a missing file", async () => {
		const files = createMemoryFiles();
		await files.makeDirectory("/p");
		const load = (file: string) => loadPromptTemplate(file, files).catch((error: unknown) => String(error));
		expect(await load("/p/none.md")).toBe("TemplateError: /p/none.md: there is no such file");
		expect(await load("/p")).toBe("TemplateError: /p: is not a file");
	});
});

const many = (text: string, length = 250_000) => text.repeat(Math.floor(length / text.length));
const steps = "the prompt takes more than 50000 steps; take out loops or includes";
const grown = "the prompt grows longer than 1048576 characters; take out loops, includes or variables";
const nested = "blocks nest more than 100 deep";

/** Each file includes the next one twice. */
const doubled = (text: string): Record<string, string> => {
	const names = Array.from({ length: 40 }, (_, index) => [
		`${index}.md`,
		`\n{% include "${index + 1}.md" %}{% include "${index + 1}.md" %}`,
	]);
	return { ...Object.fromEntries(names), "40.md": text };
};

describe("a template that exceeds the limits", () => {
	it.each<[string, string, Record<string, string>, unknown[]]>([
		["nested loops", `\n${"{% for a in LIST %}".repeat(30)}${"{% endfor %}".repeat(30)}`, {}, ["main.md", 2, steps]],
		[
			"loops with text",
			`\n${"{% for a in LIST %}".repeat(10)}${many("x", 2000)}${"{% endfor %}".repeat(10)}`,
			{},
			["main.md", 2, grown],
		],
		["a repeated variable", `a\n${many("${LONG}", 700)}`, {}, ["main.md", 2, grown]],
		["a repeated condition", `a\n${many("{% if 'b' in LONG %}{% endif %}")}`, {}, ["main.md", 2, steps]],
		["includes that multiply", '{% include "0.md" %}', doubled(""), ["39.md", 2, steps]],
		["includes that multiply a text", '{% include "0.md" %}', doubled(many("x", 2000)), ["40.md", 1, grown]],
		["nested blocks", `a\n${many("{% if NAME %}\n")}`, {}, ["main.md", 102, nested]],
		[
			"nested blocks in an include",
			'a\n{% include "b.md" %}',
			{ "b.md": many("{% if NAME %}\n") },
			["b.md", 101, nested],
		],
		[
			"nested blocks and includes",
			`${"{% if NAME %}".repeat(60)}{% include "b.md" %}${"{% endif %}".repeat(60)}`,
			{ "b.md": `\n\n${"{% if NAME %}".repeat(60)}x${"{% endif %}".repeat(60)}` },
			["b.md", 3, "blocks and includes nest more than 100 deep"],
		],
		["parentheses", `a\n\n\${${many("(")}}`, {}, ["main.md", 3, "an expression is longer than 1000 characters"]],
		[
			"negations",
			`{% if ${many("not ")} NAME %}{% endif %}`,
			{},
			["main.md", 1, "an expression is longer than 1000 characters"],
		],
		[
			"a long file",
			many("x", 300_000),
			{},
			["main.md", 0, "is too long: a prompt with its includes may have 262144 bytes"],
		],
		[
			"a long include",
			'a\n{% include "b.md" %}',
			{ "b.md": many("x", 262_140) },
			["main.md", 2, 'cannot include "b.md": is too long: a prompt with its includes may have 262144 bytes'],
		],
		["many alternatives", `{% if EMPTY %}${many("{% elif EMPTY %}")}{% endif %}`, {}, []],
		["many comments", many("{##}"), {}, []],
		["many values", many("${NAME}", 100_000), {}, []],
	])("is refused in bounded time: %s", async (_name, source, others, [name, ...rest]) => {
		const result = await render(source, others).then(
			() => [],
			(error: unknown) => (error instanceof TemplateError ? [error.file, error.line, error.reason] : [error]),
		);
		expect(result).toEqual(name === undefined ? [] : [`/p/${String(name)}`, ...rest]);
		expect(await shortestPause(() => render(source, others).catch(() => undefined))).toBeLessThan(longestPause);
	});
});
