import type { ElicitResult, Progress } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../api/mcp-servers.ts";
import { unlessAborted } from "../../base/abort.ts";
import { sleep } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { answerForm } from "./elicitation.ts";
import { isOfNewEra, type LinkFailure, toLinkFailure } from "./failure.ts";
import {
	type ElicitParams,
	type Era,
	type Link,
	type LinkHandlers,
	type LinkParts,
	openLink,
	type ServerPlace,
} from "./link.ts";
import { requestCall, requestTools } from "./requests.ts";
import type { CallResult } from "./result.ts";
import { createRetries, type Retries } from "./retries.ts";
import { type Asker, type RunningCall, startCall } from "./running-call.ts";
import { type ListedTool, readTool } from "./tool-list.ts";

export type ServerState = "pending" | "connecting" | "connected" | "failed" | "unauthorized";

export interface Call {
	readonly tool: Pick<ListedTool, "name" | "parameters">;
	readonly arguments: Readonly<Record<string, unknown>>;
	/** Milliseconds, excluding the time in which the user is asked. */
	readonly timeout: number;
	readonly asker: Asker;
	/** Called with each progress report of the server, as a line of text. */
	progressed(progress: string): void;
}

export type CallOutcome =
	| { readonly kind: "answered"; readonly result: CallResult }
	/** `progress` is the server's last progress report; may be empty. */
	| { readonly kind: "timed-out"; readonly progress: string }
	| { readonly kind: "aborted" }
	/** `reason` is a clause. `isUncertain`: the call may have had an effect. */
	| { readonly kind: "failed"; readonly reason: string; readonly isUncertain: boolean };

/** Milliseconds that a closing connection waits for renewed tokens to be stored; the program has two seconds to exit. */
const renewalPatience = 1000;

export class ServerConnection {
	readonly name: string;
	readonly #server: McpServerSettings;
	readonly #place: ServerPlace;
	readonly #parts: LinkParts;
	readonly #retries: Retries;
	readonly #closing = new AbortController();
	readonly #listeners = new Set<() => void>();
	readonly #running = new Map<RunningCall, Link>();
	readonly #retired = new Set<Link>();
	#era: Era = "old";
	#state: ServerState = "pending";
	#failure: LinkFailure | null = null;
	#tools: readonly ListedTool[] = [];
	#link: Link | null = null;
	#attempt: Promise<void> | null = null;
	#listing: Promise<void> | null = null;
	#isListStale = false;

	constructor(server: McpServerSettings, place: ServerPlace, parts: LinkParts) {
		this.name = server.name;
		this.#server = server;
		this.#place = place;
		this.#parts = parts;
		this.#retries = createRetries(parts.clock);
	}

