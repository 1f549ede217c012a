// What the processes that share a database exchange in it: which workers there are, which sessions they run, and
// who looks for a worker. All times are the clock of the database.
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import type { Database, Row } from "../ports/store/postgres/database.ts";
import type { Placement } from "../ports/store/session-store.ts";
import { readTags, versionTag } from "./worker-version.ts";

/** A worker that runs. */
export interface WorkerPlace {
	/** The id of its process. */
	readonly id: string;
	/** `host:port`. */
	readonly address: string;
	readonly secret: string;
	/** SHA-256 of its certificate, as colon-separated hex; null where the connection is not encrypted. */
	readonly fingerprint: string | null;
	readonly tags: readonly string[];
	/** The version of the protocol that it speaks; null for one that did not announce it. */
	readonly remoteVersion: number | null;
	/** Whether it takes no more sessions, because it ends. */
	readonly isEnding: boolean;
}

/** Where a stored session is. */
export interface SessionPlace extends Placement {
	readonly workDir: string;
	/** The worker that has it; null when none does. */
	readonly worker: WorkerPlace | null;
	/** The living process that has it and is no worker; null when none does. */
	readonly holder: string | null;
}

const workerSchema = v.object({
	id: v.string(),
	address: v.string(),
	secret: v.string(),
	fingerprint: v.nullable(v.string()),
	tags: v.array(v.string()),
	is_ending: v.boolean(),
});

function toWorker(row: Row): WorkerPlace {
	const { is_ending: isEnding, tags, ...others } = v.parse(workerSchema, row);
	return { ...others, ...readTags(tags), isEnding };
}

const workerColumns = "p.id, p.address, p.secret, p.fingerprint, p.tags, p.is_ending";
const isWorker = "p.address is not null and p.secret is not null";
const lives = "p.lease_until > now()";

const sessionSchema = v.object({
	work_dir: v.string(),
	owner: v.string(),
	needs: v.array(v.string()),
	/** The process that has it; null for none. */
	id: v.nullable(v.string()),
	is_worker: v.boolean(),
});
const idSchema = v.object({ id: v.string() });

/** The notifications that somebody looks for a worker, and that one was found: the payload of the latter names the request. */
export const workChannel = "agentwire_work";
export const placedChannel = "agentwire_placed";
export type RegistryChannel = typeof workChannel | typeof placedChannel;

export interface Registry {
	/** The workers that run, also those that end. */
	workers(): Promise<readonly WorkerPlace[]>;
	/** Where a stored session is; null when there is no such session. */
	find(sessionId: string): Promise<SessionPlace | null>;
	/** What each of these sessions needs, and which worker has it; those that need nothing and are nowhere are left out. */
	placesOf(sessionIds: readonly string[]): Promise<ReadonlyMap<string, Pick<SessionPlace, "needs" | "worker">>>;
	/** Makes the process of this id a worker of the version of this program, or one that ends. */
	announce(worker: Omit<WorkerPlace, "remoteVersion">): Promise<void>;
	/** Looks for a worker of the version of this program. Gives the id of the request. */
	ask(needs: Placement, askedBy: string): Promise<string>;
	/** The worker that took the request; null when none has yet, or that one has ended. */
	answer(requestId: string): Promise<WorkerPlace | null>;
	/** Ends a request, answered or not. */
	withdraw(requestId: string): Promise<void>;
	/**
	 * Takes requests that this worker can serve, as many as it has room for: first those of the owner with the fewest
	 * running turns, then the oldest. No two workers take the same one, unless the first of them is gone. Gives the ids of the
	 * requests.
	 */
	claim(worker: string, tags: readonly string[], room: number): Promise<readonly string[]>;
	/** Removes requests whose makers are gone: they are left alone, and only take space. */
	sweep(): Promise<void>;
	/**
	 * Sessions whose turn has no end and whose process is gone, that a worker with these tags can take over: in no order, so that
	 * several workers begin with different ones.
	 */
	interrupted(tags: readonly string[], limit: number): Promise<readonly string[]>;
	/** Calls back when there may be work for a worker, or an answer to a request (its id): with null at times without a reason. */
	listen(channel: RegistryChannel, onNews: (payload: string | null) => void): void;
}

/** The registry in the tables of the store. */
export class DatabaseRegistry implements Registry {
	readonly #database: Database;
	readonly #schema: string;

	constructor(database: Database) {
		this.#database = database;
		this.#schema = database.schema;
	}

