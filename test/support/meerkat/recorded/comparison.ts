// How a conversation that was played differs from the recorded one. Members of ours may be added, none left out; ids,
// times and paths are compared by their kind.
import type { Exchange, Exchanges } from "./exchanges.ts";
import { at, type Line, type Value } from "./recording.ts";

/** Each difference as one line of text: where, what, as recorded, as it is here. */
export function differences(recorded: Exchanges, ours: Exchanges): string[] {
	const found: string[] = [];
	for (const exchange of recorded.all) {
		const own = ours.get(exchange.index);
		if (own !== undefined) found.push(...ofExchange(exchange, own));
	}
	found.push(...ofList("tool/execute", recorded.requests.map(params), ours.requests.map(params)));
	found.push(...ofStreams(recorded.streamed, ours.streamed));
	return [...new Set(found)].sort();
}

const params = (line: Line): Value => line["params"] ?? null;

function ofExchange(recorded: Exchange, own: Exchange): string[] {
	const subject = String(at(recorded.line ?? undefined, "method") ?? "line");
	const [answer, ownAnswer] = [recorded.answers[0], own.answers[0]];
	if (answer === undefined || ownAnswer === undefined) {
		const isSame = answer === undefined && ownAnswer === undefined;
		const word = answer === undefined ? "answered here only" : "not answered here";
		return [...(isSame ? [] : [`${subject}: ${word}`]), ...ofEvents(recorded.events, own.events)];
	}
	const refusal = ownAnswer["error"];
	if (answer["error"] === undefined && refusal !== undefined) {
		return [`${subject}: refused here: ${shown(at(refusal, "message"), 120)}`];
	}
	if (answer["error"] !== undefined && refusal === undefined) {
		return [`${subject}: refused there only: ${shown(at(answer["error"], "message"), 120)}`];
	}
	return [...ofValue(subject, "", answer, ownAnswer), ...ofEvents(recorded.events, own.events)];
}

const typeOf = (event: Value) => String(at(event, "payload", "type"));

/** Without the pieces of slow answers that were cut off: how many come before that is a matter of time. */
function withoutCutPieces(events: readonly Value[]): readonly Value[] {
	const isPiece = (event: Value) =>
		typeOf(event) === "text_delta" && /^c\d+ $/.test(String(at(event, "payload", "delta")));
	const endOf = (index: number) =>
		events.slice(index).find((each) => typeOf(each) === "run_completed" || typeOf(each) === "run_failed");
	return events.filter((event, index) => !isPiece(event) || typeOf(endOf(index) ?? null) === "run_completed");
}

function ofEvents(recorded: readonly Value[], own: readonly Value[]): string[] {
	return aligned(withoutCutPieces(recorded), withoutCutPieces(own), typeOf).flatMap(([one, other]) => {
		if (one !== null && other !== null) return ofValue(typeOf(one), "", at(one, "payload"), at(other, "payload"));
		return one === null
			? [`${typeOf(other)}: the event comes here only, or elsewhere in the order`]
			: [`${typeOf(one)}: the event does not come here, or elsewhere in the order`];
	});
}

/** What subscriptions carried, paired by the types of the events. */
function ofStreams(recorded: readonly Value[], own: readonly Value[]): string[] {
	const kindOf = (each: Value) => {
		const type = at(each, "event", "payload", "type");
		return typeof type === "string" ? type : "stream_end";
	};
	return aligned(recorded, own, kindOf).flatMap(([one, other]) => {
		if (one !== null && other !== null) return ofValue("stream", "", one, other);
		return one === null ? [`stream: ${kindOf(other)} comes here only`] : [`stream: ${kindOf(one)} does not come here`];
	});
}

type Pair = readonly [Value, Value];

/** Pairs the values of both by a key, in the order that leaves the fewest alone; null stands for the other of one alone. */
function aligned(recorded: readonly Value[], own: readonly Value[], keyOf: (value: Value) => string): readonly Pair[] {
	const lengths = Array.from({ length: recorded.length + 1 }, () => new Uint16Array(own.length + 1));
	const length = (left: number, right: number) => lengths[left]?.[right] ?? 0;
	for (let left = recorded.length - 1; left >= 0; left -= 1) {
		for (let right = own.length - 1; right >= 0; right -= 1) {
			const row = lengths[left];
			if (row === undefined) continue;
			const isPair = keyOf(recorded[left] ?? null) === keyOf(own[right] ?? null);
			row[right] = isPair
				? 1 + length(left + 1, right + 1)
				: Math.max(length(left + 1, right), length(left, right + 1));
		}
	}
	const pairs: Pair[] = [];
	let [left, right] = [0, 0];
	while (left < recorded.length || right < own.length) {
		const [one, other] = [recorded[left], own[right]];
		if (one !== undefined && other !== undefined && keyOf(one) === keyOf(other)) {
			pairs.push([one, other]);
			left += 1;
			right += 1;
		} else if (other === undefined || (one !== undefined && length(left + 1, right) >= length(left, right + 1))) {
			pairs.push([one ?? null, null]);
			left += 1;
		} else {
			pairs.push([null, other]);
			right += 1;
		}
	}
	return pairs;
}

