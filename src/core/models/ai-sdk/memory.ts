// Stores what a provider requires back with its parts (signatures, encrypted reasoning), in the `encrypted` of
// reasoning parts and the `extras` of calls. Each value names its origin, so that no other provider is sent it.
import type { JSONObject, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import type { ContentPart, ToolCall } from "../../../api/values/content.ts";
import { isRecord } from "../../../base/json.ts";

export interface ProviderMemory {
	/** The provider, and the model where only that model accepts its own parts. */
	readonly origin: string;
	/** The name of the package in its metadata and options. */
	readonly key: string;
	/** The names of the metadata to send back, for each kind of part; the values are text. */
	readonly names: { readonly [Kind in RetainedKind]: readonly string[] };
}

export type RetainedKind = "thought" | "text" | "call";
export type Retained = Readonly<Record<string, string>>;

/** The part of the metadata to store; empty when there is none. */
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

/** A part that stores the metadata of the reasoning, or the text, right before it. */
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

/** The content of a reasoning part; null when it is from another origin. */
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

/** The metadata of a call as the call's extras; null when there is none. */
export function toExtras(memory: ProviderMemory, retained: Retained): ToolCall["extras"] {
	return isNothing(retained) ? null : { from: memory.origin, kept: retained };
}

/** The stored metadata in a call's extras, for this origin. */
export function readExtras(memory: ProviderMemory, extras: ToolCall["extras"]): Retained {
	return extras?.["from"] === memory.origin ? toPersisted(memory, "call", extras["kept"]) : {};
}

/** The options that send a part's stored metadata back; empty without any. */
export function toProviderOptions(
	memory: ProviderMemory,
	retained: Retained,
): { providerOptions?: Record<string, Record<string, string>> } {
	return isNothing(retained) ? {} : { providerOptions: { [memory.key]: { ...retained } } };
}

// Other programs write session files too: only names that this version would have stored count.
function toPersisted(memory: ProviderMemory, kind: RetainedKind, value: unknown): Retained {
	if (!isRecord(value)) return {};
	const entries = memory.names[kind].flatMap((name) => {
		const text = value[name];
		return typeof text === "string" ? [[name, text] as const] : [];
	});
	return Object.fromEntries(entries);
}
