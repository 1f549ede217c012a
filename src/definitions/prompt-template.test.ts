// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are written so.
import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../test/support/memory-files.ts";
import { loadPromptTemplate, renderTemplate, TemplateError } from "./prompt-template.ts";
import type { TemplateValue } from "./template-expression.ts";

const values: Readonly<Record<string, TemplateValue>> = {
	NAME: "kim",
	EMPTY: "",
	MARKUP: "${NAME} {% if %} {# #}",
	LIST: ["a", "b"],
	COUNT: 2,
	NOTHING: null,
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

	it("leaves no line for a tag that has one to itself", async () => {
		const source =
			"Tools:\n  {% for item in LIST %}\n- ${item}\n  {% endfor %}\n{# note #}\n\t{% if NAME %}\nend\n{% endif %}\n.";
		expect(await render(source)).toBe("Tools:\n- a\n- b\nend\n.");
		expect(await render("x {% if NAME %}\ny{% endif %}")).toBe("x y");
		expect(await render("x\n  {%+ if NAME +%}\ny{% endif %}")).toBe("x\n  \ny");
	});

	it("includes files beside the prompt, whoever includes them", async () => {
		const others = { "parts/a.md": "A ${NAME} {% include 'parts/b.md' %}", "parts/b.md": "B" };
		expect(await render('{% include "parts/a.md" %}, {% include "parts/b.md" %}', others)).toBe("A kim B, B");
		expect(await render('{% for NAME in LIST %}{% include "parts/a.md" %};{% endfor %}', others)).toBe("A a B;A b B;");
	});
});

describe("faults", () => {
	it.each([
		["\n\n${MISSING}", 3, "the variable 'MISSING' is not defined"],
		["{% if MISSING %}{% endif %}", 1, "the variable 'MISSING' is not defined"],
		["a\n${LIST}", 2, "the value is a list or a map, not a text"],
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

	it("names the included file", async () => {
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

	it("sees circles", async () => {
		expect(await refusal('{% include "a.md" %}', { "a.md": '{% include "main.md" %}' })).toEqual([
			"/p/a.md",
			1,
			'includes itself through "main.md"',
		]);
	});

	it("wants a file", async () => {
		const files = createMemoryFiles();
		await files.makeDirectory("/p");
		const load = (file: string) => loadPromptTemplate(file, files).catch((error: unknown) => String(error));
		expect(await load("/p/none.md")).toBe("TemplateError: /p/none.md: there is no such file");
		expect(await load("/p")).toBe("TemplateError: /p: is not a file");
	});
});
