// Client tools: validates them when a client attaches, and requests their calls from the client.

import type { ClientToolDeclaration } from "../../api/session-options.ts";
import type { ToolReturn } from "../../api/values/content.ts";
import type { ClientToolInteraction } from "../../api/values/interaction.ts";
import type { Identifiers } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { createSchemaCompiler } from "../../core/tools/json-schema.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { InteractionTable } from "../interactions/interaction-table.ts";
import type { Emitter, Where } from "./emitter.ts";

/** Requests the call from a client. Resolves with its result or the fallback answer. */
export type CallClientTool = (interaction: ClientToolInteraction, signal: AbortSignal) => Promise<ToolReturn>;

export function createClientToolCalls(
	interactions: InteractionTable,
	emitter: Pick<Emitter, "emit">,
	place: () => Where,
): CallClientTool {
	return async (interaction, signal) => {
		const settlement = interactions.wait(interaction, "client-tool", signal);
		// The client may have detached after the model made the call.
		interactions.clientGone();
		const where = place();
		await emitter.emit(where, { type: "interaction.requested", interaction }, {}, signal);
		const { answer, by } = await settlement;
		const resolved = { type: "interaction.resolved", interactionId: interaction.id, answer, by } as const;
		await emitter.emit(where, resolved, {}, signal);
		return answer.result;
	};
}

export interface CheckedTools {
	readonly tools: ReadonlyMap<string, Tool>;
	readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/** Maximum tools per client: every model request contains all of them. */
const maximumTools = 1000;

/** `isBuiltin` names tools that a client may not replace. Of several declarations with the same name, the last wins. */
export async function checkClientTools(
	declarations: readonly ClientToolDeclaration[],
	isBuiltin: (name: string) => boolean,
	identifiers: Identifiers,
	ask: CallClientTool,
): Promise<CheckedTools> {
	const compile = createSchemaCompiler("a client");
	const tools = new Map<string, Tool>();
	const rejected: { name: string; reason: string }[] = [];
	for (const declaration of declarations) {
		const { name, parameters } = declaration;
		if (tools.size >= maximumTools && !tools.has(name))
			rejected.push({ name, reason: `more than ${maximumTools} tools` });
		else if (isBuiltin(name)) rejected.push({ name, reason: "conflicts with builtin tool" });
		else if (name === "") rejected.push({ name, reason: "invalid schema" });
		else {
			const compiled = await compile(parameters);
			if (!compiled.ok) rejected.push({ name, reason: compiled.reason });
			else tools.set(name, createClientTool(declaration, compiled.check, identifiers, ask));
		}
	}
	return { tools, rejected };
}

function createClientTool(
	{ name, description, parameters }: ClientToolDeclaration,
	check: (value: unknown) => Promise<string | null>,
	identifiers: Identifiers,
	ask: CallClientTool,
): Tool {
	return {
		name,
		description: description === "" ? "No description provided." : description,
		parameters: async () => parameters,
		open: async (value, { toolCallId, rawArguments }) => {
			const issue = await check(value);
			if (issue !== null) return { ok: false, issue };
			return {
				ok: true,
				preparation: {
					kind: "ready",
					approval: {
						byDefault: "allow",
						action: `client:${name}`,
						subjects: [{ kind: "client-tool", name, arguments: isRecord(value) ? value : {} }],
						description: `Call the client's tool \`${name}\`.`,
						display: [],
					},
					hasEffect: true,
					target: null,
					execute: (signal) =>
						ask({ kind: "client-tool", id: identifiers.uuid(), toolCallId, name, arguments: rawArguments }, signal),
				},
			};
		},
	};
}
