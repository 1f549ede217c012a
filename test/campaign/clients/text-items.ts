// What a client rebuilds from deltas by their offsets, and whether the completed parts agree with it.
import type { AgentEvent, AgentPathEntry, EventBody } from "../../../src/api/values/event.ts";

interface Item {
	readonly kind: "text" | "think" | "call";
	text: string;
	/** Whether an offset showed that something is missing. */
	hasGap: boolean;
}

const keyOf = (turnId: string | null, path: readonly AgentPathEntry[]) => `${turnId} ${path.at(-1)?.agentId ?? ""}`;

/** Where the text of an event belongs; null for one that has nothing to do with texts. */
function read(body: EventBody): { readonly kind: Item["kind"]; readonly text: string; readonly offset: number } | null {
	switch (body.type) {
		case "content.delta":
		case "content.completed": {
			const offset = body.type === "content.delta" ? (body.offset ?? 0) : 0;
			if (body.part.type === "text") return { kind: "text", text: body.part.text, offset };
			return body.part.type === "think" ? { kind: "think", text: body.part.think, offset } : null;
		}
		case "tool-call.started":
		case "tool.requested":
			return { kind: "call", text: body.call.function.arguments ?? "", offset: 0 };
		case "tool-call.fragment":
			return { kind: "call", text: body.arguments_part ?? "", offset: 0 };
		case "tool-call.delta":
			return { kind: "call", text: body.arguments_part ?? "", offset: body.offset ?? 0 };
		default:
			return null;
	}
}

const completes: ReadonlySet<EventBody["type"]> = new Set([
	"content.completed",
	"tool.requested",
	"tool-call.fragment",
]);

export class TextItems {
	readonly faults: string[] = [];
	gaps = 0;
	/** Items that were rebuilt whole. */
	whole = 0;
	readonly #items = new Map<string, Item>();

	/** The texts of a snapshot that the next deltas continue. */
	begin(
		turnId: string | null,
		unfinished: readonly { readonly agentPath: readonly AgentPathEntry[]; readonly body: EventBody }[],
	) {
		for (const { agentPath, body } of unfinished) {
			const part = read(body);
			if (part !== null) this.#items.set(keyOf(turnId, agentPath), { ...part, hasGap: false });
		}
	}

	/** `mayLack`: the client may have lost deltas, also the last ones of an item. */
	take({ turnId, agentPath, body }: AgentEvent, mayLack: boolean): void {
		const part = read(body);
		if (part === null) return;
		const key = keyOf(turnId, agentPath);
		const item = this.#items.get(key);
		if (completes.has(body.type)) {
			this.#items.delete(key);
			this.#compare(item ?? { kind: part.kind, text: "", hasGap: false }, part.text, mayLack);
			return;
		}
		// Arguments that begin anew belong to a call that another event cut.
		if (body.type === "tool-call.started" || (item === undefined && part.offset === 0)) {
			if (item !== undefined) {
				this.faults.push(`a call begins before the ${item.kind} ${JSON.stringify(item.text)} is complete`);
			}
			this.#items.set(key, { kind: part.kind, text: part.text, hasGap: false });
			return;
		}
		const known = item ?? { kind: part.kind, text: "", hasGap: false };
		this.#items.set(key, known);
		if (known.kind !== part.kind) this.faults.push(`${part.kind} continues ${known.kind}`);
		else if (part.offset > known.text.length || known.hasGap) this.#note(known);
		else if (part.offset < known.text.length)
			this.faults.push(`a delta of offset ${part.offset} comes after ${known.text.length} characters`);
		known.text += part.text;
	}

	#note(item: Item): void {
		if (!item.hasGap) this.gaps += 1;
		item.hasGap = true;
	}

	#compare({ kind, text, hasGap }: Item, completed: string, mayLack: boolean): void {
		if (!mayLack && hasGap)
			this.faults.push(`a client that loses nothing has a gap in ${kind} ${JSON.stringify(completed)}`);
		if (hasGap) return;
		if (text === completed) this.whole += 1;
		else if (!mayLack || !completed.startsWith(text)) {
			this.faults.push(`the ${kind} ${JSON.stringify(text)} is complete as ${JSON.stringify(completed)}`);
		}
	}
}
