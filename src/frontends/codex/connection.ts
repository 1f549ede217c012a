import process from "node:process";
import type * as v from "valibot";
import { type ContentPart, mediaPart, textPart, type UserInput } from "../../api/values/content.ts";
import type { TurnStartOptions } from "../../api/values/turn-options.ts";
import { KernelError } from "../../base/errors.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { MethodTable } from "../../ports/rpc/methods.ts";
import type { HostApi, SharedConnection } from "../shared/dialect.ts";
import { createMethodTable, done, type Handlers } from "../shared/method-table.ts";
import { codexProtocol } from "./protocol.ts";
import { codexProtocolVersion } from "./protocol-version.ts";
import type { ThreadClient } from "./thread.ts";
import { type CodexPlace, checkDirectory, Threads } from "./threads.ts";
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
		this.methods = createMethodTable(shapes, this.#handlers());
	}

	abortPending(): void {}

	drained(): Promise<void> {
		return this.#threads.drained();
	}

	leave(): void {
		this.#threads.leave();
	}

	#handlers(): Handlers<typeof shapes> {
		const threads = this.#threads;
		return {
			initialize: async (params) => this.#initialize(params),
			initialized: async () => {},
			"thread/start": (params) => this.#startThread(params),
			"thread/resume": async ({ threadId, excludeTurns, ...wishes }) =>
				await this.#ready().resume(threadId, wishes, excludeTurns !== true),
			"thread/fork": async ({ threadId, lastTurnId, excludeTurns, ...wishes }) => {
				const ready = this.#ready();
				if (lastTurnId !== null) throw unsupported("thread/fork with lastTurnId", "A fork has the whole thread.");
				return await ready.fork(threadId, wishes, excludeTurns !== true);
			},
			"thread/revert": async ({ threadId, beforeTurnId }) => ({ thread: await threads.revert(threadId, beforeTurnId) }),
			"thread/list": async ({ cwd, cursor, limit, archived }) =>
				await this.#ready().list(cwd, cursor, limit, archived === true),
			"thread/read": async ({ threadId, includeTurns }) => ({
				thread: await this.#ready().read(threadId, includeTurns === true),
			}),
			"thread/archive": async ({ threadId }) => await done(this.#ready().archive(threadId)),
			"thread/unarchive": async ({ threadId }) => ({ thread: await this.#ready().unarchive(threadId) }),
			"thread/name/set": async ({ threadId, name: title }) =>
				await done(this.#ready().using(threadId, ({ session }) => session.send({ type: "title.set", title }))),
			"thread/goal/set": async ({ threadId, ...change }) => ({
				goal: await threads.get(threadId).setGoal(change, this.#kernelApi.clock.now()),
			}),
			"thread/goal/clear": async ({ threadId }) => ({ cleared: threads.get(threadId).clearGoal() }),
			"thread/compact/start": async ({ threadId }) => await done(threads.get(threadId).startTurn("/compact", {}, null)),
			"turn/start": (params) => this.#startTurn(params),
			"turn/steer": async ({ threadId, expectedTurnId, input }) => {
				await this.#checkTurn(threadId, expectedTurnId);
				await threads.get(threadId).handle.session.send({ type: "turn.steer", input: toInput(input) });
				return { turnId: expectedTurnId };
			},
			"turn/interrupt": async ({ threadId, turnId }) => {
				await this.#checkTurn(threadId, turnId);
				return await done(threads.get(threadId).handle.session.send({ type: "turn.cancel" }));
			},
			"model/list": () => this.#models(),
			"account/read": async () => ({ account: null, requiresOpenaiAuth: false }),
			"account/login/cancel": async () => ({ status: "notFound" }),
			"account/logout": async () => ({}),
		};
	}

	#ready(): Threads {
		this.#initialized();
		return this.#threads;
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
		checkDirectory(session.workDir, cwd);
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
