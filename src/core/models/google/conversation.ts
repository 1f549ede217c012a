import {
	type ContentPart,
	isBlankText,
	isMedia,
	joinTexts,
	type MediaPart,
	readDataUri,
	readMedia,
} from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { Fields } from "../answers/event-json.ts";
import { type ProviderMemory, readExtras, readSeal } from "../answers/memory.ts";
import { toCallInput } from "../requests/call-arguments.ts";
import { type CallIds, createCallIds } from "../requests/call-ids.ts";
import { localIdPrefix } from "./content-reader.ts";

export interface Content {
	readonly role: "user" | "model";
	readonly parts: Fields[];
}

export interface ContentRules {
	readonly memory: ProviderMemory;
	readonly hasIds: boolean;
	/** Whether the model requires call signatures and accepts media within results. */
	readonly isThirdGeneration: boolean;
}

/** The documented placeholder for the signature of a call from another model. */
const absentSignature = "skip_thought_signature_validator";

/** All contents. Consecutive results are merged; a later system message becomes a marked user text. */
export function toContents(history: readonly HistoryEntry[], rules: ContentRules): Content[] {
	const contents: Content[] = [];
	const ids = createCallIds((id) => id);
	const toolNames = new Map<string, string>();
	let wasResult = false;
	for (const entry of history) {
		const isResult = entry.role === "tool";
		for (const call of entry.toolCalls ?? []) toolNames.set(call.id, call.function.name);
		const parts = toParts(entry, ids, toolNames, rules);
		const last = contents.at(-1);
		if (isResult && wasResult && last !== undefined) last.parts.push(...parts);
		else if (parts.length > 0) contents.push({ role: entry.role === "assistant" ? "model" : "user", parts });
		wasResult = isResult;
	}
	return contents;
}

function toParts(
	entry: HistoryEntry,
	ids: CallIds,
	toolNames: ReadonlyMap<string, string>,
	rules: ContentRules,
): Fields[] {
	const { content, role } = entry;
	switch (role) {
		case "user":
			return content.flatMap((part) =>
				part.type === "think" || isBlankText(part) ? [] : [part.type === "text" ? { text: part.text } : toMedia(part)],
			);
		case "system":
			return [{ text: `<system>${joinTexts(content, "\n")}</system>` }];
		case "assistant":
			return [...toAnswer(content, rules), ...toCalls(entry, ids, rules)];
		case "tool": {
			const id = entry.toolCallId ?? "";
			const name = entry.name ?? toolNames.get(id) ?? "";
			return toResult(content, { ...idOf(ids.ofResult(id), rules), name }, rules);
		}
	}
}

/** Texts and reasoning; each signature goes back on its original part. */
function toAnswer(content: readonly ContentPart[], { memory }: ContentRules): Fields[] {
	const parts: Fields[] = [];
	for (const part of content) {
		if (part.type === "text" && !isBlankText(part)) parts.push({ text: part.text });
		const seal = part.type === "think" ? readSeal(memory, part.encrypted) : null;
		if (part.type !== "think" || seal === null) continue;
		const last = parts.at(-1);
		if (seal.kind === "thought") {
			if (part.think !== "") parts.push({ text: part.think, thought: true, ...seal.retained });
		} else if (last === undefined || last["thought"] === true || last["thoughtSignature"] !== undefined) {
			parts.push({ text: "", ...seal.retained });
		} else Object.assign(last, seal.retained);
	}
	return parts;
}

function toCalls({ toolCalls = [] }: HistoryEntry, ids: CallIds, rules: ContentRules): Fields[] {
	const callIds = ids.ofCalls(toolCalls.map(({ id }) => id));
	return toolCalls.map((call, index) => {
		const { name, arguments: given } = call.function;
		// Of parallel calls only the first has a signature.
		const absent = rules.isThirdGeneration && index === 0 ? { thoughtSignature: absentSignature } : {};
		return {
			functionCall: { ...idOf(callIds[index] ?? call.id, rules), name, args: toCallInput(given) },
			...absent,
			...readExtras(rules.memory, call.extras),
		};
	});
}

function idOf(id: string, { hasIds }: ContentRules): Fields {
	return hasIds && !id.startsWith(localIdPrefix) ? { id } : {};
}

/** One result per call. Older models get its media as separate parts. */
function toResult(content: readonly ContentPart[], call: Fields, { isThirdGeneration }: ContentRules): Fields[] {
	const media = content.filter(isMedia).map(toMedia);
	const text = joinTexts(media.length === 0 ? content : content.filter((part) => !isBlankText(part)), "\n");
	const output = text === "" && media.length > 0 ? "The result follows." : text;
	const inner = isThirdGeneration ? media.filter((part) => part["inlineData"] !== undefined) : [];
	const functionResponse = { ...call, response: { output }, ...(inner.length === 0 ? {} : { parts: inner }) };
	return [{ functionResponse }, ...media.filter((part) => !inner.includes(part))];
}

/** Default types for content at a URL, because the API accepts no wildcard types. */
const standardTypes = { image: "image/jpeg", audio: "audio/mpeg", video: "video/mp4" } as const;

function toMedia(part: MediaPart): Fields {
	const { kind, url } = readMedia(part);
	const data = readDataUri(url);
	return data === null
		? { fileData: { mimeType: standardTypes[kind], fileUri: url } }
		: { inlineData: { mimeType: data.mediaType, data: data.data } };
}
