// A client that follows the events of a session through whichever gateway there is, with its cursor: what it has, over all its
// connections, must be the journal from the first event on, each event once and in order.
import { setTimeout as wait } from "node:timers/promises";
import { isRecord } from "../../../src/base/json.ts";
import type { Fields } from "../gateway/client.ts";
import type { Random } from "../random.ts";
import type { Stage } from "./stage.ts";

export class Follower {
	readonly events: Fields[] = [];
	connections = 0;
	/** The number of the last event before those that it follows. */
	from = 0;
	readonly #stage: Stage;
	readonly #sessionId: string;
	readonly #random: Random;
	readonly #over = new AbortController();
	readonly #listeners = new Set<() => void>();
	#cursor: string | null = null;
	#cut = () => {};
	#running: Promise<void> = Promise.resolve();

	constructor(stage: Stage, sessionId: string, random: Random) {
		this.#stage = stage;
		this.#sessionId = sessionId;
		this.#random = random;
	}

	/** Connects, and again whenever a connection ends. Resolves once it has a state. */
	begin(): Promise<void> {
		return new Promise((resolve) => {
			this.#running = this.#follow(resolve);
		});
	}

	/** Ends the connection, as when the network of a client is lost: it comes back with its cursor. */
	cut(): void {
		this.#cut();
	}

	async end(): Promise<void> {
		this.#over.abort();
		this.#cut();
		await this.#running;
	}

	/** Resolves with whether it got what is waited for in time. */
	until(isThere: () => boolean, milliseconds: number): Promise<boolean> {
		if (isThere()) return Promise.resolve(true);
		return new Promise((resolve) => {
			const settle = (found: boolean) => {
				clearTimeout(timer);
				this.#listeners.delete(look);
				resolve(found);
			};
			const look = () => {
				if (isThere()) settle(true);
			};
			const timer = setTimeout(() => settle(isThere()), milliseconds);
			this.#listeners.add(look);
		});
	}

	/** How the turn of this id ended; null while it has not, as far as this client knows. */
	outcomeOf(turnId: string): string | null {
		const end = this.events.find((event) => event["type"] === "turn.ended" && event["turnId"] === turnId);
		const outcome = end?.["outcome"];
		return isRecord(outcome) ? String(outcome["status"]) : end === undefined ? null : "none";
	}

	async #follow(onBegun: () => void): Promise<void> {
		const { signal } = this.#over;
		while (!signal.aborted) {
			const reached = this.#stage.client(this.#random);
			if (reached !== null) {
				this.connections += 1;
				await new Promise<void>((resolve) => {
					// What was under way when it was cut is lost, as with a broken connection.
					let isOver = false;
					const over = () => {
						isOver = true;
						resolve();
					};
					const take = (message: Fields) => {
						if (!isOver) this.#take(message, onBegun, over);
					};
					reached.client.messages(this.#sessionId, this.#cursor, take, over).then((end) => {
						this.#cut = () => {
							over();
							end();
						};
						if (isOver) end();
						if (signal.aborted) this.#cut();
					}, over);
				});
				this.#cut();
			}
			await wait(100 + this.#random.below(400), undefined, { signal }).catch(() => {});
		}
	}

	#take({ id, event, data }: Fields, onBegun: () => void, end: () => void): void {
		if (!isRecord(data)) return;
		if (event === "state") {
			const snapshot = data["snapshot"];
			const cursor = isRecord(snapshot) ? snapshot["cursor"] : null;
			if (isRecord(cursor) && this.#cursor === null) {
				this.#cursor = `${this.#sessionId}@${cursor["epoch"]}:${cursor["seq"]}`;
				this.from = Number(cursor["seq"]);
			}
			onBegun();
		}
		if (event === "reset") this.#stage.findings.push(`a client of ${this.#sessionId} was told to begin anew`);
		// It is not carried on here: another connection asks for the reason, or goes on.
		if (event === "closed" || event === "failed") end();
		if (event !== "e" || typeof id !== "string") return;
		const last = Number(this.events.at(-1)?.["seq"] ?? this.from);
		if (data["seq"] !== last + 1) {
			this.#stage.findings.push(`a client of ${this.#sessionId} got event ${String(data["seq"])} after ${last}`);
		}
		this.events.push(data);
		this.#cursor = id;
		for (const look of [...this.#listeners]) look();
	}
}
