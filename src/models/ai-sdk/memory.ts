// What a provider wants back with the parts it sent (signatures, encrypted thoughts), as the values that are kept: the
// `encrypted` of a thought and the `extras` of a call. Each names its origin, so that nobody is sent another's.
import type { JSONObject, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import { isRecord } from "../../base/json.ts";
import type { ContentPart, ToolCall } from "../../events/content.ts";

export interface ProviderMemory {
	/** Whose parts these are: the provider, and the model where it takes back only its own. */
	readonly origin: string;
	/** The name of the package in its metadata and options. */
	readonly key: string;
	/** The names of the metadata that go back, for each kind of part; the values are text. */
	readonly names: { readonly [Kind in RetainedKind]: readonly string[] };
}

export type RetainedKind = "thought" | "text" | "call";
export type Retained = Readonly<Record<string, string>>;

/** What is kept of a part's metadata; empty when that is nothing. */
export function pickRetained(
	memory: ProviderMemory,
	kind: RetainedKind,
	metadata: SharedV3ProviderMetadata | undefined,
): Retained {
	const values: JSONObject = metadata?.[memory.key] ?? {};
	const retained: Record<string, string> = {};
	for (const name of memory.names[kind]) {
		const value = values[name];
		if (typeof value === "string" && value !== "") retained[name] = value;
	}
	return retained;
}

export function isNothing(retained: Retained): boolean {
	return Object.keys(retained).length === 0;
}

/** A part that holds what is kept of the thought, or the text, right before it. */
export function toSeal(
	memory: ProviderMemory,
	kind: "thought" | "text",
	retained: Retained,
): Extract<ContentPart, { type: "think" }> {
	return { type: "think", think: "", encrypted: JSON.stringify({ from: memory.origin, of: kind, kept: retained }) };
}

export interface Seal {
	readonly kind: "thought" | "text";
	readonly retained: Retained;
}

/** What a thought holds, or null when it was not sealed for this origin. */
export function readSeal(memory: ProviderMemory, encrypted: string | null): Seal | null {
	if (encrypted === null) return null;
	let value: unknown;
	try {
		value = JSON.parse(encrypted);
	} catch {
		return null;
	}
	if (!isRecord(value) || value["from"] !== memory.origin) return null;
	const kind = value["of"];
	if (kind !== "thought" && kind !== "text") return null;
	return { kind, retained: toPersisted(memory, kind, value["kept"]) };
}

/** What is kept of a call, as the extras of the call; null when that is nothing. */
export function toExtras(memory: ProviderMemory, retained: Retained): ToolCall["extras"] {
	return isNothing(retained) ? null : { from: memory.origin, kept: retained };
}

/** What the extras of a call hold for this origin. */
export function readExtras(memory: ProviderMemory, extras: ToolCall["extras"]): Retained {
	return extras?.["from"] === memory.origin ? toPersisted(memory, "call", extras["kept"]) : {};
}

/** The options that give a part back what was kept of it; nothing for nothing. */
export function toProviderOptions(
	memory: ProviderMemory,
	retained: Retained,
): { providerOptions?: Record<string, Record<string, string>> } {
	return isNothing(retained) ? {} : { providerOptions: { [memory.key]: { ...retained } } };
}

// Session files are written by others as well: only what this version would have kept counts.
function toPersisted(memory: ProviderMemory, kind: RetainedKind, value: unknown): Retained {
	if (!isRecord(value)) return {};
	const entries = memory.names[kind].flatMap((name) => {
		const text = value[name];
		return typeof text === "string" ? [[name, text] as const] : [];
	});
	return Object.fromEntries(entries);
}