	get #url(): string | null {
		return this.#server.kind === "remote" ? this.#server.url : null;
	}

	get state(): ServerState {
		return this.#state;
	}

	/** Why it is failed or unauthorized; null in other states. */
	get failure(): LinkFailure | null {
		return this.#failure;
	}

	/** The last tool list, even while disconnected. */
	get tools(): readonly ListedTool[] {
		return this.#tools;
	}

	/** Calls the listener on every state or tool change; returns a function that unsubscribes. */
	onChange(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	/** Resolves when it is connected or has failed to connect. Concurrent callers share one attempt. */
	connect(): Promise<void> {
		if (this.#link !== null || this.#closing.signal.aborted) return Promise.resolve();
		this.#attempt ??= this.#open().finally(() => {
			this.#attempt = null;
		});
		return this.#attempt;
	}

	/** Reconnects in the background if disconnected, unless it just failed; meanwhile it counts as disconnected. */
	retry(): void {
		const isAway = this.#state === "failed" || this.#state === "unauthorized";
		if (isAway && this.#retries.isDue()) void this.connect();
	}

	/** Calls a tool, over a new link if the last one was lost. Never rejects; a started call is not repeated. */
	async call(call: Call, signal: AbortSignal): Promise<CallOutcome> {
		const running = startCall(call.asker, call.timeout, this.#parts.clock, signal);
		try {
			let failure: LinkFailure = toLoss("it is not connected");
			for (let tries = 0; tries < 2; tries += 1) {
				await unlessAborted(this.connect(), running.signal);
				const link = this.#link;
				if (running.signal.aborted) break;
				if (link === null) {
					return { kind: "failed", reason: (this.#failure ?? failure).reason, isUncertain: false };
				}
				try {
					const result = await this.#callOver(link, call, running);
					// If the call changed the tools, wait for the new list, so that it is current when the result is read.
					if (this.#listing !== null) await unlessAborted(this.#listing, running.signal);
					return { kind: "answered", result };
				} catch (thrown) {
					if (running.signal.aborted) break;
					failure = await this.#toFailure(thrown, link);
				}
				if (failure.kind === "answer") break;
				this.#retire(link, failure);
				if (failure.kind !== "untaken") break;
			}
			if (running.isLate()) return { kind: "timed-out", progress: running.progress };
			if (running.signal.aborted) return { kind: "aborted" };
			return { kind: "failed", reason: failure.reason, isUncertain: failure.kind === "lost" };
		} finally {
			running.end();
		}
	}

	/** Closes the connection permanently. Idempotent. */
	async close(): Promise<void> {
		this.#closing.abort("the connection is closed");
		this.#listeners.clear();
		const link = this.#link;
		this.#link = null;
		await Promise.all([this.#attempt, link?.close(), ...[...this.#retired].map((retired) => retired.close())]);
		const late = new AbortController();
		const { authorization, clock } = this.#parts;
		await Promise.race([authorization.settled(), sleep(clock, renewalPatience, late.signal)]);
		late.abort();
	}

	async #open(): Promise<void> {
		if (this.#state === "pending") this.#change("connecting", null);
		let opened: Link | null = null;
		let lost: string | null = null;
		try {
			const link = await this.#openLink({
				toolsChanged: () => void this.#relist(),
				elicit: (params, signal) => this.#elicit(params, signal),
				lost: (reason) => {
					lost = reason;
					if (opened !== null) this.#retire(opened, toLoss(reason));
				},
			});
			opened = link;
			this.#tools = await this.#list(link);
			if (this.#closing.signal.aborted) return await link.close();
			this.#link = link;
			this.#retries.connected();
			this.#change("connected", null);
			if (this.#isListStale) void this.#relist();
		} catch (thrown) {
			await opened?.close();
			if (this.#closing.signal.aborted) return;
			const failure = lost === null ? await toLinkFailure(thrown, this.#url) : toLoss(lost);
			this.#retries.missed(failure);
			this.#fail("An MCP server could not be connected.", failure);
		}
	}

	/** Falls back to the new handshake if the server does not support the old one. */
	async #openLink(handlers: LinkHandlers): Promise<Link> {
		const open = (era: Era) =>
			openLink(this.#server, this.#place, this.#parts, handlers, { era, signal: this.#closing.signal });
		try {
			return await open(this.#era);
		} catch (thrown) {
			if (this.#era === "new" || this.#closing.signal.aborted || !(await isOfNewEra(thrown))) throw thrown;
			const link = await open("new");
			this.#era = "new";
			return link;
		}
	}

	/** If the link is already lost, its reason is more accurate. */
	async #toFailure(thrown: unknown, link: Link): Promise<LinkFailure> {
		const failure = await toLinkFailure(thrown, this.#url);
		const known = this.#link === link ? null : this.#failure;
		return failure.kind === "lost" && known !== null ? toLoss(known.reason) : failure;
	}

	async #list({ client }: Link): Promise<readonly ListedTool[]> {
		const tools = new Map<string, ListedTool>();
		const listed = await requestTools(client, this.#closing.signal);
		if (listed.isCut) this.#warn("An MCP server lists too many tools.", { read: listed.tools.length });
		for (const read of listed.tools.map(readTool)) {
			if (!read.ok) this.#warn("A tool of an MCP server is left out.", { tool: read.name, reason: read.reason });
			else if (!tools.has(read.tool.name)) tools.set(read.tool.name, read.tool);
		}
		return [...tools.values()];
	}

	/** Requests the list again, and once more if it changes meanwhile. */
	#relist(): Promise<void> {
		this.#isListStale = true;
		this.#listing ??= this.#readStaleList().finally(() => {
			this.#listing = null;
		});
		return this.#listing;
	}

	async #readStaleList(): Promise<void> {
		for (let link = this.#link; link !== null && this.#isListStale; link = this.#link) {
			this.#isListStale = false;
			try {
				this.#tools = await this.#list(link);
				this.#notifyListeners();
			} catch (thrown) {
				this.#warn("The changed tools of an MCP server could not be read.", { reason: errorText(thrown) });
			}
		}
	}

	async #callOver(link: Link, call: Call, running: RunningCall): Promise<CallResult> {
		this.#running.set(running, link);
		try {
			return await requestCall(link.client, call.tool, call.arguments, {
				signal: running.signal,
				onprogress: (progress) => {
					running.progress = describeProgress(progress);
					call.progressed(running.progress);
				},
			});
		} finally {
			this.#running.delete(running);
			this.#endRetired();
		}
	}

	/** A server does not say which call its question belongs to, so it is answered only if one session is possible. */
	async #elicit(params: ElicitParams, signal: AbortSignal): Promise<ElicitResult> {
		const calls = [...this.#running.keys()];
		const [first] = calls;
		if (first === undefined || calls.some(({ asker }) => asker.questions !== first.asker.questions)) {
			this.#warn("An MCP server's question was declined: it is unclear which session to ask.", { calls: calls.length });
			return { action: "decline" };
		}
		const ask = () => answerForm(params, this.name, first.asker, AbortSignal.any([signal, first.signal]));
		return await calls.reduce((work, call) => () => call.untimed(work), ask)();
	}

	/** Sends nothing more over the link, which ends with its last call. */
	#retire(link: Link, failure: LinkFailure): void {
		if (this.#link === link) {
			this.#link = null;
			if (!this.#closing.signal.aborted) this.#fail("The connection to an MCP server is lost.", failure);
		}
		this.#retired.add(link);
		this.#endRetired();
	}

	#endRetired(): void {
		const used = new Set(this.#running.values());
		for (const link of this.#retired) {
			if (!used.has(link)) void link.close().finally(() => this.#retired.delete(link));
		}
	}

	#fail(message: string, failure: LinkFailure): void {
		if (failure.reason !== this.#failure?.reason) this.#warn(message, { reason: failure.reason });
		this.#change(failure.kind === "unauthorized" ? "unauthorized" : "failed", failure);
	}

	#change(state: ServerState, failure: LinkFailure | null): void {
		this.#state = state;
		this.#failure = failure;
		this.#notifyListeners();
	}

	#notifyListeners(): void {
		for (const listener of [...this.#listeners]) listener();
	}

	#warn(message: string, fields: Readonly<Record<string, unknown>>): void {
		this.#parts.log.warn(message, { server: this.name, ...fields });
	}
}

const toLoss = (reason: string): LinkFailure => ({ kind: "lost", reason, name: "Error" });

function describeProgress({ progress, total, message }: Progress): string {
	const count = total === undefined ? String(progress) : `${progress} of ${total}`;
	return message === undefined ? count : `${count}, ${beginning(message, 200)}`;
}
