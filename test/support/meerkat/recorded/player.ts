// Plays the client's lines of a recorded conversation against the built executable, in their order: each is sent when
// the server has said what it had said by then in the recording.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Stage } from "../../executable/executable.ts";
import type { Server } from "../../executable/running-server.ts";
import type { ProviderServer } from "../../models/provider-server.ts";
import { Exchanges } from "./exchanges.ts";
import { at, type Line, type Step, type Value } from "./recording.ts";

export interface Played {
	/** As recorded, and what came of the same lines here; those that could not be sent are missing in the latter. */
	readonly recorded: Exchanges;
	readonly ours: Exchanges;
}

const identifier = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** How long is waited for what was recorded and does not come: it is a difference then. */
const patience = 4000;

export async function play(steps: readonly Step[], stage: Stage, model: ProviderServer): Promise<Played> {
	const player = new Player(stage, model);
	for (const [index, step] of steps.entries()) await player.step(index, step);
	await player.end();
	return player;
}

/** Settings that lead to the recorded model. */
export function configure(stage: Stage, { url }: ProviderServer): void {
	const models = ["claude-sonnet-4-5", "claude-opus-4-8", "claude-haiku-4-5"].map(
		(name) =>
			`[models."${name}"]\nprovider = "anthropic"\nmodel = "${name}"\nmax_context_size = 200000\ncapabilities = ["image_in"]`,
	);
	const provider = `[providers.anthropic]\ntype = "anthropic"\nbase_url = "${url}"\napi_key = "SECRET-1"`;
	writeFileSync(
		path.join(stage.shareDir, "config.toml"),
		// As many attempts as a conversation waits for.
		['default_model = "claude-sonnet-4-5"', "[loop_control]\nmax_retries_per_step = 3", ...models, provider].join(
			"\n\n",
		),
	);
	mkdirSync(path.join(stage.workDir, ".rkat"));
}

class Player implements Played {
	readonly recorded = new Exchanges();
	readonly ours = new Exchanges();
	readonly #stage: Stage;
	readonly #model: ProviderServer;
	#server: Server | null = null;
	#reading: Promise<void> = Promise.resolve();
	#wake: () => void = () => {};
	/** Ids of the recording and those that took their place. */
	readonly #ids = new Map<string, string>();
	#requestsBefore = 0;

	constructor(stage: Stage, model: ProviderServer) {
		this.#stage = stage;
		this.#model = model;
	}

	async step(index: number, step: Step): Promise<void> {
		if (step.kind === "received") {
			this.recorded.received(step.line);
			return;
		}
		await this.#catchUp();
		if (step.kind === "note") await this.#heed(step.text);
		else if (step.kind === "raw") this.#send(index, step.text, null);
		else await this.#sendLine(index, step.line);
	}

	async end(): Promise<void> {
		this.#server?.endInput();
		await this.#reading;
		await this.#server?.exited;
		this.#server = null;
	}

	async #heed(note: string): Promise<void> {
		if (note.includes("second process")) {
			this.#requestsBefore = this.ours.requests.length;
			this.recorded.begin();
			this.ours.begin();
		}
		if (note.includes("SIGKILL")) this.#server?.kill("SIGKILL");
		else if (note.includes("SIGTERM")) this.#server?.kill("SIGTERM");
		if (/exit|SIG|end of output|closed/.test(note) && this.#server !== null) await this.end();
	}

	async #sendLine(index: number, line: Line): Promise<void> {
		if (line["method"] !== undefined) {
			this.#send(index, JSON.stringify(line), line);
			return;
		}
		const [, count] = /^srv-(\d+)$/.exec(String(line["id"])) ?? [];
		if (count === undefined) {
			this.#write(JSON.stringify(line));
			return;
		}
		const place = this.#requestsBefore + Number(count);
		await this.#until(() => this.ours.requests[place] !== undefined);
		const request = this.ours.requests[place];
		if (request !== undefined) this.#write(JSON.stringify({ ...line, id: request["id"] ?? null }));
	}

	/** Not what was cut in the recording, nor what is about a session that could not be made. */
	#send(index: number, text: string, line: Line | null): void {
		this.recorded.sent(index, line ?? parsed(text));
		if (text.includes("…") || text === "EOF") return;
		let isPlayable = true;
		const place = (id: string) => {
			const own = this.#ids.get(id);
			const isMade = this.recorded.all.some(({ session, line: maker }) => session === id && isMaker(maker));
			if (own === undefined && isMade) isPlayable = false;
			return own ?? id;
		};
		let mapped = text.replaceAll(identifier, place);
		for (const [id, own] of this.#ids) {
			mapped = mapped
				.replaceAll(id.toUpperCase(), own.toUpperCase())
				.replaceAll(id.replaceAll("-", ""), own.replaceAll("-", ""));
		}
		if (!isPlayable) return;
		this.ours.sent(index, parsed(mapped));
		this.#write(mapped);
	}

	#write(text: string): void {
		this.#server ??= this.#start();
		this.#server.write(`${text}\n`);
	}

	#start(): Server {
		const home = path.dirname(this.#stage.workDir);
		const server = this.#stage.serveWith({ HOME: home }, "rpc", "--realm", "dev");
		this.#reading = (async () => {
			for (let line = await server.read(); line !== null; line = await server.read()) {
				this.ours.received(line as unknown as Line);
				this.#wake();
			}
			this.#wake();
		})();
		return server;
	}

	/** Waits until what the recording holds by now was said here too. */
	async #catchUp(): Promise<void> {
		await this.#until(() => this.recorded.all.every((each) => this.#hasCome(each)));
		for (const { index, answers, events, session } of this.recorded.all) {
			const own = this.ours.get(index);
			if (own === undefined) continue;
			if (session !== null && own.session !== null) this.#ids.set(session, own.session);
			this.#bind(answers[0], own.answers[0]);
			this.#bind(events.find(isStart), own.events.find(isStart));
		}
	}

	#hasCome({ index, answers, events, line }: Exchanges["all"][number]): boolean {
		const own = this.ours.get(index);
		if (own === undefined || own.answers.length > 0) return true;
		if (answers.length > 0) return false;
		const types = new Set(own.events.map((each) => at(each, "payload", "type")));
		if (events.length > 0) return events.every((each) => types.has(at(each, "payload", "type")));
		const prompt = at(line ?? undefined, "params", "prompt");
		const isSilent = at(line ?? undefined, "params", "session_events") === false && typeof prompt === "string";
		return !isSilent || this.#model.requests.some(({ body }) => JSON.stringify(body).includes(prompt));
	}

	#bind(recorded: Value | undefined, own: Value | undefined): void {
		if (typeof recorded === "string" && typeof own === "string") {
			if (recorded.match(identifier)?.[0] === recorded && own.match(identifier)?.[0] === own)
				this.#ids.set(recorded, own);
		} else if (typeof recorded === "object" && recorded !== null && typeof own === "object" && own !== null) {
			for (const [name, each] of Object.entries(recorded)) this.#bind(each, at(own, name));
		}
	}

	async #until(holds: () => boolean): Promise<void> {
		const deadline = performance.now() + patience;
		while (!holds()) {
			const left = deadline - performance.now();
			if (left <= 0) return;
			let timer: NodeJS.Timeout | undefined;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
				timer = setTimeout(resolve, Math.min(left, 20));
			});
			clearTimeout(timer);
		}
	}
}

const isStart = (event: Value) => at(event, "payload", "type") === "run_started";
const isMaker = (line: Line | null) => at(line ?? undefined, "method") === "session/create";

function parsed(text: string): Line | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Line) : null;
	} catch {
		return null;
	}
}
