// What a session gets without a turn: context for its next turns, and events from elsewhere.
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { SessionApi } from "../../kernel/api.ts";
import { NamedError } from "./errors.ts";
import type {
	ExternalEventParams,
	ExternalEventResult,
	InjectContextParams,
	InjectContextResult,
} from "./wire-inputs.ts";

/** Characters of an event, as the model gets it. */
const longestEvent = 256 * 1024;

/** The name of a message of the system, from its source and key; null for one without a key. */
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

/** `id` is a fresh one, and `now` in milliseconds. */
export async function addExternalEvent(
	session: SessionApi,
	{ event_type: kind, payload, blocks, idempotency_key: key }: ExternalEventParams,
	{ id, now }: { readonly id: string; readonly now: number },
): Promise<ExternalEventResult> {
	const texts = (blocks ?? []).map(({ text }) => text);
	const body = [...texts, `Payload: ${JSON.stringify(payload ?? null, null, 2)}`].join("\n");
	if (body.length > longestEvent) {
		throw new NamedError(
			"INVALID_PARAMS",
			`Invalid params: the event has ${body.length} characters, and at most ${longestEvent} are taken.`,
		);
	}
	try {
		const found = await session.send({ type: "notification.add", id, kind, body, key });
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