	async workers(): Promise<readonly WorkerPlace[]> {
		const rows = await this.#query(
			`select ${workerColumns} from ${this.#schema}.process p where ${isWorker} and ${lives} order by p.started_at, p.id`,
		);
		return rows.map(toWorker);
	}

	/** In one statement: a worker that ends in between would look like a process that is none. */
	async find(sessionId: string): Promise<SessionPlace | null> {
		const [row] = await this.#query(
			`select s.work_dir, s.owner, s.needs, ${isWorker} as is_worker, ${workerColumns} from ${this.#schema}.session s
				left join ${this.#schema}.process p on p.id = s.holder and ${lives}
				where s.id = $1 and not s.is_staged`,
			[sessionId],
		);
		if (row === undefined) return null;
		const { work_dir: workDir, owner, needs, id: holder, is_worker: isHeldByWorker } = v.parse(sessionSchema, row);
		const worker = isHeldByWorker ? toWorker(row) : null;
		return { workDir, owner, needs, worker, holder: worker === null ? holder : null };
	}

	async placesOf(sessionIds: readonly string[]): Promise<ReadonlyMap<string, Pick<SessionPlace, "needs" | "worker">>> {
		const rows = await this.#query(
			`select s.id as session, s.needs, ${workerColumns} from ${this.#schema}.session s
				left join ${this.#schema}.process p on p.id = s.holder and ${isWorker} and ${lives}
				where s.id = any($1) and (s.needs <> '{}' or p.id is not null)`,
			[sessionIds],
		);
		const schema = v.object({ session: v.string(), needs: v.array(v.string()) });
		return new Map(
			rows.map((row) => {
				const { session, needs } = v.parse(schema, row);
				return [session, { needs, worker: row["id"] === null ? null : toWorker(row) }];
			}),
		);
	}

	async announce({
		id,
		address,
		secret,
		fingerprint,
		tags,
		isEnding,
	}: Omit<WorkerPlace, "remoteVersion">): Promise<void> {
		await this.#query(
			`update ${this.#schema}.process set address = $2, secret = $3, fingerprint = $4, tags = $5, is_ending = $6 where id = $1`,
			[id, address, secret, fingerprint, [...tags, versionTag], isEnding],
		);
		await this.#notify(workChannel, id);
	}

	async ask({ owner, needs }: Placement, askedBy: string): Promise<string> {
		const id = randomUUID();
		await this.#query(`insert into ${this.#schema}.placement (id, owner, needs, asked_by) values ($1, $2, $3, $4)`, [
			id,
			owner,
			[...needs, versionTag],
			askedBy,
		]);
		await this.#notify(workChannel, id);
		return id;
	}

	async answer(requestId: string): Promise<WorkerPlace | null> {
		const [row] = await this.#query(
			`select ${workerColumns} from ${this.#schema}.placement r join ${this.#schema}.process p on p.id = r.worker
				where r.id = $1 and ${isWorker} and ${lives}`,
			[requestId],
		);
		return row === undefined ? null : toWorker(row);
	}

	async withdraw(requestId: string): Promise<void> {
		await this.#query(`delete from ${this.#schema}.placement where id = $1`, [requestId]);
	}

	async claim(worker: string, tags: readonly string[], room: number): Promise<readonly string[]> {
		const rows = await this.#query(
			`with running as (
				select owner, count(*) as turns from ${this.#schema}.session where running_turn is not null group by owner
			), chosen as (
				select r.id from ${this.#schema}.placement r left join running on running.owner = r.owner
				where r.needs <@ $2 and exists (select from ${this.#schema}.process p where p.id = r.asked_by and ${lives})
				and (r.worker is null or not exists (select from ${this.#schema}.process p where p.id = r.worker and ${lives}))
				order by coalesce(running.turns, 0), r.asked_at, r.id limit $3 for update of r skip locked
			)
			update ${this.#schema}.placement r set worker = $1, answered_at = now() from chosen where r.id = chosen.id
			returning r.id`,
			[worker, [...tags, versionTag], room],
		);
		const claims = rows.map((row) => v.parse(idSchema, row).id);
		for (const id of claims) await this.#notify(placedChannel, id);
		return claims;
	}

	async sweep(): Promise<void> {
		await this.#query(
			`delete from ${this.#schema}.placement r where not exists (
				select from ${this.#schema}.process p where p.id = r.asked_by and ${lives}
			)`,
		);
	}

	async interrupted(tags: readonly string[], limit: number): Promise<readonly string[]> {
		const rows = await this.#query(
			`select s.id from ${this.#schema}.session s
				where s.running_turn is not null and not s.is_staged and s.needs <@ $1
				and not exists (select from ${this.#schema}.process p where p.id = s.holder and ${lives})
				order by random() limit $2`,
			[tags, limit],
		);
		return rows.map((row) => v.parse(idSchema, row).id);
	}

	listen(channel: RegistryChannel, onNews: (payload: string | null) => void): void {
		this.#database.listen(channel, onNews);
	}

	#query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
		return this.#database.query(text, values);
	}

	async #notify(channel: string, payload: string): Promise<void> {
		await this.#query("select pg_notify($1, $2)", [channel, payload]).catch(() => []);
	}
}
