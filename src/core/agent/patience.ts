// Tells clients how long a provider has been silent, and adds up the silence over all attempts.
import type { EventBodyOf } from "../../api/values/event.ts";
import { retryTitle } from "../../api/values/retry-text.ts";
import type { Clock } from "../../base/clock.ts";
import { type Model, type ModelChunk, modelFailure } from "../models/model.ts";
import type { TurnDependencies } from "./dependencies.ts";
import type { ComingRetry } from "./retries.ts";

export interface Patience {
	readonly model: Model;
	/** Whether the silence limit is reached, so that another attempt makes no sense. */
	isSpent(): boolean;
}

/** Milliseconds of silence before the first notice; the interval then doubles. */
const firstNotice = 30_000;
/** Maximum milliseconds of silence over all attempts; the provider adapter has the same limit per attempt. */
const silenceLimit = 300_000;
/** Tolerance in milliseconds, because this timer and the adapter's start at different moments. */
const inexactness = 1000;

export function createPatience(model: Model, { clock, emit }: Pick<TurnDependencies, "clock" | "emit">): Patience {
	let carried = 0;
	let nextNotice = firstNotice;

	async function* stream(...[request, signal]: Parameters<Model["stream"]>): AsyncGenerator<ModelChunk, void> {
		const limit = new AbortController();
		// In the first attempt only the adapter sees the provider's keep-alive messages.
		const limited = carried > 0;
		let since: number | null = null;
		let announcing: Promise<void> | undefined;
		let withdraw = () => {};
		const waited = () => (since === null ? 0 : carried + clock.monotonic() - since);
		const check = (): void => {
			const silence = waited();
			if (limited && silence >= silenceLimit) {
				limit.abort();
				return;
			}
			if (silence >= nextNotice) {
				announcing = emit(waitNotice(silence, clock));
				// Awaited before the next chunk is passed on.
				announcing?.catch(() => {});
				while (nextNotice <= silence) nextNotice *= 2;
			}
			watch(silence);
		};
		const watch = (silence: number): void => {
			const due = limited ? Math.min(nextNotice, silenceLimit) : nextNotice;
			withdraw = clock.after(Math.max(due - silence, 1), check, true);
		};
		const chunks = model.stream(request, limited ? AbortSignal.any([signal, limit.signal]) : signal);
		const iterator = chunks[Symbol.asyncIterator]();
		watch(carried);
		try {
			for (;;) {
				since = clock.monotonic();
				const taken = await iterator.next();
				const silence = waited();
				since = null;
				await announcing;
				const isFailed = taken.done !== true && taken.value.type === "failed";
				carried = isFailed || limit.signal.aborted ? silence : 0;
				if (limit.signal.aborted && !signal.aborted) {
					yield modelFailure("timeout", `The provider sent nothing for ${silenceLimit / 1000} s.`);
					return;
				}
				if (taken.done === true) return;
				if (!isFailed) nextNotice = firstNotice;
				if (taken.value.type === "done" && taken.value.notice !== undefined) {
					await emit(modelNotice("model.notice", "Model", taken.value.notice, clock, {}));
				}
				yield taken.value;
			}
		} finally {
			withdraw();
			await iterator.return?.();
		}
	}
	return { model: { ...model, stream }, isSpent: () => carried >= silenceLimit - inexactness };
}

function waitNotice(silence: number, clock: Clock): EventBodyOf<"notification.raised"> {
	const seconds = Math.round(silence / 1000);
	return modelNotice("model.waiting", "Waiting for the model", `No data for ${seconds} s.`, clock, {
		waited_s: seconds,
	});
}

/** The notice of a retry outside of turn steps, whose retries have their own event. */
export function retryNotice(retry: ComingRetry, clock: Clock): EventBodyOf<"notification.raised"> {
	const { attempt, maxAttempts, wait, reason } = retry;
	return modelNotice("model.retrying", retryTitle(wait, attempt, maxAttempts), reason, clock, {
		next_attempt: attempt,
		max_attempts: maxAttempts,
		wait_s: wait,
	});
}

function modelNotice(
	type: string,
	title: string,
	body: string,
	clock: Clock,
	payload: Readonly<Record<string, unknown>>,
): EventBodyOf<"notification.raised"> {
	const now = clock.now();
	return {
		type: "notification.raised",
		id: `${type}-${now}`,
		category: "model",
		notification_type: type,
		source_kind: "model",
		source_id: "",
		title,
		body,
		severity: "warning",
		created_at: now / 1000,
		payload,
	};
}
