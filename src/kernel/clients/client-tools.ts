// Tools that a client brings along: checked when it attaches, asked of it when a model calls them.
import type { Identifiers } from "../../base/ids.ts";
import type { ToolReturn } from "../../events/content.ts";
import type { ClientToolInteraction } from "../../events/interaction.ts";
import { compileJsonSchema } from "../../tools/json-schema.ts";
import type { JsonSchema, Tool } from "../../tools/tool.ts";
import type { InteractionTable } from "../interactions/interaction-table.ts";
import type { Clients } from "./clients.ts";
import type { Emitter, Where } from "./emitter.ts";

/** A tool as its client declares it; `parameters` is a JSON Schema (draft 2020-12). */
export interface ClientToolDeclaration {
	readonly name: string;
	readonly description: string;
	readonly parameters: JsonSchema;
}

/** Declarations sorted into tools, by name, and refusals with their reasons. */
export interface CheckedTools {
	readonly tools: ReadonlyMap<string, Tool>;
	readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/** Puts a client's tool call before it and resolves with its result, or with what stands in for one. */
export type CallClientTool = (interaction: ClientToolInteraction, signal: AbortSignal) => Promise<ToolReturn>;

/** Puts the calls of client tools before the clients of a session; `place` says where their events belong. */
export function createClientToolCalls(
	interactions: InteractionTable,
	clients: Pick<Clients, "any">,
	emitter: Pick<Emitter, "emit">,
	place: () => Where,
): CallClientTool {
	return async (interaction, signal) => {
		const settlement = interactions.wait(interaction, "client-tool", signal);
		// The client may have detached between the call and this.
		if (!clients.any) interactions.clientGone();
		const where = place();
		await emitter.emit(where, { type: "interaction.requested", interaction }, {}, signal);
		const { answer } = await settlement;
		await emitter.emit(where, { type: "interaction.resolved", interactionId: interaction.id, answer }, {}, signal);
		return answer.result;
	};
}

/** Tools of one declaration; models are given all of them with every request. */
const maximumTools = 1000;

/** `isBuiltin` names the tools nobody may shadow. Of declarations with one name the last counts. */
export async function checkClientTools(
	declarations: readonly ClientToolDeclaration[],
	isBuiltin: (name: string) => boolean,
	identifiers: Identifiers,
	ask: CallClientTool,
): Promise<CheckedTools> {
	const tools = new Map<string, Tool>();
	const rejected: { name: string; reason: string }[] = [];
	for (const declaration of declarations) {
		const { name, parameters } = declaration;
		if (tools.size >= maximumTools && !tools.has(name))
			rejected.push({ name, reason: `more than ${maximumTools} tools` });
		else if (isBuiltin(name)) rejected.push({ name, reason: "conflicts with builtin tool" });
		else if (name === "") rejected.push({ name, reason: "invalid schema" });
		else {
			const compiled = await compileJsonSchema(parameters);
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
					approval: null,
					hasEffect: true,
					target: null,
					execute: (signal) =>
						ask({ kind: "client-tool", id: identifiers.uuid(), toolCallId, name, arguments: rawArguments }, signal),
				},
			};
		},
	};
}
