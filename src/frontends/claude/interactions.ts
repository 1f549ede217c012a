import type { SessionApi } from "../../api/kernel.ts";
import { toolError } from "../../api/values/content.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { Answer, Interaction, InteractionFailure } from "../../api/values/interaction.ts";
import { toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ClientTools } from "./client-tools.ts";
import type { ClientHooks, HookBase } from "./hooks.ts";
import { type AskedCall, changedInput, isSame, type Permissions, toAnswers, toPlanAnswer } from "./permissions.ts";
import { readClientCall, toClientCall } from "./tool-names.ts";

type Of<K extends Interaction["kind"]> = Extract<Interaction, { kind: K }>;

export interface InteractionSettings {
	readonly session: SessionApi;
	readonly clientId: string;
	readonly hooks: () => ClientHooks;
	readonly permissions: Permissions;
	readonly tools: ClientTools;
	readonly hookBase: () => HookBase;
	readonly log: Log;
}

export class Interactions {
	/** The MCP servers of the session, as last reported. */
	servers: readonly { readonly name: string; readonly status: string }[] = [];
	readonly #settings: InteractionSettings;
	readonly #calls = new Map<string, AskedCall>();
	/** By interaction: withdraws the request to the client. */
	readonly #open = new Map<string, AbortController>();
	#plan = "";

	constructor(settings: InteractionSettings) {
		this.#settings = settings;
	}

	take({ body, agentPath }: AgentEvent): void {
		switch (body.type) {
			case "turn.started":
				if (agentPath.length === 0) this.#calls.clear();
				return;
			case "tool.requested": {
				const { id, function: called } = body.call;
				this.#calls.set(id, { id, ...readClientCall(called.name, called.arguments) });
				return;
			}
			case "status.changed":
				if (body.mcp_status !== null)
					this.servers = body.mcp_status.servers.map(({ name, status }) => ({ name, status: serverStatuses[status] }));
				return;
			case "plan.displayed":
				this.#plan = body.content;
				return;
			case "interaction.requested":
				this.#begin(body.interaction);
				return;
			case "interaction.resolved":
				this.#open.get(body.interactionId)?.abort();
				this.#open.delete(body.interactionId);
				return;
			default:
				return;
		}
	}

	#begin(interaction: Interaction): void {
		const { session, clientId, log } = this.#settings;
		const withdrawal = new AbortController();
		this.#open.set(interaction.id, withdrawal);
		this.#answer(interaction, withdrawal.signal)
			.catch((thrown: unknown): InteractionFailure => {
				log.error("A request of the session was not answered.", { error: thrown });
				return { kind: "error-reply", message: toKernelError(thrown).message };
			})
			.then((answer) => {
				if (withdrawal.signal.aborted) return null;
				return session.send({ type: "interaction.respond", interactionId: interaction.id, clientId, answer });
			})
			.catch((thrown: unknown) => log.error("An answer could not be delivered.", { error: thrown }));
	}

	async #answer(interaction: Interaction, signal: AbortSignal): Promise<Answer> {
		switch (interaction.kind) {
			case "approval": {
				const call = this.#callOf(interaction.toolCallId, interaction.sender);
				return await this.#settings.permissions.decide(interaction, call, signal);
			}
			case "client-tool":
				return await this.#callTool(interaction, signal);
			case "question":
				return await this.#ask(interaction, signal);
			case "hook":
				return await this.#runHook(interaction, signal);
		}
	}

	async #callTool({ toolCallId, name, arguments: written }: Of<"client-tool">, signal: AbortSignal): Promise<Answer> {
		const { tools, permissions } = this.#settings;
		const tool = tools.find(name);
		const call = { id: toolCallId, ...readClientCall(name, written) };
		const result = async () => {
			if (tool === null) return toolError(`The client has no tool ${name}.`, "Unknown tool");
			const verdict = await permissions.decideOwnTool(call, signal);
			if (verdict.kind === "deny") return toolError(verdict.message, "Rejected");
			return await tools.call(tool, verdict.input, signal);
		};
		return { kind: "client-tool", result: await result() };
	}

	async #ask(interaction: Of<"question">, signal: AbortSignal): Promise<Answer> {
		const { permissions } = this.#settings;
		const known = this.#callOf(interaction.toolCallId, "AskUserQuestion");
		if (known.name === "ExitPlanMode") {
			const call = { ...known, input: { ...known.input, plan: this.#plan } };
			return toPlanAnswer(interaction, await permissions.ask(call, [], "", signal));
		}
		// A question of another tool, such as an MCP server's, has other arguments.
		const { input } = toClientCall("AskUserQuestion", { questions: interaction.questions });
		const call = { ...known, name: "AskUserQuestion", input };
		return toAnswers(interaction, await permissions.ask(call, [], "", signal));
	}

	async #runHook({ event, target, input }: Of<"hook">, signal: AbortSignal): Promise<Answer> {
		const { hooks, permissions, hookBase } = this.#settings;
		const answer = (blocked: string | null): Answer =>
			blocked === null
				? { kind: "hook", action: "allow", reason: "" }
				: { kind: "hook", action: "block", reason: blocked };
		const { tool_name: toolName, tool_input: toolInput, tool_call_id: id, tool_output: output, ...others } = input;
		if (typeof toolName !== "string") {
			const verdict = await hooks().run(event, target, { ...hookBase(), ...others }, null, signal);
			return answer(verdict.blocked);
		}
		const call: AskedCall = { ...toClientCall(toolName, toolInput), id: typeof id === "string" ? id : "" };
		const about = { tool_name: call.name, tool_input: call.input, tool_use_id: call.id };
		const response = output === undefined ? {} : { tool_response: output };
		const all = { ...hookBase(), ...others, ...about, ...response };
		const verdict = await hooks().run(event, call.name, all, call.id, signal);
		if (event !== "PreToolUse" || verdict.blocked !== null) return answer(verdict.blocked);
		if (verdict.updatedInput !== null && !isSame(verdict.updatedInput, call.input))
			return answer(changedInput(verdict.updatedInput));
		if (verdict.permission === "ask") {
			const asked = await permissions.ask(call, [], "", signal);
			if (asked.kind === "deny") return answer(asked.message);
			if (!isSame(asked.input, call.input)) return answer(changedInput(asked.input));
		}
		if (verdict.permission !== null) permissions.allowCall(call.id);
		return answer(null);
	}

	#callOf(id: string, tool: string): AskedCall {
		return this.#calls.get(id) ?? { id, ...toClientCall(tool, {}) };
	}
}

const serverStatuses = {
	pending: "pending",
	connecting: "pending",
	connected: "connected",
	failed: "failed",
	unauthorized: "needs-auth",
} as const;