function ofList(subject: string, recorded: readonly Value[], own: readonly Value[]): string[] {
	const pairs = recorded.slice(0, own.length).map((each, index) => [each, own[index] ?? null] as const);
	const word = recorded.length > own.length ? "fewer" : "more";
	return [
		...(recorded.length === own.length ? [] : [`${subject}: ${word} here`]),
		...pairs.flatMap(([one, other]) => ofValue(subject, "", one, other)),
	];
}

const times: ReadonlySet<string> = new Set([
	"created_at",
	"updated_at",
	"timestamp_ms",
	"duration_ms",
	"seq",
	"sequence",
]);

function ofValue(subject: string, path: string, recorded: Value, own: Value): string[] {
	const name = path.split(".").at(-1) ?? "";
	const place = `${subject}${path === "" ? "" : ` ${path}`}`;
	if (name === "id" || (times.has(name) && typeof recorded === typeof own)) return [];
	if (Array.isArray(recorded) && Array.isArray(own)) {
		const keyOf = keys[name];
		if (keyOf !== undefined) {
			// Capabilities have no order.
			const [one, other] = name === "capabilities" ? [sorted(recorded, keyOf), sorted(own, keyOf)] : [recorded, own];
			return ofKeyed(place, path, subject, aligned(one, other, keyOf));
		}
		if (name === "methods") return recorded.every((each) => own.includes(each)) ? [] : [`${place}: fewer names here`];
		const pairs = recorded.slice(0, own.length).map((each, index) => [each, own[index] ?? null] as const);
		return [
			...(recorded.length > own.length ? [`${place}: fewer entries here`] : []),
			...(recorded.length < own.length ? [`${place}: more entries here`] : []),
			...pairs.flatMap(([one, other]) => ofValue(subject, `${path}[]`, one, other)),
		];
	}
	if (isObject(recorded) && isObject(own)) {
		return Object.entries(recorded).flatMap(([member, each]) => {
			const other = own[member];
			const inner = path === "" ? member : `${path}.${member}`;
			return other === undefined ? [`${subject} ${inner}: is missing here`] : ofValue(subject, inner, each, other);
		});
	}
	if (name === "code") return recorded === own ? [] : [`${place}: ${recorded} there, ${own} here`];
	if (JSON.stringify(recorded) === JSON.stringify(own)) return [];
	if (typeof recorded === "number" && typeof own === "number")
		return varying.has(name) ? [] : [`${place}: another number`];
	const [one, other] = [shown(recorded), shown(own)];
	if (one === other || (one.includes("…") && typeof own === "string" && !/error|message/.test(name))) return [];
	const isSentence = name === "message" || place === "capabilities/get result.capabilities[].description";
	return isSentence ? [`${place}: in other words`] : [`${place}: ${one} there, ${other} here`];
}

/** Lists whose entries are paired by what they are, not by their places. */
const keys: Readonly<Record<string, (value: Value) => string>> = {
	capabilities: (each) => String(at(each, "id")),
	// The system prompt is another one.
	messages: (each) => `${at(each, "role")} ${at(each, "role") === "user" ? shown(at(each, "content"), 200) : ""}`,
};

const sorted = (values: readonly Value[], keyOf: (value: Value) => string) =>
	[...values].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

function ofKeyed(place: string, path: string, subject: string, pairs: readonly Pair[]): string[] {
	return pairs.flatMap(([one, other]) => {
		if (one !== null && other !== null) return ofValue(subject, `${path}[]`, one, other);
		const [alone, where] = one === null ? [other, "here only"] : [one, "there only"];
		return [`${place}: ${String(at(alone, "id") ?? at(alone, "role"))} ${shown(at(alone, "content"), 40)} ${where}`];
	});
}

/** Delays have a random part. */
const varying: ReadonlySet<string> = new Set(["computed_delay_ms", "selected_delay_ms"]);

const isObject = (value: Value): value is Line => typeof value === "object" && value !== null && !Array.isArray(value);

/** A value without what is new in every conversation, cut to a length. */
function shown(value: Value, length = 60): string {
	const text = (JSON.stringify(value) ?? "")
		.replace(/[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/gi, "ID")
		.replace(/\btu\d+\b/g, "ID")
		.replace(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, "TIME")
		.replace(/(?:ROOT|\/tmp)[^"\s]*/g, "PATH")
		.replace(/\d+(?:[.:]\d+)*/g, "N");
	return text.length > length ? `${text.slice(0, length)}…` : text;
}
