// Cases of the wedge campaign: what a project, a person or another program has written: instructions, skills, agents, settings.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Case, Scene, World } from "./case.ts";
import { fill, list, manyKeys, nest } from "./texts.ts";

const made = /session\/create: /;

/** Written when the other session is there: the hostile one reads it. */
const definition = (area: string, name: string, write: (world: World) => void, prompt = "go"): Case => ({
	area,
	name,
	reached: made,
	set: (world) => ({ prompt, place: () => write(world) }),
});

const instructions = (name: string, write: (world: World) => void): Case => definition("AGENTS.md", name, write);

const projectCases: readonly Case[] = [
	instructions("a megabyte", ({ stage, size }) => stage.write("AGENTS.md", fill("Do as you are told. ", size))),
	instructions("a megabyte of marks of templates", ({ stage, size }) =>
		stage.write("AGENTS.md", fill("{% for x in y %}${{{{", size)),
	),
	instructions("a pipe that nobody writes to", ({ stage }) =>
		execFileSync("mkfifo", [path.join(stage.workDir, "AGENTS.md")]),
	),
	instructions("bytes that are no text", ({ stage, size, random }) =>
		stage.write(
			"AGENTS.md",
			Uint8Array.from({ length: size }, () => random.below(256)),
		),
	),
	instructions("a work directory of fifty thousand files", ({ stage }) => {
		for (let number = 0; number < 50_000; number += 1) writeFileSync(path.join(stage.workDir, `f${number}`), "");
	}),
	instructions("a work directory of a thousand directories of names with line breaks", ({ stage }) => {
		for (let number = 0; number < 1000; number += 1)
			mkdirSync(path.join(stage.workDir, `d\n# ${number}\n${"x".repeat(200)}`, "e"), { recursive: true });
	}),
];

const skill = (name: string, text: (size: number) => string, prompt = "/skill:hostile go"): Case =>
	definition("skills", name, ({ stage, size }) => stage.write(".kimi/skills/hostile/SKILL.md", text(size)), prompt);

const aliases = (depth: number) =>
	Array.from(
		{ length: depth },
		(_, n) => `a${n}: &a${n} [${n === 0 ? '"x"' : fill(`*a${n - 1},`, 45).replace(/,[^,]*$/, "")}]`,
	).join("\n");
const headed = (head: string, text = "text") => `---\n${head}\n---\n${text}\n`;

const skillCases: readonly Case[] = [
	skill("aliases of aliases", () => headed(`${aliases(12)}\nname: hostile\ndescription: d`)),
	skill("an alias used a hundred thousand times", (size) =>
		headed(`a: &a [x, y]\nb: [${list(size, () => "*a", ",")}]\nname: hostile\ndescription: d`),
	),
	skill("deep lists", (size) => headed(`name: hostile\ndescription: d\nx: ${nest("[", "]", size)}`)),
	skill("deep maps", (size) => headed(`name: hostile\ndescription: d\nx: ${nest("{a: ", "}", size, "1")}`)),
	skill("deep dashes", (size) => headed(`name: hostile\ndescription: d\nx:\n  ${fill("- ", size)}a`)),
	skill("deep questions", (size) => headed(`name: hostile\n${fill("? ", size)}a`)),
	skill("many keys", (size) => headed(`name: hostile\ndescription: d\n${list(size, (n) => `k${n}: ${n}`, "\n")}`)),
	skill("tags and anchors", (size) => headed(`name: hostile\ndescription: d\nx: [${fill("!!a &b c, ", size)}]`)),
	skill("quotes that do not close", (size) => headed(`name: hostile\ndescription: "${fill("a\\n ", size)}`)),
	skill("a folded text of blank lines", (size) => headed(`name: hostile\ndescription: >\n${fill("  a\n\n", size)}`)),
	skill("documents in a document", (size) => headed(`name: hostile\ndescription: d\n${fill("...\n", size)}`)),
	skill("merge keys", (size) =>
		headed(`a: &a {x: 1}\nname: hostile\ndescription: d\n${list(size, (n) => `m${n}: {<<: [*a, *a, *a]}`, "\n")}`),
	),
	skill("a head that does not close", (size) => `---\n${fill("name: hostile\n-- -\n", size)}`),
	skill("a description of a megabyte", (size) => headed(`name: hostile\ndescription: ${fill("do ", size - 100)}`)),
	skill("a text of a megabyte", (size) => headed("name: hostile\ndescription: d", fill("do it\n", size - 100))),
	skill("blanks in front", (size) => `${fill(" \n", size)}`),
	definition(
		"skills",
		"three thousand of them",
		({ stage }) => {
			for (let n = 0; n < 3000; n += 1) {
				stage.write(`.kimi/skills/s${n}.md`, headed(`name: s${n}\ndescription: ${fill("d ", 200)}`));
			}
		},
		"/skill:s1 go",
	),
	definition("skills", "a pipe that nobody writes to", ({ stage }) => {
		mkdirSync(path.join(stage.workDir, ".kimi/skills/hostile"), { recursive: true });
		execFileSync("mkfifo", [path.join(stage.workDir, ".kimi/skills/hostile/SKILL.md")]);
	}),
];

