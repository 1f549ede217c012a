import type { McpServerSettings } from "../../api/mcp-servers.ts";
import type { McpStatus } from "../../api/values/event.ts";
import { unlessAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import type { Log } from "../../base/log.ts";
import { createPace } from "../../base/pace.ts";
import type { QuestionOperations } from "../tools/operations.ts";
import type { Tool } from "../tools/tool.ts";
import type { ServerConnection, ServerState } from "./connection.ts";
import { createServerTool } from "./server-tool.ts";
import { type ListedTool, passes } from "./tool-list.ts";

export interface ServerLease {
	readonly connection: Pick<ServerConnection, "name" | "state" | "tools" | "call" | "connect" | "retry" | "onChange">;
	release(): void;
}

export interface ServerSetSettings {
	readonly servers: readonly McpServerSettings[];
	acquire(server: McpServerSettings): ServerLease;
	isTaken(name: string): boolean;
	readonly questions: QuestionOperations;
	/** Milliseconds per call, unless its server has its own limit. */
	readonly callTimeout: number;
	/** Seconds after which turns stop waiting for connecting servers; null for no limit. */
	readonly startTimeout: number | null;
	readonly clock: Clock;
	readonly log: Log;
}

interface Member extends ServerLease {
	readonly server: McpServerSettings;
	readonly withdraw: () => void;
}

interface Claim {
	readonly member: Member;
	readonly listed: ListedTool;
	readonly tool: Tool;
}

/** Maximum programs to start at once; more would slow down the rest of the process. */
const startsAtOnce = 8;
/** Milliseconds after which an unconnected program stops delaying others. */
const startPatience = 1000;

const isProgram = ({ server }: Member) => server.kind === "local";

function createStarts(clock: Clock) {
	let starting = 0;
	let freed: Deferred<void> | null = null;
	const ends = new Set<() => void>();
	return {
		/** Resolves when another program may start; undefined if it may start now. */
		free(): Promise<void> | undefined {
			if (starting < startsAtOnce) return undefined;
			freed ??= createDeferred();
			return freed.promise;
		},
		note(connected: Promise<unknown>): void {
			starting += 1;
			const end = () => {
				if (!ends.delete(end)) return;
				withdraw();
				starting -= 1;
				freed?.resolve();
				freed = null;
			};
			ends.add(end);
			const withdraw = clock.after(startPatience, end);
			void connected.then(end);
		},
		end(): void {
			for (const end of ends) end();
		},
	};
}

export class ServerSet {
	readonly #settings: ServerSetSettings;
	readonly #loaded = createDeferred<void>();
	readonly #made = new WeakMap<ListedTool, Tool>();
	readonly #reported = new Set<string>();
	#members: readonly Member[] | null = null;
	#isLoaded = false;
	#claims: readonly Claim[] = [];
	#owners: Map<string, Member> = new Map();
	/** The members that do not wait for others, for at most one event loop turn. */
	#due: ReadonlySet<Member> = new Set();
	#withdrawBound = () => {};
	#endStarts = () => {};

	constructor(settings: ServerSetSettings) {
		this.#settings = settings;
	}

	begin(): void {
		if (this.#members !== null) return;
		const { servers, acquire, startTimeout, clock } = this.#settings;
		this.#members = servers.map((server) => {
			const lease = acquire(server);
			return { ...lease, server, withdraw: lease.connection.onChange(() => this.#claim()) };
		});
		const programs = this.#members.filter(isProgram);
		this.#due = new Set([...this.#members.filter((member) => !isProgram(member)), ...programs.slice(0, startsAtOnce)]);
		if (startTimeout !== null) this.#withdrawBound = clock.after(startTimeout * 1000, () => this.#endLoading());
		void this.#connectAll(this.#members).then(() => this.#endLoading());
		this.#claim();
	}

	/** Remote servers first, because they do not wait for programs. */
	async #connectAll(members: readonly Member[]): Promise<void> {
		const pace = createPace();
		const connecting: Promise<unknown>[] = [];
		const starts = createStarts(this.#settings.clock);
		this.#endStarts = starts.end;
		for (const member of [...members.filter((each) => !isProgram(each)), ...members.filter(isProgram)]) {
			for (let turn = starts.free(); isProgram(member) && turn !== undefined; turn = starts.free()) await turn;
			if (this.#members !== members) return;
			const connected = member.connection.connect().catch(() => undefined);
			connecting.push(connected);
			if (isProgram(member)) starts.note(connected);
			const rest = pace.rest();
			if (rest !== undefined) await rest;
		}
		await Promise.all(connecting);
	}

	retry(): void {
		for (const { connection } of this.#members ?? []) connection.retry();
	}

	get isLoading(): boolean {
		return !this.#isLoaded;
	}

	/** Resolves when turns need not wait any more, or the signal aborts. */
	async loaded(signal: AbortSignal): Promise<void> {
		if (!this.#isLoaded) await unlessAborted(this.#loaded.promise, signal);
	}

	/** The available tools, by server in settings order. */
	tools(): readonly Tool[] {
		return this.#offered().map(({ tool }) => tool);
	}

	status(): McpStatus {
		const offered = this.#offered();
		const servers = this.#settings.servers.map(({ name }, index) => ({
			name,
			status: this.#stateOf(this.#members?.[index]),
			tools: offered.flatMap(({ member, listed }) => (member.server.name === name ? [listed.name] : [])),
		}));
		return {
			loading: this.isLoading,
			connected: servers.filter(({ status }) => status === "connected").length,
			total: servers.length,
			tools: offered.length,
			servers,
		};
	}

	/** How many of the first programs have already started is only a matter of timing, so all count as started. */
	#stateOf(member: Member | undefined): ServerState {
		if (member === undefined) return "pending";
		const { state } = member.connection;
		return state === "pending" && this.#due.has(member) ? "connecting" : state;
	}

	end(): void {
		this.#withdrawBound();
		for (const { withdraw, release } of this.#members ?? []) {
			withdraw();
			release();
		}
		this.#members = [];
		this.#claims = [];
		this.#endStarts();
		this.#endLoading();
	}

	#endLoading(): void {
		this.#withdrawBound();
		this.#isLoaded = true;
		this.#loaded.resolve();
	}

	/** Recomputed, because clients add and remove tools at any time. */
	#offered(): readonly Claim[] {
		return this.#claims.filter(({ member, listed }) => {
			const isTaken = this.#settings.isTaken(listed.name);
			if (isTaken) this.#report(member, listed.name);
			return !isTaken;
		});
	}

	/** A name that turns may have used stays with its server: an approval must not move to another server. */
	#claim(): void {
		const owners = this.#isLoaded ? this.#owners : new Map<string, Member>();
		const claims: Claim[] = [];
		for (const member of this.#members ?? []) {
			for (const listed of member.connection.tools) {
				if (!passes(member.server.filter, listed)) continue;
				const owner = owners.get(listed.name) ?? member;
				owners.set(listed.name, owner);
				if (owner === member) claims.push({ member, listed, tool: this.#make(member, listed) });
				else this.#report(member, listed.name);
			}
		}
		this.#owners = owners;
		this.#claims = claims;
	}

	#make({ server, connection }: Member, listed: ListedTool): Tool {
		const { questions, log, callTimeout } = this.#settings;
		const settings = { connection, callTimeout: server.callTimeout ?? callTimeout, questions, log };
		const tool = this.#made.get(listed) ?? createServerTool(listed, settings);
		this.#made.set(listed, tool);
		return tool;
	}

	#report({ server }: Member, tool: string): void {
		const key = JSON.stringify([server.name, tool]);
		if (this.#reported.has(key)) return;
		this.#reported.add(key);
		this.#settings.log.warn("A tool of an MCP server has the name of another tool and is left out.", {
			server: server.name,
			tool,
		});
	}
}
