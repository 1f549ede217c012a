// A bounded cache by id: evicts the least recently used idle value when full. Serializes work per id; other ids only wait for a slot.
import type { Clock } from "../../base/clock.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Log } from "../../base/log.ts";

export interface SlotCacheSettings<Value> {
	readonly capacity: number;
	/** Milliseconds of idleness until eviction; 0 disables it. */
	readonly evictAfter: number;
	readonly clock: Clock;
	readonly log: Log;
	/** Whether the value is working. Working values are never evicted. */
	isWorking(value: Value): boolean;
	isEvictable(value: Value): Promise<boolean>;
	/** Unloads the value. Frees its slot even on failure. */
	unload(id: string, value: Value): Promise<void>;
	createFullError(used: number, capacity: number): Error;
}

/** One cached id. Its value is loaded on use and unloaded when its slot is needed. */
export interface Slot<Value> {
	readonly id: string;
	readonly value: Value | null;
}

interface MutableSlot<Value> extends Slot<Value> {
	value: Value | null;
	isEvicting: boolean;
	holders: number;
	/** Sequence number of the last use. */
	lastUse: number;
	withdrawEviction: (() => void) | null;
}

export class SlotCache<Value> {
	readonly #settings: SlotCacheSettings<Value>;
	readonly #byId = createKeyedQueue();
	/** Slot requests, first come, first served. */
	readonly #admission = createKeyedQueue();
	readonly #slots = new Map<string, MutableSlot<Value>>();
	readonly #evictions = new Set<Promise<void>>();
	#used = 0;
	#uses = 0;
	#isStopped = false;

	constructor(settings: SlotCacheSettings<Value>) {
		this.#settings = settings;
	}

	/** Runs the work after all earlier work on this id. */
	serialize<T>(id: string, work: () => Promise<T>): Promise<T> {
		return this.#byId.run(id, work);
	}

	get(id: string): Slot<Value> | null {
		return this.#slots.get(id) ?? null;
	}

