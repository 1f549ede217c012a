import type { SessionApi } from "../../api/kernel.ts";
import type { ExternalEvent } from "../../api/session-state.ts";
import { textPart, type UserInput } from "../../api/values/content.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { NamedError } from "./errors.ts";
import { type Block, toBlocks, toPart } from "./wire/blocks.ts";
import type {
	ExternalEventParams,
	ExternalEventResult,
	InjectContextParams,
	InjectContextResult,
} from "./wire/wire-inputs.ts";

/** Maximum characters of an event, as the model gets it. */
const longestEvent = 256 * 1024;

function toName({ source, idempotency_key: key }: InjectContextParams): string | null {
	return key === null ? null : JSON.stringify([source, key]);
}

export async function injectContext(session: SessionApi, params: InjectContextParams): Promise<InjectContextResult> {
	const { content, idempotency_key: key } = params;
	try {
		const { added } = await session.send({ type: "context.add", text: content.text, name: toName(params) });
		return { status: added ? "applied" : "duplicate" };
	} catch (thrown) {
		if (!(thrown instanceof KernelError) || thrown.code !== "invalid-input") throw thrown;
		throw new NamedError("INVALID_PARAMS", `Invalid params: another text was added under the idempotency key ${key}.`);
	}
}

/** Sorts members, so that equal values are equal texts. */
function inOrder(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(inOrder);
	if (!isRecord(value)) return value;
	const names = Object.keys(value).sort();
	return Object.fromEntries(names.map((name) => [name, inOrder(value[name])]));
}

const eventHead = "External event via";

export function toEventBlocks(events: readonly ExternalEvent[]): readonly Block[] {
	return events.flatMap(({ kind, input }) => {
		const blocks = toBlocks(input);
		const [first, ...images] = typeof blocks === "string" ? [textPart(blocks)] : blocks;
		const text = first?.type === "text" ? first.text : "";
		return [textPart(`${eventHead} ${kind}\n${text}`), ...images];
	});
}

export function isOfEvents(input: UserInput): boolean {
	const first = typeof input === "string" ? undefined : input[0];
	return first?.type === "text" && first.text.startsWith(`${eventHead} `);
}

/** `now` is in milliseconds. */
export async function addExternalEvent(
	session: SessionApi,
	{ event_type: kind, payload, blocks, idempotency_key: key }: ExternalEventParams,
	{ id, now }: { readonly id: string; readonly now: number },
): Promise<ExternalEventResult> {
	const texts = (blocks ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
	const images = (blocks ?? []).filter((block) => block.type === "image").map(toPart);
	const written = JSON.stringify(inOrder(payload ?? null), null, 2);
	const body = [`${eventHead} ${kind}: ${kind}`, ...texts, `Payload: ${written}`].join("\n");
	if (body.length > longestEvent) {
		throw new NamedError(
			"INVALID_PARAMS",
			`Invalid params: the event has ${body.length} characters, and at most ${longestEvent} are taken.`,
		);
	}
	const input = images.length === 0 ? body : [textPart(body), ...images];
	try {
		const found = await session.send({ type: "notification.add", id, kind, input, key });
		if (!found.added) return { outcome_type: "deduplicated", input_id: id, existing_id: found.id };
	} catch (thrown) {
		if (!(thrown instanceof KernelError) || thrown.code !== "invalid-input") throw thrown;
		const known = isRecord(thrown.data) ? { existing_id: thrown.data["existing_id"] } : {};
		throw new NamedError(
			"INPUT_IDEMPOTENCY_CONFLICT",
			`Invalid params: another event was sent under the idempotency key ${key}.`,
			known,
		);
	}
	const time = new Date(now).toISOString();
	return {
		outcome_type: "accepted",
		input_id: id,
		state: {
			input_id: id,
			current_state: "queued",
			attempt_count: 0,
			recovery_count: 0,
			history: [{ timestamp: time, from: "accepted", to: "queued", reason: "QueueAccepted" }],
			created_at: time,
			updated_at: time,
		},
	};
}
