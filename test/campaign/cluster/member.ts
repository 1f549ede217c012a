// One process of the cluster, a worker or a gateway: between it and the database, and before a worker, stand proxies that fail.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createFaultProxy, type FaultProxy } from "../../support/postgres/fault-proxy.ts";
import { type Place, type RunningExecutable, startExecutable } from "../frame/executable.ts";
import { withPatience } from "../frame/patience.ts";

/** Milliseconds for a process to be ready, while the database answers. */
const startPatience = 60_000;
const preload = fileURLToPath(new URL("moved-clock.cjs", import.meta.url));

export interface MemberOptions {
	readonly name: string;
	readonly kind: "worker" | "gateway";
	readonly place: Place;
	readonly settings: string;
	readonly database: FaultProxy;
	/** Of a worker: where gateways reach it, and the port on which it listens. */
	readonly front: { readonly proxy: FaultProxy; readonly port: number } | null;
	/** Called with what was not asked for. */
	readonly onFinding: (text: string) => void;
	/** Called with what is done to it. */
	readonly onNews: (text: string) => void;
}

export class Member {
	readonly name: string;
	readonly kind: MemberOptions["kind"];
	readonly database: FaultProxy;
	readonly front: FaultProxy | null;
	state: "down" | "starting" | "running" | "stopped" = "down";
	/** Whether nothing comes through between it and the database. */
	isCutOff = false;
	/** Whether nothing comes through between it and gateways. */
	isOutOfReach = false;
	/** Whether its clock can be moved: the form of one executable file loads nothing before itself. */
	hasMovableClock = false;
	/** How often something happened to it after which its turns are taken over. */
	graveFaults = 0;
	/** How often it was ended or stopped, or its connections were. */
	disturbances = 0;
	/** Where a gateway is reached. */
	port = 0;
	readonly #options: MemberOptions;
	#process: RunningExecutable | null = null;

	constructor(options: MemberOptions) {
		this.#options = options;
		this.name = options.name;
		this.kind = options.kind;
		this.database = options.database;
		this.front = options.front?.proxy ?? null;
	}

	get pid(): number {
		return this.#process?.pid ?? 0;
	}

	/** Whether it can do its work. */
	get isWell(): boolean {
		return this.state === "running" && !this.isCutOff;
	}

	/** Starts it; again and again while it cannot because the database does not answer. */
	async start(): Promise<void> {
		const { place, onFinding } = this.#options;
		this.state = "starting";
		for (const started = performance.now(); ; ) {
			const running = startExecutable(place, this.#argv(), {
				AGENTWIRE_STORE_URL: `postgresql://agentwire@127.0.0.1:${this.database.port}/postgres`,
				AGENTWIRE_CAMPAIGN_CLOCK: this.#clockFile,
				NODE_OPTIONS: `--require ${preload}`,
			});
			this.#process = running;
			const line = await withPatience(running.read(), startPatience);
			if (typeof line === "string") {
				const ready: { readonly url?: string } = JSON.parse(line);
				this.port = ready.url === undefined ? 0 : Number(new URL(ready.url).port);
				this.hasMovableClock = existsSync(`${this.#clockFile}.moves`);
				this.state = "running";
				this.#note(`is process ${running.pid}`);
				void running.exited.then((how) => {
					if (this.#process !== running || this.state === "down") return;
					this.state = "down";
					onFinding(`${this.name} ended by itself with ${how}: ${running.complaints().slice(-1000)}`);
				});
				return;
			}
			running.kill();
			if (performance.now() - started > startPatience) {
				onFinding(`${this.name} did not start: ${running.complaints().slice(-1000)}`);
				this.state = "down";
				return;
			}
		}
	}

	/** Ends it by a signal, and waits for the end. */
	async end(signal: NodeJS.Signals): Promise<void> {
		const running = this.#process;
		this.state = "down";
		this.graveFaults += 1;
		this.disturbances += 1;
		this.#note(`gets ${signal}`);
		running?.kill(signal);
		await running?.exited;
	}

	stop(): void {
		this.state = "stopped";
		this.graveFaults += 1;
		this.disturbances += 1;
		this.#note("is stopped");
		this.#process?.kill("SIGSTOP");
	}

	continue(): void {
		this.#note("goes on");
		this.#process?.kill("SIGCONT");
		this.state = "running";
	}

	cutOff(): void {
		this.isCutOff = true;
		this.graveFaults += 1;
		this.disturbances += 1;
		this.#note("is cut off from the database");
		this.database.swallow();
	}

	heal(): void {
		this.isCutOff = false;
		this.#note("reaches the database again");
		this.database.heal();
	}

	/** From now on nothing comes through between it and gateways, whose connections stay open. */
	hide(): void {
		this.isOutOfReach = true;
		this.#note("is out of the reach of gateways");
		this.front?.swallow();
	}

	show(): void {
		this.isOutOfReach = false;
		this.#note("is in the reach of gateways again");
		this.front?.heal();
	}

	/** Moves its clock to so many milliseconds from the true time. */
	async moveClock(milliseconds: number): Promise<void> {
		await writeFile(this.#clockFile, String(milliseconds));
	}

	/** Ends it for good. */
	async remove(): Promise<void> {
		this.state = "down";
		this.#process?.kill("SIGCONT");
		this.#process?.kill();
		await this.#process?.exited;
		await Promise.all([this.database.close(), this.front?.close()]);
	}

	#note(text: string): void {
		this.#options.onNews(`${this.name} ${text}`);
	}

	get #clockFile(): string {
		return path.join(this.#options.place.root, `${this.name}.clock`);
	}

	#argv(): string[] {
		const { kind, settings, front } = this.#options;
		const common = ["--json", "--config-file", settings];
		if (kind === "gateway") return ["serve", "--port", "0", ...common];
		const reached = front === null ? [] : ["--listen", `127.0.0.1:${front.port}`];
		const announced = front === null ? [] : ["--announce", `127.0.0.1:${front.proxy.port}`];
		return ["worker", ...reached, ...announced, "--drain", "5", ...common];
	}
}

/** A proxy before the database. */
export function createDatabaseProxy(port: number): Promise<FaultProxy> {
	return createFaultProxy(port, { isDatabase: true });
}
