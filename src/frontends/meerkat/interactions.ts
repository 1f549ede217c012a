// Kernel interactions as JSON-RPC requests: approvals and questions for clients that declared them, and the client's own tools.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Answer, Interaction } from "../../api/values/interaction.ts";
import { isTextNestedWithin } from "../../base/json.ts";
import type { Outgoing } from "../shared/event-pump.ts";
import { toPart } from "./wire/blocks.ts";
import {
	type approvalRequestSchema,
	approvalResultSchema,
	type questionRequestSchema,
	questionResultSchema,
	type toolExecuteSchema,
	toolResultSchema,
} from "./wire/wire-requests.ts";
import type { RequestMethod } from "./wire.ts";

export type InteractionRequest = Extract<Outgoing, { kind: "interaction" }>;

export interface CallPlace {
	readonly runId: string;
	/** The model call, from 0. */
	readonly round: number;
}

function toDedupeKey(call: Extract<Interaction, { kind: "client-tool" }>, { runId, round }: CallPlace) {
	const { toolCallId, name, arguments: given } = call;
	const digest = createHash("sha256")
		.update(JSON.stringify([name, given]))
		.digest("hex");
	return { run_id: runId, round, call_id: toolCallId, call_digest: digest };
}

export function toRequest(
	interaction: Interaction,
	sessionId: string,
	answers: ReadonlySet<RequestMethod>,
	place: CallPlace | null,
): InteractionRequest | null {
	switch (interaction.kind) {
		case "approval":
			if (!answers.has("approval/request")) return null;
			return request<typeof approvalRequestSchema>(interaction, "approval/request", {
				session_id: sessionId,
				approval_id: interaction.id,
				tool_use_id: interaction.toolCallId,
				name: interaction.sender,
				action: interaction.action,
				description: interaction.description,
				display: interaction.display,
				agent_id: interaction.agentId,
			});
		case "question":
			if (!answers.has("question/request")) return null;
			return request<typeof questionRequestSchema>(interaction, "question/request", {
				session_id: sessionId,
				question_id: interaction.id,
				tool_use_id: interaction.toolCallId,
				questions: interaction.questions,
			});
		case "client-tool":
			return request<typeof toolExecuteSchema>(interaction, "tool/execute", {
				session_id: sessionId,
				tool_use_id: interaction.toolCallId,
				name: interaction.name,
				arguments: toArguments(interaction.arguments),
				...(place === null ? {} : { dedupe_key: toDedupeKey(interaction, place) }),
			});
		case "hook":
			// Only clients with hook subscriptions get these, and this dialect has none.
			return null;
	}
}

function request<S extends v.GenericSchema>(
	interaction: Interaction,
	method: string,
	params: v.InferOutput<S>,
): InteractionRequest {
	return {
		kind: "interaction",
		interactionId: interaction.id,
		id: interaction.id,
		method,
		params: () => params,
		readResult: (result) => readers[interaction.kind](result),
	};
}

const readers: { readonly [K in Interaction["kind"]]: (result: unknown) => Answer | null } = {
	approval: (result) => {
		const parsed = v.safeParse(approvalResultSchema, result);
		return parsed.success ? { kind: "approval", ...parsed.output } : null;
	},
	question: (result) => {
		const parsed = v.safeParse(questionResultSchema, result);
		return parsed.success ? { kind: "question", answers: parsed.output.answers } : null;
	},
	"client-tool": (result) => {
		const parsed = v.safeParse(toolResultSchema, result);
		if (!parsed.success) return null;
		const { content, is_error } = parsed.output;
		const output =
			typeof content === "string" ? content : content.map((part) => (part.type === "image" ? toPart(part) : part));
		return { kind: "client-tool", result: { is_error, output, message: "", display: [], extras: null } };
	},
	hook: () => null,
};

/** Maximum depth of arguments sent as a value: deeper ones cannot be serialized. */
const argumentsDepth = 1000;

/** Arguments as a value; text that is not JSON or nests too deep stays text. */
export function toArguments(text: string | null): unknown {
	if (text === null || text.trim() === "") return {};
	if (!isTextNestedWithin(text, argumentsDepth)) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
