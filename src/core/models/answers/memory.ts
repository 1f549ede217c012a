// Provider data that must be sent back is stored with its origin, so that it never reaches another provider.
import type { ContentPart, ToolCall } from "../../../api/values/content.ts";
import { isRecord } from "../../../base/json.ts";

export interface ProviderMemory {
	readonly origin: string;
	/** The members to send back, by kind of part. */
	readonly names: { readonly [Kind in RetainedKind]: readonly string[] };
}

export type SealKind = "thought" | "text" | "message";
export type RetainedKind = SealKind | "call";
export type Retained = Readonly<Record<string, unknown>>;

export function pickRetained({ names }: ProviderMemory, kind: RetainedKind, value: unknown): Retained {
	if (!isRecord(value)) return {};
	const present = (member: unknown) => member !== undefined && member !== null;
	return Object.fromEntries(names[kind].flatMap((name) => (present(value[name]) ? [[name, value[name]]] : [])));
}

export function isNothing(retained: Retained): boolean {
	return Object.keys(retained).length === 0;
}

/** A part that stores the members of the preceding reasoning or text, or of its message. */
export function toSeal(
	{ origin }: ProviderMemory,
	kind: SealKind,
	retained: Retained,
): Extract<ContentPart, { type: "think" }> {
	return { type: "think", think: "", encrypted: JSON.stringify({ from: origin, of: kind, kept: retained }) };
}

export interface Seal {
	readonly kind: SealKind;
	readonly retained: Retained;
}

const sealKinds: readonly SealKind[] = ["thought", "text", "message"];

/** The content of a reasoning part; null if it has another origin. */
export function readSeal(memory: ProviderMemory, encrypted: string | null): Seal | null {
	if (encrypted === null) return null;
	let value: unknown;
	try {
		value = JSON.parse(encrypted);
	} catch {
		return null;
	}
	if (!isRecord(value) || value["from"] !== memory.origin) return null;
	const kind = sealKinds.find((each) => each === value["of"]);
	// Other programs also write session files; only members that this version would store count.
	return kind === undefined ? null : { kind, retained: pickRetained(memory, kind, value["kept"]) };
}

/** The stored members of a call as extras; null if none. */
export function toExtras({ origin }: ProviderMemory, retained: Retained): ToolCall["extras"] {
	return isNothing(retained) ? null : { from: origin, kept: retained };
}

/** The stored members from a call's extras, for this origin. */
export function readExtras(memory: ProviderMemory, extras: ToolCall["extras"]): Retained {
	return extras?.["from"] === memory.origin ? pickRetained(memory, "call", extras["kept"]) : {};
}
