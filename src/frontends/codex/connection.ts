import process from "node:process";
import type * as v from "valibot";
import { type ContentPart, mediaPart, textPart, type UserInput } from "../../api/values/content.ts";
import type { TurnStartOptions } from "../../api/values/turn-options.ts";
import { KernelError } from "../../base/errors.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import { defineMethod, type Method, type MethodTable } from "../../ports/rpc/methods.ts";
import type { HostApi, SharedConnection } from "../shared/dialect.ts";
import { codexProtocol } from "./protocol.ts";
import { codexProtocolVersion } from "./protocol-version.ts";
import type { ThreadClient } from "./thread.ts";
import { type CodexPlace, Threads } from "./threads.ts";
import type * as wire from "./wire.ts";

const { methods: shapes } = codexProtocol;
/** Requests after the first one for an answer in the required form. */
const formRetries = 2;

type InitializeParams = v.InferOutput<typeof wire.initializeParamsSchema>;
type ThreadStartParams = v.InferOutput<typeof wire.threadStartParamsSchema>;
type TurnStartParams = v.InferOutput<typeof wire.turnStartParamsSchema>;

export class CodexConnection implements SharedConnection {
	readonly methods: MethodTable;
	readonly #kernelApi: HostApi;
	readonly #place: CodexPlace;
	readonly #threads: Threads;
	#client: ThreadClient | null = null;

