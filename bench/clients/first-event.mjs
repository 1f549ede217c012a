// A program that uses a client library, in a new process: the time from its first call, with the library loaded, to the first event and
// to the first text. Prints the milliseconds as JSON.
import { pathToFileURL } from "node:url";

const [name, library, executable, url, workDir, home] = process.argv.slice(2);
// The settings of `home` name the model; only Codex has none there.
const environment = { ...process.env, HOME: home, KIMI_SHARE_DIR: home, CODEX_HOME: home };
const imported = await import(pathToFileURL(library).href);

async function prompt(kernel) {
	const session = await kernel.open({ workDir });
	return { events: session.prompt("hello"), isText: ({ type }) => type === "text", end: () => kernel.close() };
}

/** Each starts and prompts; `isText` fits the event with the answer. */
const programs = {
	connect: async () => prompt(await imported.connect({ command: executable, env: environment })),
	createAgent: async () => prompt(await imported.createAgent({ home, environment, workDir })),
	async codex() {
		// Its own provider would try WebSockets for seven seconds first.
		const bench = { name: "bench", base_url: url, wire_api: "responses", supports_websockets: false };
		const config = { model_provider: "bench", model_providers: { bench } };
		const codex = new imported.Codex({ config, env: environment });
		const thread = codex.startThread({ workingDirectory: workDir, skipGitRepoCheck: true, sandboxMode: "read-only" });
		const { events } = await thread.runStreamed("hello");
		return { events, isText: ({ item }) => item?.type === "agent_message", end: async () => {} };
	},
	async kimi() {
		const session = imported.createSession({ workDir, executable, shareDir: home, env: environment });
		return {
			events: session.prompt("hello"),
			isText: ({ type }) => type === "ContentPart",
			end: () => session.close(),
		};
	},
};

const begun = performance.now();
const { events, isText, end } = await programs[name]();
let first = null;
let text = null;
for await (const event of events) {
	first ??= performance.now() - begun;
	if (isText(event)) text ??= performance.now() - begun;
}
await end();
process.stdout.write(`${JSON.stringify({ first, text })}\n`);
