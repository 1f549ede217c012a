// Servers use longer names with other characters than providers allow, and models make up names.
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { ModelPart, ModelRequest } from "../model.ts";
import { takeUnusedName } from "./unused-name.ts";

/** The common subset of all providers' rules. */
const accepted = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const longest = 64;

export interface NamedRequest {
	readonly request: ModelRequest;
	/** Restores the tool's own name in a part. */
	named(part: ModelPart): ModelPart;
}

/** `isReserved` recognizes names reserved by the provider. Returns the same request if nothing changes. */
export function withAcceptedNames(request: ModelRequest, isReserved: (name: string) => boolean): NamedRequest {
	const isAccepted = (name: string) => (accepted.test(name) && name.length <= longest) || isReserved(name);
	const names = new Set([...request.tools.map(({ name }) => name), ...request.messages.flatMap(calledNames)]);
	const others = [...names].filter((name) => !isAccepted(name));
	if (others.length === 0) return { request, named: (part) => part };

	const used = new Set([...names].filter(isAccepted));
	const given = new Map<string, string>();
	const own = new Map<string, string>();
	for (const name of others) {
		const spelled = takeUnusedName(toLetters(name), used, longest);
		given.set(name, spelled);
		own.set(spelled, name);
	}
	const toGiven = (name: string) => given.get(name) ?? name;
	return {
		request: {
			...request,
			tools: request.tools.map((tool) => ({ ...tool, name: toGiven(tool.name) })),
			messages: request.messages.map((message) => renamed(message, toGiven)),
		},
		named(part) {
			if (part.type !== "function") return part;
			const name = own.get(part.function.name);
			return name === undefined ? part : { ...part, function: { ...part.function, name } };
		},
	};
}

function calledNames({ name, toolCalls = [] }: HistoryEntry): string[] {
	return [...(name === undefined ? [] : [name]), ...toolCalls.map((call) => call.function.name)];
}

function renamed(message: HistoryEntry, toGiven: (name: string) => string): HistoryEntry {
	const { name, toolCalls } = message;
	return {
		...message,
		...(name === undefined ? {} : { name: toGiven(name) }),
		...(toolCalls === undefined
			? {}
			: {
					toolCalls: toolCalls.map((call) => ({
						...call,
						function: { ...call.function, name: toGiven(call.function.name) },
					})),
				}),
	};
}

function toLetters(name: string): string {
	const letters = name.replace(/[^A-Za-z0-9_-]/g, "_");
	return (accepted.test(letters) ? letters : `_${letters}`).slice(0, longest);
}