	constructor(kernelApi: HostApi, peer: Peer, place: CodexPlace) {
		this.#kernelApi = kernelApi;
		this.#place = place;
		this.#threads = new Threads(kernelApi, peer, place, () => this.#initialized());
		this.methods = new Map<string, Method>([...this.#rows(), ...this.#threadRows(), ...this.#turnRows()]);
	}

	abortPending(): void {}

	drained(): Promise<void> {
		return this.#threads.drained();
	}

	leave(): void {
		this.#threads.leave();
	}

	#rows(): readonly (readonly [string, Method])[] {
		return [
			["initialize", defineMethod({ ...shapes.initialize, handle: async (params) => this.#initialize(params) })],
			["initialized", defineMethod({ ...shapes.initialized, handle: async () => {} })],
			["model/list", defineMethod({ ...shapes["model/list"], handle: () => this.#models() })],
			[
				"account/read",
				defineMethod({
					...shapes["account/read"],
					handle: async () => ({ account: null, requiresOpenaiAuth: false as const }),
				}),
			],
			[
				"account/login/cancel",
				defineMethod({ ...shapes["account/login/cancel"], handle: async () => ({ status: "notFound" as const }) }),
			],
			["account/logout", defineMethod({ ...shapes["account/logout"], handle: async () => ({}) })],
		];
	}

	#threadRows(): readonly (readonly [string, Method])[] {
		const threads = this.#threads;
		return [
			["thread/start", defineMethod({ ...shapes["thread/start"], handle: (params) => this.#startThread(params) })],
			[
				"thread/resume",
				defineMethod({
					...shapes["thread/resume"],
					handle: async ({ threadId, excludeTurns, ...wishes }) => {
						this.#initialized();
						return await threads.resume(threadId, wishes, excludeTurns !== true);
					},
				}),
			],
			[
				"thread/fork",
				defineMethod({
					...shapes["thread/fork"],
					handle: async ({ threadId, lastTurnId, excludeTurns, ...wishes }) => {
						this.#initialized();
						if (lastTurnId !== null) throw unsupported("thread/fork with lastTurnId", "A fork has the whole thread.");
						return await threads.fork(threadId, wishes, excludeTurns !== true);
					},
				}),
			],
			[
				"thread/revert",
				defineMethod({
					...shapes["thread/revert"],
					handle: async ({ threadId, beforeTurnId }) => ({ thread: await threads.revert(threadId, beforeTurnId) }),
				}),
			],
			[
				"thread/list",
				defineMethod({
					...shapes["thread/list"],
					handle: async ({ cwd, cursor, limit, archived }) => {
						this.#initialized();
						return await threads.list(cwd, cursor, limit, archived === true);
					},
				}),
			],
			[
				"thread/read",
				defineMethod({
					...shapes["thread/read"],
					handle: async ({ threadId, includeTurns }) => {
						this.#initialized();
						return { thread: await threads.read(threadId, includeTurns === true) };
					},
				}),
			],
			[
				"thread/archive",
				defineMethod({
					...shapes["thread/archive"],
					handle: async ({ threadId }) => {
						this.#initialized();
						await threads.archive(threadId);
						return {};
					},
				}),
			],
			[
				"thread/unarchive",
				defineMethod({
					...shapes["thread/unarchive"],
					handle: async ({ threadId }) => {
						this.#initialized();
						return { thread: await threads.unarchive(threadId) };
					},
				}),
			],
			[
				"thread/name/set",
				defineMethod({
					...shapes["thread/name/set"],
					handle: async ({ threadId, name: title }) => {
						this.#initialized();
						await threads.using(threadId, ({ session }) => session.send({ type: "title.set", title }));
						return {};
					},
				}),
			],
			[
				"thread/goal/set",
				defineMethod({
					...shapes["thread/goal/set"],
					handle: async ({ threadId, ...change }) => ({
						goal: await threads.get(threadId).setGoal(change, this.#kernelApi.clock.now()),
					}),
				}),
			],
			[
				"thread/goal/clear",
				defineMethod({
					...shapes["thread/goal/clear"],
					handle: async ({ threadId }) => ({ cleared: threads.get(threadId).clearGoal() }),
				}),
			],
			[
				"thread/compact/start",
				defineMethod({
					...shapes["thread/compact/start"],
					handle: async ({ threadId }) => {
						await threads.get(threadId).startTurn("/compact", {}, null);
						return {};
					},
				}),
			],
		];
	}

	#turnRows(): readonly (readonly [string, Method])[] {
		const threads = this.#threads;
		return [
			["turn/start", defineMethod({ ...shapes["turn/start"], handle: (params) => this.#startTurn(params) })],
			[
				"turn/steer",
				defineMethod({
					...shapes["turn/steer"],
					handle: async ({ threadId, expectedTurnId, input }) => {
						await this.#checkTurn(threadId, expectedTurnId);
						await threads.get(threadId).handle.session.send({ type: "turn.steer", input: toInput(input) });
						return { turnId: expectedTurnId };
					},
				}),
			],
			[
				"turn/interrupt",
				defineMethod({
					...shapes["turn/interrupt"],
					handle: async ({ threadId, turnId }) => {
						await this.#checkTurn(threadId, turnId);
						await threads.get(threadId).handle.session.send({ type: "turn.cancel" });
						return {};
					},
				}),
			],
		];
	}

	#initialized(): ThreadClient {
		if (this.#client !== null) return this.#client;
		throw new KernelError("invalid-input", "Not initialized: send initialize first.");
	}

	#initialize({ clientInfo, capabilities }: InitializeParams) {
		if (this.#client !== null) throw new KernelError("invalid-input", "Already initialized.");
		this.#client = {
			name: clientInfo.name,
			version: clientInfo.version,
			isExperimental: capabilities?.experimentalApi === true,
			unwanted: new Set(capabilities?.optOutNotificationMethods ?? []),
		};
		const { name, version } = this.#kernelApi.server;
		return {
			userAgent: `${name}-codex-protocol/${codexProtocolVersion} (${name} ${version})`,
			codexHome: this.#place.home,
			platformFamily: process.platform === "win32" ? "windows" : "unix",
			platformOs: process.platform === "darwin" ? "macos" : process.platform,
		};
	}

	async #models() {
		this.#initialized();
		const { options, chosen } = await this.#kernelApi.sessions.models();
		const data = options.map(({ alias, name, provider, thinking, accepts }) => ({
			id: alias,
			model: alias,
			displayName: name,
			description: `${name} of ${provider}`,
			hidden: false as const,
			isDefault: alias === chosen,
			defaultReasoningEffort: thinking === "never" ? "none" : "medium",
			supportedReasoningEfforts: [
				...(thinking === "always" ? [] : [{ reasoningEffort: "none", description: "Without thinking" }]),
				...(thinking === "never" ? [] : [{ reasoningEffort: "medium", description: "With thinking" }]),
			],
			inputModalities: ["text" as const, ...(accepts.image ? (["image"] as const) : [])],
		}));
		return { data, nextCursor: null };
	}

	async #startThread({ dynamicTools, config, ephemeral, ...start }: ThreadStartParams) {
		this.#initialized();
		if (ephemeral === true)
			throw unsupported("ephemeral", "Threads are stored; delete them with `agentwire sessions`.");
		if (Object.keys(config ?? {}).length > 0) {
			throw unsupported("config", "Start app-server with --config, or set it in config.toml.");
		}
		const tools = (dynamicTools ?? []).map(({ name, description, inputSchema: parameters }) => ({
			name,
			description,
			parameters,
		}));
		return await this.#threads.start({ ...start, tools });
	}

	async #startTurn({ threadId, input, outputSchema, model, effort, cwd, ...others }: TurnStartParams) {
		const thread = this.#threads.get(threadId);
		const { session } = thread.handle;
		const { approvalPolicy, sandboxPolicy } = others;
		if (cwd !== null && cwd !== session.workDir) {
			throw new KernelError("invalid-input", `The thread works in ${session.workDir}, not in ${cwd}.`);
		}
		this.#threads.checkSandbox(sandboxPolicy === null ? null : sandboxModes[sandboxPolicy.type]);
		const thinking = effort === null ? null : !["none", "minimal"].includes(effort);
		if (model !== null || thinking !== null) await session.send({ type: "model.set", model, thinking });
		const options: TurnStartOptions =
			outputSchema === null ? {} : { answerForm: { schema: outputSchema, retries: formRetries } };
		return { turn: await thread.startTurn(toInput(input), options, approvalPolicy) };
	}

	/** Clients parse the running turn's id from the end of the message. */
	async #checkTurn(threadId: string, expected: string): Promise<void> {
		const { turnId } = await this.#threads.get(threadId).handle.session.snapshot();
		if (turnId === expected) return;
		const problem =
			turnId === null ? "no active turn to act on" : `expected active turn id \`${expected}\` but found \`${turnId}\``;
		throw new KernelError("no-turn", problem);
	}
}

const sandboxModes = {
	readOnly: "read-only",
	workspaceWrite: "workspace-write",
	dangerFullAccess: "danger-full-access",
} as const;

function unsupported(what: string, instead: string): KernelError {
	return new KernelError("unsupported", `${what} is not supported. ${instead}`);
}

const toInput = (items: readonly wire.InputItem[]): UserInput => items.map(toPart);

function toPart(item: wire.InputItem): ContentPart {
	switch (item.type) {
		case "text":
			return textPart(item.text);
		case "image":
			return mediaPart("image", item.url);
		case "localImage":
			throw unsupported("localImage", `Send ${item.path} as an image with a data URL.`);
		case "skill":
			return textPart(`Use the skill ${item.name} (${item.path}).`);
		case "mention":
			return textPart(`@${item.path}`);
	}
}