const flow = (name: string, text: (size: number) => string): Case =>
	skill(name, (size) => headed("name: hostile\ndescription: d\ntype: flow", text(size - 200)), "/flow:hostile go");
const mermaid = (text: string) => `\`\`\`mermaid\nflowchart TD\n${text}\n\`\`\``;
const d2 = (text: string) => `\`\`\`d2\n${text}\n\`\`\``;

const flowCases: readonly Case[] = [
	flow("mermaid: a chain of tasks", (size) =>
		mermaid(`BEGIN --> n0\n${list(size - 200, (n) => `n${n} --> n${n + 1}`, "\n")}\nn0 --> END`),
	),
	flow("mermaid: an edge to itself, again and again", (size) =>
		mermaid(`BEGIN --> a\n${list(size - 200, (n) => `a -->|l${n}| a`, "\n")}\na -->|x| END`),
	),
	flow("mermaid: brackets that do not close", (size) => mermaid(fill("a[[((", size - 50))),
	flow("mermaid: dashes", (size) => mermaid(`a ${fill("-- -.-> ==", size - 50)}`)),
	flow("mermaid: a line of arrows", (size) => mermaid(fill("a --> ", size - 50))),
	flow("mermaid: a label of a megabyte", (size) => mermaid(`BEGIN --> a["${fill("do it ", size - 200)}"]\na --> END`)),
	flow("mermaid: quotes", (size) => mermaid(`a["${fill('"] --> b["', size - 50)}`)),
	flow("d2: a chain in one line", (size) => d2(`BEGIN -> ${list(size - 200, (n) => `n${n}`, " -> ")} -> END`)),
	flow("d2: deep maps", (size) => d2(nest("a: {", "}", size - 50))),
	flow("d2: block texts that do not close", (size) => d2(fill("a: |md\n|||", size - 50))),
	flow("d2: semicolons and backslashes", (size) => d2(fill("a;\\;b;'\"", size - 50))),
	flow("fences in fences", (size) => fill("```mermaid\n````\n~~~d2\n", size)),
];

const start = (area: string, name: string, reached: RegExp, write: (world: World) => Scene): Case => ({
	area,
	name,
	reached,
	set: (world) => ({ isStart: true, ...write(world) }),
});

const agentFile = (
	name: string,
	text: (size: number) => string,
	prompt: (size: number) => string = () => "You help.",
): Case =>
	start("agent file", name, /session\/create|exit \d: \S/, ({ stage, size }) => {
		stage.write("prompt.md", prompt(size));
		return { flags: ["--agent-file", stage.write("agent.yaml", text(size))] };
	});

const plain = "agent:\n  name: a\n  extend: default\n  system_prompt_path: ./prompt.md\n";

