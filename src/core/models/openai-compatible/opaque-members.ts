import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { isRecord } from "../../../base/json.ts";
import { type Fields, toFields } from "../answers/event-json.ts";
import { type ProviderMemory, pickRetained, type Retained, readExtras, readSeal } from "../answers/memory.ts";
import type { ModelSettings } from "../model-settings.ts";

/** Call members that arrived after their call, by the call's position. */
const callsMember = "tool_calls";

const callMembers = ["extra_content", "provider_specific_fields", "thought_signature"];

export function memoryOf({ model }: Pick<ModelSettings, "model">): ProviderMemory {
	return {
		origin: `chat:${model}`,
		names: {
			...{ thought: [], text: [], call: callMembers },
			message: ["reasoning_details", "reasoning_opaque", "thinking_blocks", "extra_content", callsMember],
		},
	};
}

export function messageMembers(memory: ProviderMemory, delta: Fields): Retained {
	const { [callsMember]: _, ...members } = pickRetained(memory, "message", delta);
	return members;
}

export function lateMembers(position: number, members: Retained): Retained {
	return { [callsMember]: { [position]: members } };
}

export function joinMembers(known: Retained, added: Retained): Retained {
	const joined = { ...known };
	for (const [name, value] of Object.entries(added)) joined[name] = joinValues(joined[name], value);
	return joined;
}

function joinValues(known: unknown, added: unknown): unknown {
	if (Array.isArray(added)) return added.reduce(withItem, Array.isArray(known) ? known : []);
	if (typeof known === "string" && typeof added === "string") return known + added;
	return isRecord(known) && isRecord(added) ? joinMembers(known, added) : added;
}

/** Appends the item, or merges it into the one with the same index and type. */
function withItem(list: readonly unknown[], item: unknown): unknown[] {
	const place = isRecord(item) ? list.findLastIndex((known) => isRecord(known) && continues(known, item)) : -1;
	const known = list[place];
	return isRecord(known) && isRecord(item) ? list.with(place, joinItem(known, item)) : [...list, item];
}

function continues(known: Fields, item: Fields): boolean {
	const isSame = (name: string) => known[name] === item[name] || (known[name] ?? item[name] ?? null) === null;
	const agrees = (name: string) => isSame(name) || (item[name] ?? null) === null || (known[name] ?? null) === null;
	return typeof item["index"] === "number" && isSame("index") && agrees("type") && agrees("id");
}

const streamed: ReadonlySet<string> = new Set(["text", "summary", "data", "thinking", "signature"]);

/** Texts are concatenated; for other types the last value wins. */
function joinItem(known: Fields, item: Fields): Fields {
	const joined = { ...known };
	for (const [name, value] of Object.entries(item)) {
		const before = joined[name];
		if (value === null || value === undefined) joined[name] ??= value;
		else joined[name] = streamed.has(name) && typeof before === "string" ? before + String(value) : value;
	}
	return joined;
}

/** The members to send back with a message, and with each of its calls. */
export function storedMembers(
	memory: ProviderMemory,
	message: HistoryEntry,
): { readonly message: Retained; readonly calls: readonly Retained[] } {
	let members: Retained = {};
	for (const part of message.content) {
		const seal = part.type === "think" ? readSeal(memory, part.encrypted) : null;
		if (seal?.kind === "message") members = joinMembers(members, seal.retained);
	}
	const { [callsMember]: late, ...own } = members;
	const calls = (message.toolCalls ?? []).map(({ extras }, position) => ({
		...readExtras(memory, extras),
		...pickRetained(memory, "call", toFields(late)[position]),
	}));
	return { message: own, calls };
}
