import * as v from "valibot";
import { KernelError, toKernelError } from "../../base/errors.ts";
import type { HostApi } from "../shared/dialect.ts";
import type { Conversation } from "./conversation.ts";
import type { Frames } from "./frames.ts";
import { type ControlName, claudeProtocol } from "./protocol.ts";
import { rewindFiles } from "./rewind.ts";
import { claudeVersionText } from "./version.ts";
import { controlRequestFrameSchema } from "./wire.ts";

type Params<N extends ControlName> = v.InferOutput<(typeof claudeProtocol)["methods"][N]["params"]>;
type Result<N extends ControlName> = v.InferInput<(typeof claudeProtocol)["methods"][N]["result"]>;
type Handlers = { readonly [N in ControlName]: (params: Params<N>) => Result<N> | Promise<Result<N>> };

const isControlName = (name: string): name is ControlName => Object.hasOwn(claudeProtocol.methods, name);

export class Control {
	readonly #frames: Frames;
	readonly #handlers: Handlers;

	constructor(frames: Frames, conversation: Conversation, host: HostApi) {
		this.#frames = frames;
		this.#handlers = createHandlers(conversation, host);
	}

	/** Every frame with a request id is answered, or refused by name. */
	async take(frame: Readonly<Record<string, unknown>>): Promise<void> {
		const parsed = v.safeParse(controlRequestFrameSchema, frame);
		if (!parsed.success) {
			const { request_id: id } = frame;
			if (typeof id === "string") this.#frames.refuse(id, `control_request: ${describe(parsed.issues[0])}`);
			return;
		}
		const { request_id: id, request } = parsed.output;
		const { subtype } = request;
		if (!isControlName(subtype)) {
			this.#frames.refuse(id, `agentwire does not support the control request '${subtype}'.`);
			return;
		}
		try {
			this.#frames.answer(id, await this.#handle(subtype, request));
		} catch (thrown) {
			this.#frames.refuse(id, toKernelError(thrown).message);
		}
	}

	async #handle<N extends ControlName>(name: N, request: unknown): Promise<Result<N>> {
		const schema: v.GenericSchema<unknown, Params<N>> = claudeProtocol.methods[name].params;
		const params = v.safeParse(schema, request);
		if (params.success) return await this.#handlers[name](params.output);
		throw new KernelError("invalid-input", `${name}: ${describe(params.issues[0])}`);
	}
}

function describe(issue: v.BaseIssue<unknown>): string {
	return `${v.getDotPath(issue) ?? "the request"}: ${issue.message}`;
}

function createHandlers(conversation: Conversation, host: HostApi): Handlers {
	return {
		async initialize(params) {
			conversation.declare(params);
			const { options } = await host.sessions.models();
			return {
				commands: [],
				agents: [],
				output_style: "default",
				available_output_styles: ["default"],
				models: options.map(({ alias, name, provider }) => ({
					value: alias,
					displayName: name,
					description: provider,
				})),
				account: {},
				hooks_applied: conversation.hooks.applied,
			};
		},
		async interrupt() {
			await conversation.interrupt();
			return {};
		},
		async set_permission_mode({ mode }) {
			await conversation.setMode(mode);
			return { mode };
		},
		async set_model({ model }) {
			await conversation.setModel(model ?? null);
			return {};
		},
		set_max_thinking_tokens({ max_thinking_tokens }) {
			conversation.setThinkingBudget(max_thinking_tokens);
			return {};
		},
		async mcp_status() {
			return { mcpServers: [...(await conversation.servers())] };
		},
		async mcp_reconnect({ serverName }) {
			const { handle } = await conversation.open();
			await handle.session.send({ type: "mcp-servers.change", change: { kind: "reload", name: serverName } });
			return {};
		},
		// Notices such as a changed tool list, which was read when the session was opened.
		mcp_message: () => ({}),
		async rewind_files(request) {
			const { handle, turns } = await conversation.open();
			return await rewindFiles(handle.session, turns, request);
		},
		async rename_session({ title }) {
			const { handle } = await conversation.open();
			await handle.session.send({ type: "title.set", title });
			return {};
		},
		async stop_task({ task_id: id }) {
			const { handle } = await conversation.open();
			await handle.session.send({ type: "task.stop", id });
			return {};
		},
		get_binary_version: () => ({ version: claudeVersionText }),
	};
}
