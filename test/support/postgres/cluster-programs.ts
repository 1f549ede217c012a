// Workers, gateways and commands as programs over a schema of their own, with a share directory and a work directory of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import * as v from "valibot";
import { createPostgresPlace, type PostgresPlace } from "./postgres-place.ts";

const ownExecutable = path.resolve("bin/agentwire");

/** A model that says what its prompt asks for, and `scripted`, whose answers are in a file of the share directory. */
const settings = (schema: string, scripts: string) => `
default_model = "quick"
[store]
type = "postgres"
schema = "${schema}"
[providers.p]
type = "_echo"
base_url = ""
api_key = ""
[models.quick]
provider = "p"
model = "echo"
max_context_size = 100000
[providers.s]
type = "_scripted_echo"
base_url = ""
api_key = ""
[providers.s.env]
KIMI_SCRIPTED_ECHO_SCRIPTS = "${scripts}"
[models.scripted]
provider = "s"
model = "scripted"
max_context_size = 100000
[agentwire]
contain = "off"
`;

const answerSchema = v.object({
	/** The members that the tests look at. */
	result: v.optional(
		v.looseObject({
			sessionId: v.optional(v.string(), ""),
			sessions: v.optional(v.array(v.unknown()), () => []),
			openInteractions: v.optional(
				v.array(v.looseObject({ interaction: v.looseObject({ id: v.string() }) })),
				() => [],
			),
			cursor: v.optional(v.object({ epoch: v.string(), seq: v.number() }), { epoch: "", seq: 0 }),
		}),
		{},
	),
	error: v.optional(v.object({ message: v.string() })),
});

const listAnswerSchema = v.object({ result: v.array(v.record(v.string(), v.unknown())) });

export interface Program {
	readonly child: ChildProcess;
	/** The line that it printed when it was ready. */
	readonly ready: Readonly<Record<string, unknown>>;
}

export interface Finished {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, string>>;

export interface ClusterPrograms {
	readonly place: PostgresPlace;
	/** The share directory, which is the work directory too. */
	readonly home: string;
	/** Starts a worker or a gateway, of this build of the program or another one, and waits until it is ready. */
	start(words: readonly string[], environment?: Environment, executable?: string): Promise<Program>;
	/** Runs a command to its end; with a descriptor its stdout is that one, and empty in the result. */
	run(words: readonly string[], environment?: Environment, descriptor?: number): Promise<Finished>;
	/** The gateway as a client with the token of `control` uses it. */
	connect(gateway: Program): Promise<GatewayUse>;
	cleanUp(): Promise<void>;
}

export interface GatewayUse {
	readonly gateway: { readonly url: string; readonly token: string };
	/** Fails with the message of an error. */
	call(
		method: string,
		params?: object,
		headers?: Headers,
	): Promise<NonNullable<v.InferOutput<typeof answerSchema>["result"]>>;
	/** The same of a method that answers with a list. */
	list(method: string, params?: object): Promise<readonly Readonly<Record<string, unknown>>[]>;
	/** The durable events of a session from its beginning, as they come. */
	stream(sessionId: string): Promise<readonly { readonly seq: number; readonly type: string }[]>;
}

const textOf = async (stream: Readable | null) => (stream === null ? "" : await readText(stream));

export async function createClusterPrograms(url: string): Promise<ClusterPrograms> {
	const place = await createPostgresPlace(url);
	const home = await mkdtemp(path.join(tmpdir(), "agentwire-cluster-"));
	await writeFile(path.join(home, "config.toml"), settings(place.schema, path.join(home, "scripts.json")));
	const running: ChildProcess[] = [];
	const spawnOne = (
		words: readonly string[],
		environment: Environment,
		executable = ownExecutable,
		stdout: number | "pipe" = "pipe",
	) => {
		const child = spawn(process.execPath, [executable, ...words], {
			stdio: ["pipe", stdout, "pipe"],
			cwd: home,
			env: { ...process.env, KIMI_SHARE_DIR: home, AGENTWIRE_STORE_URL: url, ...environment },
		});
		running.push(child);
		return child;
	};
	return {
		place,
		home,
		async start(words, environment = {}, executable = ownExecutable) {
			const child = spawnOne([...words, "--json", "--work-dir", home], environment, executable);
			const complaint = textOf(child.stderr);
			if (child.stdout === null) throw new Error("It has no stdout.");
			for await (const line of createInterface({ input: child.stdout })) return { child, ready: JSON.parse(line) };
			throw new Error(`It did not start: ${await complaint}`);
		},
		async run(words, environment = {}, descriptor) {
			const child = spawnOne(words, environment, ownExecutable, descriptor);
			child.stdin?.end();
			const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
			if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
			return { code: child.exitCode, stdout, stderr };
		},
		async connect({ ready }) {
			const { tokens } = JSON.parse(await readFile(path.join(home, "gateway.json"), "utf8"));
			const { token } = tokens.find(({ scope }: { scope: string }) => scope === "control");
			const gateway = { url: String(ready["url"]), token: String(token) };
			const authorization = `Bearer ${gateway.token}`;
			const send = async (method: string, params: object, headers: Headers): Promise<unknown> => {
				const response = await fetch(`${gateway.url}/rpc`, {
					method: "POST",
					headers: { authorization, "content-type": "application/json", ...headers },
					body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
				});
				return await response.json();
			};
			const call: GatewayUse["call"] = async (method, params = {}, headers = {}) => {
				const { result, error } = v.parse(answerSchema, await send(method, params, headers));
				if (error !== undefined) throw new Error(error.message);
				return result;
			};
			const list: GatewayUse["list"] = async (method, params = {}) =>
				v.parse(listAnswerSchema, await send(method, params, {})).result;
			const stream: GatewayUse["stream"] = async (sessionId) => {
				// From the beginning, however late it attaches.
				const { cursor } = await call("session.snapshot", { sessionId });
				const response = await fetch(`${gateway.url}/events?sessions=${sessionId}@${cursor.epoch}:0`, {
					headers: { authorization },
				});
				const events: { readonly seq: number; readonly type: string }[] = [];
				void (async () => {
					let text = "";
					for await (const chunk of response.body ?? []) {
						text += Buffer.from(chunk).toString("utf8");
						const messages = text.split("\n\n");
						text = messages.pop() ?? "";
						for (const message of messages) {
							const data = /^event: e\ndata: (.*)$/m.exec(message)?.[1];
							if (data !== undefined) events.push(JSON.parse(data));
						}
					}
				})().catch(() => {});
				return events;
			};
			return { gateway, call, list, stream };
		},
		async cleanUp() {
			for (const child of running.splice(0)) {
				child.kill("SIGCONT");
				child.kill("SIGKILL");
				if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
			}
			await place.cleanUp();
			await rm(home, { recursive: true, force: true });
		},
	};
}
