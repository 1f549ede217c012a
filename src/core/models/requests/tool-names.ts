// Names of tools as every provider accepts them, in the tools of a request and in the calls of its history. Servers give their
// tools longer names with other characters, and models call tools by names that they made up.
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { ModelPart, ModelRequest } from "../model.ts";
import { takeUnusedName } from "./unused-name.ts";

/** The characters, the beginning and the length that all providers have in common. */
const accepted = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const longest = 64;

export interface NamedRequest {
	readonly request: ModelRequest;
	/** The part with the tool's own name, where the model calls it by the one that it was given. */
	named(part: ModelPart): ModelPart;
}

/** `isReserved` recognizes a name that the provider itself gives a meaning. Without a name to change the request stays as it is. */
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
