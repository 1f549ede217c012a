import path from "node:path";
import { isatty } from "node:tty";
import { systemClock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import type { OfferedModel, ProviderEntry } from "../../frontends/gateway/setup.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { createCommandFetch } from "../command-services.ts";
import { addModel, listOffered } from "../gateway/setup.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { withEscapes } from "../printable-text.ts";
import { environmentVariables } from "../process/environment.ts";
import { openQuestions, type Questions } from "../process/terminal-question.ts";
import { whileShown } from "../process/waiting-line.ts";

const choices: readonly { readonly provider: ProviderEntry["provider"]; readonly name: string }[] = [
	{ provider: "anthropic", name: "Anthropic" },
	{ provider: "openai", name: "OpenAI" },
	{ provider: "gemini", name: "Google Gemini" },
	{ provider: "moonshot", name: "Moonshot AI (Kimi), with an API key" },
	{ provider: "compatible", name: "Another service with OpenAI's API, such as Ollama or vLLM" },
];

const shownModels = 20;
const assumedContextSize = 100_000;

class Unanswered extends Error {
	override readonly name = "Unanswered";
}

export async function runSetup(program: string): Promise<number> {
	if (!isatty(0) || !isatty(2))
		throw new UsageError(
			"setup asks questions and needs a terminal. Elsewhere, set a key such as ANTHROPIC_API_KEY, or write config.toml.",
		);
	const environment = environmentVariables();
	const place = { currentDir: currentDirectory(), home: homeDirectory() };
	const shareDir = shareDirectory(environment, place);
	const files = createDiskFiles(privateBelow(shareDir));
	const network = { fetch: createCommandFetch({ environment, files, shareDir, place }) };
	const stopping = new AbortController();
	const questions = openQuestions(stopping.signal);
	try {
		const { entry, models } = await chooseProvider(questions, (given) =>
			whileShown("Asking the provider for its models", () => listOffered(given, { network })),
		);
		const model = await chooseModel(questions, models);
		const contextSize = model.contextSize ?? (await askContextSize(questions));
		const parts = { files, clock: systemClock, shareDir, reload: async () => {} };
		const alias = await addModel({ ...entry, model: model.id, contextSize }, parts, true);
		say(`${alias} is now the default model, written to ${path.join(shareDir, "config.toml")}.`);
		say(`Try it: ${program} "What does this project do?"`);
		return 0;
	} catch (thrown) {
		if (thrown instanceof Unanswered) say("Nothing was written.");
		else if (thrown instanceof KernelError) say(`Error: ${thrown.message}`);
		else throw thrown;
		return 1;
	} finally {
		questions.close();
	}
}

type List = (entry: ProviderEntry) => Promise<readonly OfferedModel[]>;

async function chooseProvider(questions: Questions, list: List) {
	say("Whose models do you want to use?");
	for (const [index, { name }] of choices.entries()) say(`  ${index + 1}  ${name}`);
	const chosen = await untilValid(questions, "Number: ", (typed) => choices[Number(typed) - 1] ?? null);
	for (;;) {
		const baseUrl =
			chosen.provider === "compatible"
				? await askLine(questions, "Address of its API, such as http://localhost:11434/v1: ")
				: null;
		const key = (await answered(questions.askHidden("API key (not shown): "))).trim();
		const entry: ProviderEntry = { provider: chosen.provider, key, ...(baseUrl === null ? {} : { baseUrl }) };
		try {
			return { entry, models: await list(entry) };
		} catch (thrown) {
			if (!(thrown instanceof KernelError)) throw thrown;
			say(`${withEscapes(thrown.message)} Try again, or end with Ctrl-D.`);
		}
	}
}

async function chooseModel(questions: Questions, models: readonly OfferedModel[]): Promise<OfferedModel> {
	let shown = models;
	for (;;) {
		for (const [index, { id, name }] of shown.slice(0, shownModels).entries())
			say(`  ${String(index + 1).padStart(2)}  ${withEscapes(id)}${name === id ? "" : `  (${withEscapes(name)})`}`);
		if (shown.length > shownModels) say(`  and ${shown.length - shownModels} more`);
		const typed = await askLine(questions, "Number, or a part of the name: ");
		const exact = /^\d+$/.test(typed) ? shown[Number(typed) - 1] : models.find(({ id }) => id === typed);
		if (exact !== undefined) return exact;
		const matching = models.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(typed.toLowerCase()));
		const [only] = matching;
		if (matching.length === 1 && only !== undefined) return only;
		if (matching.length === 0) say(`No model has "${withEscapes(typed)}" in its name.`);
		shown = matching.length === 0 ? models : matching;
	}
}

const askContextSize = (questions: Questions) =>
	untilValid(questions, `Context window in tokens [${assumedContextSize}]: `, (typed) => {
		const size = typed === "" ? assumedContextSize : Number(typed);
		return Number.isSafeInteger(size) && size >= 1000 ? size : null;
	});

async function untilValid<Value>(
	questions: Questions,
	question: string,
	read: (typed: string) => Value | null,
): Promise<Value> {
	for (;;) {
		const value = read((await answered(questions.ask(question))).trim());
		if (value !== null) return value;
	}
}

const askLine = (questions: Questions, question: string) =>
	untilValid(questions, question, (typed) => (typed === "" ? null : typed));

async function answered(answer: Promise<string | null>): Promise<string> {
	const text = await answer;
	if (text === null) throw new Unanswered();
	return text;
}

function say(text: string): void {
	process.stderr.write(`${text}\n`);
}
