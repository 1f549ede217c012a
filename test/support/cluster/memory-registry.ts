// The registry of a cluster without a database: the processes of one test share it in memory.
import { randomUUID } from "node:crypto";
import type { Placement } from "../../../src/api/session-list.ts";
import {
	placedChannel,
	type Registry,
	type RegistryChannel,
	type SessionPlace,
	type WorkerPlace,
	workChannel,
} from "../../../src/cluster/registry.ts";
import { remoteVersion } from "../../../src/remote/remote-version.ts";

interface Request extends Placement {
	worker: string | null;
}

export class MemoryRegistry implements Registry {
	readonly #workers = new Map<string, WorkerPlace>();
	readonly #requests = new Map<string, Request>();
	readonly #listeners = new Map<RegistryChannel, ((payload: string | null) => void)[]>();
	/** Which worker has a session; those that are not here are at the only worker. */
	readonly holders = new Map<string, string>();
	/** The sessions that need something. */
	readonly needs = new Map<string, readonly string[]>();
	/** Who made each request. */
	readonly askers: string[] = [];
	/** Sessions whose turn was interrupted. */
	cut: string[] = [];

	/** As if the process of the worker had died. */
	forget(workerId: string): void {
		this.#workers.delete(workerId);
	}

	async workers(): Promise<readonly WorkerPlace[]> {
		return [...this.#workers.values()];
	}

	async find(sessionId: string): Promise<SessionPlace> {
		const only = this.#workers.size === 1 ? [...this.#workers.keys()][0] : undefined;
		const holder = this.holders.get(sessionId) ?? only ?? null;
		const needs = this.needs.get(sessionId) ?? [];
		return {
			workDir: "/work",
			owner: "",
			needs,
			worker: holder === null ? null : (this.#workers.get(holder) ?? null),
			holder: null,
		};
	}

	async placesOf(sessionIds: readonly string[]) {
		return new Map(await Promise.all(sessionIds.map(async (id) => [id, await this.find(id)] as const)));
	}

	/** Workers are of this version, unless they say something else. */
	async announce(worker: Omit<WorkerPlace, "remoteVersion"> & Partial<WorkerPlace>): Promise<void> {
		this.#workers.set(worker.id, { remoteVersion, ...worker });
	}

	async ask(placement: Placement, askedBy: string): Promise<string> {
		this.askers.push(askedBy);
		const id = randomUUID();
		this.#requests.set(id, { ...placement, worker: null });
		this.#notify(workChannel, id);
		return id;
	}

	async answer(requestId: string): Promise<WorkerPlace | null> {
		const worker = this.#requests.get(requestId)?.worker ?? null;
		return worker === null ? null : (this.#workers.get(worker) ?? null);
	}

	async withdraw(requestId: string): Promise<void> {
		this.#requests.delete(requestId);
	}

	/** How many requests wait for an answer or for their end. */
	get open(): number {
		return this.#requests.size;
	}

	async claim(worker: string, tags: readonly string[], room: number): Promise<readonly string[]> {
		const claimed = [...this.#requests]
			.filter(([, { worker: taken, needs }]) => taken === null && needs.every((tag) => tags.includes(tag)))
			.slice(0, room);
		for (const [id, request] of claimed) {
			request.worker = worker;
			this.#notify(placedChannel, id);
		}
		return claimed.map(([id]) => id);
	}

	async sweep(): Promise<void> {}

	async interrupted(): Promise<readonly string[]> {
		return this.cut;
	}

	listen(channel: RegistryChannel, onNews: (payload: string | null) => void): void {
		this.#listeners.set(channel, [...(this.#listeners.get(channel) ?? []), onNews]);
	}

	#notify(channel: RegistryChannel, payload: string): void {
		for (const listener of this.#listeners.get(channel) ?? []) queueMicrotask(() => listener(payload));
	}
}