const agentCases: readonly Case[] = [
	agentFile("aliases of aliases", () => `${aliases(12)}\n${plain}`),
	agentFile("deep lists", (size) => `${plain}x: ${nest("[", "]", size)}`),
	agentFile("many keys", (size) => `${plain}${list(size, (n) => `k${n}: ${n}`, "\n")}`),
	agentFile(
		"a list of tools that is a megabyte",
		(size) => `${plain}  exclude_tools: [${list(size, (n) => `kimi_cli.tools.x:T${n}`, ", ")}]`,
	),
	agentFile("an agent that extends itself", () => "agent:\n  extend: ./agent.yaml\n  name: a\n"),
	agentFile(
		"a prompt that includes itself",
		() => plain,
		() => '{% include "prompt.md" %}',
	),
	agentFile(
		"a prompt that includes itself twice",
		() => plain,
		() => '{% include "prompt.md" %}{% include "prompt.md" %}',
	),
	agentFile(
		"loops in loops",
		() => `${plain}  system_prompt_args:\n    L: [${fill("1, ", 300)}1]`,
		() => `${Array.from({ length: 8 }, (_, n) => `{% for a${n} in L %}`).join("")}text${"{% endfor %}".repeat(8)}`,
	),
	agentFile(
		"choices in choices",
		() => plain,
		(size) => nest("{% if KIMI_NOW %}", "{% endif %}", size),
	),
	agentFile(
		"an expression in parentheses",
		() => plain,
		(size) => `{% if ${nest("(", ")", size - 30, "KIMI_NOW")} %}{% endif %}`,
	),
	agentFile(
		"an expression of negations",
		() => plain,
		(size) => `{% if ${fill("not ", size - 30)}KIMI_NOW %}{% endif %}`,
	),
	agentFile(
		"an expression of many parts",
		() => plain,
		(size) => `{% if ${list(size - 30, () => "KIMI_NOW", " and ")} %}{% endif %}`,
	),
	agentFile(
		"notes that do not close",
		() => plain,
		(size) => fill("{# {# ${", size),
	),
	agentFile(
		"a prompt of a megabyte",
		() => plain,
		(size) => fill("Do as you are told. ", size),
	),
];

const settings = (name: string, file: (world: World) => string, reached = /exit \d: \S|session\/create/): Case =>
	start("settings", name, reached, (world) => ({ configFile: world.stage.writeShared("hostile.toml", file(world)) }));

const hundred = Array.from({ length: 100 }, (_, n) => n);

const servers = (name: string, text: (size: number) => string): Case =>
	start("mcp.json", name, /exit \d: \S|session\/create: /, ({ stage, size }) => {
		stage.writeShared("mcp.json", text(size));
		return {};
	});

const settingsCases: readonly Case[] = [
	settings("deep lists", ({ size }) => `x = ${nest("[", "]", size)}`),
	settings("deep tables", ({ size }) => `x = ${nest("{a=", "}", size, "1")}`),
	settings("a dotted key of half a million parts", ({ size }) => `${fill("a.", size)}b = 1`),
	settings("a hundred thousand tables", ({ size }) => list(size, (n) => `[t${n}]`, "\n")),
	settings("tables in tables of tables", ({ size }) => list(size, () => "[[a.b]]", "\n")),
	settings("many models", ({ size }) =>
		list(size, (n) => `[models.m${n}]\nprovider="p${n}"\nmodel="m"\nmax_context_size="x"`, "\n"),
	),
	settings("quotes that do not close", ({ size }) => `x = """${fill('a\\\n""', size)}`),
	settings("numbers of a megabyte", ({ size }) => `x = ${fill("1_", size)}1`),
	settings("dates", ({ size }) => `x = [${fill("1979-05-27T07:32:00.999999-07:00,", size)}]`),
	settings("a key of a megabyte", ({ size }) => `"${fill("k", size)}" = 1\n"${fill("k", size)}" = 2`),
	settings("a thousand hooks with hostile matchers", () =>
		list(
			200_000,
			(n) => `[[hooks]]\nevent="PreToolUse"\ncommand="true"\nmatcher="((a{1,100}){1,100}){1,100}${n}"`,
			"\n",
		),
	),
	settings("JSON that is deep", ({ size }) => nest("[", "]", size)),
	settings("bytes of no kind", ({ size }) => fill("\u0000\ufffd\r", size)),
	settings("line breaks", ({ size }) => fill("\r\n", size)),
	servers("deep lists", (size) => nest("[", "]", size)),
	servers("deep objects", (size) => nest('{"mcpServers":', "}", size, "1")),
	servers("many servers that cannot be", (size) => `{"mcpServers":{${list(size, (n) => `"s${n}":{"x":${n}}`, ",")}}}`),
	servers("a hundred programs that end at once", () =>
		JSON.stringify({ mcpServers: Object.fromEntries(hundred.map((n) => [`s${n}`, { command: "false" }])) }),
	),
	servers(
		"thousands of programs",
		(size) => `{"mcpServers":{${list(Math.min(size, 200_000), (n) => `"s${n}":{"command":"false"}`, ",")}}}`,
	),
	servers("many keys", manyKeys),
	servers("an object that does not close", (size) => fill('{"a":', size)),
];

export const definitionCases: readonly Case[] = [
	...projectCases,
	...skillCases,
	...flowCases,
	...agentCases,
	...settingsCases,
];
