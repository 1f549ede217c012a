// Database state shared by all processes: workers, their sessions, and requests for workers. All times use the database clock.
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import type { Placement } from "../api/session-list.ts";
import type { Database, Row } from "../ports/store/postgres/database.ts";
import { readTags, versionTag } from "./worker-version.ts";

export interface WorkerPlace {
	/** Process id in the database. */
	readonly id: string;
	/** `host:port`. */
	readonly address: string;
	readonly secret: string;
	/** SHA-256 of its certificate, as colon-separated hex; null for unencrypted connections. */
	readonly fingerprint: string | null;
	readonly tags: readonly string[];
	/** Its protocol version; null if not announced. */
	readonly remoteVersion: number | null;
	readonly isEnding: boolean;
}

export interface SessionPlace extends Placement {
	readonly workDir: string;
	readonly worker: WorkerPlace | null;
	/** The living process that has it without being a worker, or null. */
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
	/** The process that has it, or null. */
	id: v.nullable(v.string()),
	is_worker: v.boolean(),
});
const idSchema = v.object({ id: v.string() });

/** Notification channels for requests and for answers, whose payload is the request id. */
export const workChannel = "agentwire_work";
export const placedChannel = "agentwire_placed";
export type RegistryChannel = typeof workChannel | typeof placedChannel;

export interface Registry {
	/** Running workers, including ending ones. */
	workers(): Promise<readonly WorkerPlace[]>;
	find(sessionId: string): Promise<SessionPlace | null>;
	/** The needs and worker of each session. Omits sessions with neither. */
	placesOf(sessionIds: readonly string[]): Promise<ReadonlyMap<string, Pick<SessionPlace, "needs" | "worker">>>;
	/** Registers this process as a worker of this program version, or marks it as ending. */
	announce(worker: Omit<WorkerPlace, "remoteVersion">): Promise<void>;
	/** Requests a worker of this program version. Returns the request id. */
	ask(needs: Placement, askedBy: string): Promise<string>;
	/** The worker that took the request; null if none did or it has ended. */
	answer(requestId: string): Promise<WorkerPlace | null>;
	/** Ends a request, answered or not. */
	withdraw(requestId: string): Promise<void>;
	/**
	 * Claims requests that this worker can serve, up to `room`: first from the owner with the fewest running turns, then the
	 * oldest. Two workers never claim the same request, unless the first has ended. Returns request ids.
	 */
	claim(worker: string, tags: readonly string[], room: number): Promise<readonly string[]>;
	/** Removes orphaned requests, which only take space. */
	sweep(): Promise<void>;
	/** Sessions with an unfinished turn whose process ended. Unordered, so that workers start with different ones. */
	interrupted(tags: readonly string[], limit: number): Promise<readonly string[]>;
	/** Calls back on new work for a worker, or on an answer (with its request id). Occasionally calls with null for no reason. */
	listen(channel: RegistryChannel, onNews: (payload: string | null) => void): void;
}

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

	/** One statement: otherwise a worker that ends in between would look like a non-worker. */
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
