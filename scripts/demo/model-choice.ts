// Which model the demo talks to: a script by default, a real endpoint when the environment names one.
import { faultyLine, fixedLine, testCommand } from "./project.ts";

export interface ModelChoice {
	/** For people. */
	readonly description: string;
	readonly isScripted: boolean;
	/** The text of a configuration file that has this model as its default. */
	readonly configuration: string;
	/** The text of the file of scripts; null for a real model. */
	readonly scripts: string | null;
}

/** What every demo asks for. */
export const promptText = `A test of this project fails. Run \`${testCommand}\`, find out why, fix the code (not the test) and show that the test passes.`;

const variables = ["AGENTWIRE_DEMO_BASE_URL", "AGENTWIRE_DEMO_API_KEY", "AGENTWIRE_DEMO_MODEL"] as const;

/** The environment for children: without the demo's own variables (one is a secret) and without what would bend Node. */
export function childEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, NODE_V8_COVERAGE: _coverage, ...rest } = environment;
	return Object.fromEntries(Object.entries(rest).filter(([name]) => !variables.some((own) => own === name)));
}

/** Reads the choice from the environment; `scriptsPath` is where the scripts will be. Throws when it is half made. */
export function chooseModel(environment: NodeJS.ProcessEnv, scriptsPath: string): ModelChoice {
	const given = variables.filter((name) => (environment[name] ?? "") !== "");
	if (given.length === 0) return scriptedModel(scriptsPath);
	if (given.length < variables.length) {
		throw new Error(`To use a real model, set all of ${variables.join(", ")}; to use the script, none.`);
	}
	const [baseUrl, apiKey, model] = variables.map((name) => environment[name] ?? "");
	return {
		description: `${model} at ${baseUrl}`,
		isScripted: false,
		configuration: toConfiguration({ model, max_context_size: 128_000 }, { base_url: baseUrl, api_key: apiKey }),
		scripts: null,
	};
}

function toConfiguration(model: object, provider: object, type = "openai_legacy"): string {
	return JSON.stringify({
		default_model: "demo",
		models: { demo: { provider: "demo", ...model } },
		providers: { demo: { type, ...provider } },
	});
}

function scriptedModel(scriptsPath: string): ModelChoice {
	return {
		description: "a script that plays the model: no key, no network",
		isScripted: true,
		configuration: toConfiguration(
			{ model: "scripted_echo", max_context_size: 100_000 },
			{ base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scriptsPath } },
			"_scripted_echo",
		),
		scripts: JSON.stringify(scripts()),
	};
}

interface Answer {
	readonly text: string;
	readonly tool?: readonly [name: string, values: object];
}

const answers: readonly Answer[] = [
	{ text: "I will run the test first, to see how it fails.", tool: ["Shell", { command: testCommand }] },
	{
		text: "The total of 300, 400 and 500 comes out as 900: the first price is missing. I will read the function.",
		tool: ["ReadFile", { path: "basket.js" }],
	},
	{
		text: "There it is: the loop starts at 1, but the first index of a list is 0. One character has to change.",
		tool: ["StrReplaceFile", { path: "basket.js", edit: { old: faultyLine, new: fixedLine } }],
	},
	{ text: "Now the test again.", tool: ["Shell", { command: testCommand }] },
	{ text: "Both tests pass. The loop in basket.js skipped the first price; it now starts at 0." },
];

/** One script for each answer; its text in pieces of a word or two, as a model would stream it. */
function scripts(): readonly string[] {
	return answers.map(({ text, tool }, index) => {
		const lines = [`id: demo-${index + 1}`, `usage: input_other=${900 + 250 * index} output=${40 + 7 * index}`];
		lines.push(...(text.match(/\s*\S+(?:\s+\S+)?/g) ?? []).map((piece) => `text: ${piece}`));
		if (tool !== undefined) {
			const [name, values] = tool;
			lines.push(`tool_call: ${JSON.stringify({ id: `call-${index + 1}`, name, arguments: JSON.stringify(values) })}`);
		}
		return lines.join("\n");
	});
}
