import type {
	ModelsListResult,
	Operations,
	ServerInfoResult,
	SessionsCreateParams,
	SessionsForkParams,
	SessionsListParams,
	SessionsListResult,
} from "./protocol-types.ts";
import type { SessionCallbacks } from "./requests.ts";
import { Session } from "./session.ts";
import type { CallName, Transport } from "./transport.ts";

export type SessionInfo = SessionsListResult["sessions"][number];

/** Which session: a stored one, a copy of one, or, with neither, a new one. */
export interface WhichSession {
	readonly id?: string;
	readonly fork?: string;
	/** With `fork`: how many messages the copy begins with; absent for all. */
	readonly messages?: number;
	/** With `fork`: the copy ends before this turn. */
	readonly before?: string;
	/** With `fork`: the copy works in a new directory, with the files as they were. */
	readonly files?: NonNullable<SessionsForkParams["files"]>;
}

export type OpenOptions = WhichSession & SessionCallbacks & Omit<SessionsCreateParams, "hooks">;

export interface KernelOptions {
	/** The program's name for other clients and the log. */
	readonly client?: { readonly name: string; readonly version: string | null };
}

export class Kernel {
	readonly #transport: Transport;
	readonly #client: { readonly name: string; readonly version: string | null };
	readonly #sessions = new Set<Session>();

	constructor(transport: Transport, { client = { name: "agentwire-client", version: null } }: KernelOptions = {}) {
		this.#transport = transport;
		this.#client = client;
	}

	info(): Promise<ServerInfoResult> {
		return this.#transport.request("server.info", {});
	}

	models(): Promise<ModelsListResult> {
		return this.#transport.request("models.list", {});
	}

	/** Creates a session, opens the one with this `id`, or opens a copy of the one in `fork`. */
	async open(options: OpenOptions = {}): Promise<Session> {
		const { id, fork, messages, before, files, approve, question, tools, hooks, onEvent, ...creation } = options;
		const place = await this.#find(
			{
				...(id === undefined ? {} : { id }),
				...(fork === undefined ? {} : { fork }),
				...(messages === undefined ? {} : { messages }),
				...(before === undefined ? {} : { before }),
				...(files === undefined ? {} : { files }),
			},
			creation,
		);
		const session = new Session({
			transport: this.#transport,
			...place,
			client: this.#client,
			callbacks: {
				...(approve === undefined ? {} : { approve }),
				...(question === undefined ? {} : { question }),
				...(tools === undefined ? {} : { tools }),
				...(hooks === undefined ? {} : { hooks }),
				...(onEvent === undefined ? {} : { onEvent }),
			},
			onClosed: (closed) => void this.#sessions.delete(closed),
		});
		await session.open();
		this.#sessions.add(session);
		return session;
	}

	async *sessions(query: Pick<SessionsListParams, "workDir"> = {}): AsyncGenerator<SessionInfo> {
		let after: string | null = null;
		do {
			const page: SessionsListResult = await this.#transport.request("sessions.list", {
				...query,
				...(after === null ? {} : { after }),
			});
			yield* page.sessions;
			after = page.next;
		} while (after !== null);
	}

	/** Cancels the session's turn and hides the session; its files stay. */
	async archive(id: string): Promise<void> {
		await this.#transport.request("sessions.archive", { sessionId: id });
	}

	/** Brings an archived session back. Idempotent. */
	async unarchive(id: string): Promise<void> {
		await this.#transport.request("sessions.unarchive", { sessionId: id });
	}

	/** Deletes a session with all its files. Idempotent. */
	async delete(id: string): Promise<void> {
		await this.#transport.request("sessions.delete", { sessionId: id });
	}

	/** Calls any other operation of the protocol. */
	call<N extends CallName>(name: N, params: Operations[N]["params"]): Promise<Operations[N]["result"]> {
		return this.#transport.request(name, params);
	}

	/** Leaves every session and ends the connection, and a server started by the client. Idempotent. */
	async close(): Promise<void> {
		await Promise.all([...this.#sessions].map((session) => session.close()));
		await this.#transport.close();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}

	async #find(
		{ id, fork, ...cut }: WhichSession,
		creation: SessionsCreateParams,
	): Promise<{ readonly id: string; readonly workDir: string }> {
		if (id !== undefined) {
			const { workDir } = await this.#transport.request("session.snapshot", { sessionId: id });
			return { id, workDir };
		}
		const { sessionId, workDir } =
			fork === undefined
				? await this.#transport.request("sessions.create", creation)
				: await this.#transport.request("sessions.fork", { sessionId: fork, ...cut });
		return { id: sessionId, workDir };
	}
}