	slots(): readonly Slot<Value>[] {
		return [...this.#slots.values()];
	}

	/** Call it inside `serialize`. Fails with the error of `createFullError` or `open`; a new id then gets no slot. */
	async load(id: string, open: () => Promise<Value>): Promise<Value> {
		const slot = this.#slots.get(id) ?? newSlot<Value>(id);
		if (slot.value !== null) return slot.value;
		await this.#takeSlot();
		try {
			slot.value = await open();
		} catch (thrown) {
			this.#used -= 1;
			throw thrown;
		}
		this.#slots.set(id, slot);
		return slot.value;
	}

	/** Prevents eviction until released; a release after a removal has no effect. The last release restarts the idle timeout. */
	acquire(id: string): () => void {
		const slot = this.#slots.get(id);
		if (slot === undefined) return () => {};
		slot.holders += 1;
		this.#uses += 1;
		slot.lastUse = this.#uses;
		slot.withdrawEviction?.();
		return () => {
			slot.holders -= 1;
			if (slot.holders === 0 && this.#slots.get(id) === slot) this.#scheduleEviction(slot);
		};
	}

	/** Whether the value is acquired or working. */
	isUsed(id: string): boolean {
		const slot = this.#slots.get(id);
		return slot !== undefined && this.#isUsed(slot);
	}

	/** Unloads the value now, as if its slot were needed. Does nothing while it is in use. */
	async evict(id: string): Promise<void> {
		const slot = this.#slots.get(id);
		if (slot !== undefined) await this.#evict(slot, false);
	}

	/** Unloads the value and forgets the id. Call it inside `serialize`. */
	async remove(id: string): Promise<void> {
		const slot = this.#slots.get(id);
		this.#slots.delete(id);
		if (slot !== undefined && slot.value !== null) await this.#unload(slot, slot.value, false);
	}

	/** Stops evicting idle values. */
	stop(): void {
		this.#isStopped = true;
		for (const { withdrawEviction } of this.#slots.values()) withdrawEviction?.();
	}

	/** Takes a slot without waiting for a value that could itself wait for one. */
	async #takeSlot(): Promise<void> {
		const unevictable = new Set<Slot<Value>>();
		while (true) {
			// The next request need not wait while a value is evicted for this one.
			const found = await this.#admission.run("", () => this.#findSlot(unevictable));
			if (found.candidate === null || (await found.isEvicted)) return;
			unevictable.add(found.candidate);
		}
	}

	/** Takes a free slot, or starts evicting a value for the caller. */
	async #findSlot(unevictable: ReadonlySet<Slot<Value>>) {
		const { capacity, createFullError } = this.#settings;
		while (this.#used >= capacity) {
			const candidate = this.#leastRecentlyUsed(unevictable);
			if (candidate !== null) return { candidate, isEvicted: this.#evict(candidate, true) };
			if (this.#evictions.size === 0) throw createFullError(this.#used, capacity);
			await Promise.race(this.#evictions);
		}
		this.#used += 1;
		return { candidate: null };
	}

	#leastRecentlyUsed(unevictable: ReadonlySet<Slot<Value>>): MutableSlot<Value> | null {
		let found: MutableSlot<Value> | null = null;
		for (const slot of this.#slots.values()) {
			if (!this.#isIdle(slot) || unevictable.has(slot)) continue;
			if (found === null || slot.lastUse < found.lastUse) found = slot;
		}
		return found;
	}

	/** Returns whether the value was evicted. A reserved slot stays taken for the caller. */
	async #evict(slot: MutableSlot<Value>, isReserved: boolean): Promise<boolean> {
		if (!this.#isIdle(slot)) return false;
		slot.isEvicting = true;
		try {
			return await this.#asEviction(
				this.#byId.run(slot.id, async () => {
					const { value } = slot;
					if (value === null || this.#isUsed(slot) || !(await this.#settings.isEvictable(value))) return false;
					await this.#unload(slot, value, isReserved);
					return true;
				}),
			);
		} finally {
			slot.isEvicting = false;
		}
	}

	async #unload(slot: MutableSlot<Value>, value: Value, isReserved: boolean): Promise<void> {
		slot.value = null;
		slot.withdrawEviction?.();
		const unloaded = this.#settings
			.unload(slot.id, value)
			.catch((thrown: unknown) => this.#logFailure(slot, thrown))
			.then(() => {
				if (!isReserved) this.#used -= 1;
			});
		await this.#asEviction(unloaded);
	}

	/** Registers an eviction. When it settles, waiting slot requests search again. */
	async #asEviction<T>(work: Promise<T>): Promise<T> {
		const over = work.then(
			() => {},
			() => {},
		);
		this.#evictions.add(over);
		try {
			return await work;
		} finally {
			this.#evictions.delete(over);
		}
	}

	#scheduleEviction(slot: MutableSlot<Value>): void {
		const { evictAfter, clock } = this.#settings;
		slot.withdrawEviction?.();
		slot.withdrawEviction = null;
		if (evictAfter === 0 || this.#isStopped) return;
		slot.withdrawEviction = clock.after(evictAfter, () => {
			this.#evict(slot, false)
				.then((isEvicted) => {
					if (!isEvicted && this.#isIdle(slot)) this.#scheduleEviction(slot);
				})
				.catch((thrown: unknown) => this.#logFailure(slot, thrown));
		});
	}

	#isIdle(slot: MutableSlot<Value>): boolean {
		return slot.value !== null && !slot.isEvicting && !this.#isUsed(slot);
	}

	#isUsed({ value, holders }: MutableSlot<Value>): boolean {
		return holders > 0 || (value !== null && this.#settings.isWorking(value));
	}

	#logFailure({ id }: Slot<Value>, thrown: unknown): void {
		this.#settings.log.error("A session could not be unloaded.", { session: id, error: thrown });
	}
}

function newSlot<Value>(id: string): MutableSlot<Value> {
	return { id, value: null, isEvicting: false, holders: 0, lastUse: 0, withdrawEviction: null };
}
