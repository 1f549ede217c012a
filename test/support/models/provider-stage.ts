// A stage whose servers have a model of a provider on loopback, and the turns that are asked of every provider alike.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { createStage, type Stage } from "../executable/executable.ts";
import type { Server, ServerLine } from "../executable/running-server.ts";
import { type ProviderServer, sendEvents, sendJson, startProviderServer } from "./provider-server.ts";

/** The only model of a server. */
export interface ProvidedModel {
	/** The type of its provider. */
	readonly type: string;
	readonly model: string;
	/** Merged over its settings, which are those of a model of words alone. */
	readonly modelSettings?: Readonly<Record<string, unknown>>;
	/** Settings other than models and providers. */
	readonly settings?: Readonly<Record<string, unknown>>;
}

/** Settings as JSON for `--config`. The key of the provider is `sk-test-0123456789abcdef`. */
export function configFor(baseUrl: string, { type, model, modelSettings, settings }: ProvidedModel): string {
	return JSON.stringify({
		default_model: "m",
		models: { m: { provider: "p", model, max_context_size: 100_000, ...modelSettings } },
		providers: { p: { type, base_url: baseUrl, api_key: "sk-test-0123456789abcdef" } },
		...settings,
	});
}

/** A provider that is gone when the running test ends. */
export async function startProvider(...[answerOther]: Parameters<typeof startProviderServer>): Promise<ProviderServer> {
	const provider = await startProviderServer(answerOther);
	onTestFinished(() => provider.close());
	return provider;
}

export interface ProviderStage {
	readonly provider: ProviderServer;
	readonly stage: Stage;
	/** Starts a server with the model of the provider. */
	serve(): Server;
}

/** Sets the stage for the running test; the base URL of the provider is `below` its root. */
export async function createProviderStage(provided: ProvidedModel, below = ""): Promise<ProviderStage> {
	const provider = await startProvider();
	const stage = createStage();
	const config = configFor(provider.url + below, provided);
	return { provider, stage, serve: () => stage.serve("--config", config, "--wire") };
}

/** The turn of `askAboutFile` in words, where the first answer has two parts of content and a call in three pieces. */
export const answeredAboutFile = [
	"TurnBegin",
	"StepBegin",
	"ContentPart",
	"ContentPart",
	"ToolCall",
	"ToolCallPart",
	"ToolCallPart",
	"StatusUpdate",
	"ToolResult",
	"StepBegin",
	"ContentPart",
	"StatusUpdate",
	"TurnEnd",
	"finished",
];

/** Asks what is in `a.txt`, which says hello; the provider answers with these streams, the first in small writes. */
export async function askAboutFile({ provider, stage, serve }: ProviderStage, first: string, second: string) {
	writeFileSync(path.join(stage.workDir, "a.txt"), "hello\n");
	provider.answerNext(sendEvents(first, { chunkSize: 7 }));
	provider.answerNext(sendEvents(second));
	const server = serve();
	server.initialize();
	await server.response("initialize");
	server.prompt("What is in a.txt?");
	const lines = await server.readUntil((line) => line.id === "prompt");
	server.endInput();
	return { lines, code: await server.exited };
}

/** Prompts a model whose provider refuses the key with this body: the error in the response, and how the server ends. */
export async function askUnsuccessfully({ provider, serve }: ProviderStage, body: object) {
	provider.answerNext(sendJson(401, {}, body));
	const server = serve();
	server.prompt("hello");
	const { error } = await server.response("prompt");
	server.endInput();
	return { error, code: await server.exited };
}

/** The usage that is reported for the first answer. */
export function firstStatus(lines: readonly ServerLine[]): unknown {
	return lines.find((line) => line.params?.type === "StatusUpdate")?.params?.payload;
}
