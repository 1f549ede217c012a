import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { allSamples, sampleEvents } from "../../test/support/protocol/sample-events.ts";
import { eventDeclarations } from "../api/values/event.ts";
import { messageDeclarations } from "../formats/message.ts";
import { toMessage, wrapForSubagent } from "../formats/message-conversion.ts";
import { createSchemaReader } from "./schema-reader.ts";

/** A value and everything that becomes of it by one change anywhere in it. */
function* variants(value: unknown): Generator<unknown> {
	yield value;
	yield* [null, 5, -1, 0.5, "text", true, [], {}, [value]];
	if (Array.isArray(value)) {
		for (const [index, inner] of value.entries()) {
			for (const other of variants(inner)) yield value.with(index, other);
		}
	} else if (typeof value === "object" && value !== null) {
		const entries = Object.entries(value);
		yield Object.fromEntries(entries.toReversed());
		yield { ...value, unknown_key: 1 };
		for (const [index, [key, inner]] of entries.entries()) {
			yield Object.fromEntries(entries.toSpliced(index, 1));
			for (const other of variants(inner)) yield { ...value, [key]: other };
		}
	}
}

/** What the library makes of a value, as JSON: the order of keys matters. */
function byLibrary(schema: v.GenericSchema, value: unknown): string | undefined {
	const parsed = v.safeParse(schema, structuredClone(value));
	return JSON.stringify(parsed.success ? parsed.output : null);
}

function expectTheSame(schema: v.GenericSchema, samples: Iterable<unknown>): void {
	const read = createSchemaReader(schema);
	for (const value of samples) {
		const before = JSON.stringify(value);
		expect(JSON.stringify(read(value)), before).toBe(byLibrary(schema, value));
		expect(JSON.stringify(value), "a value is not changed").toBe(before);
	}
}

describe("a reader of a schema", () => {
	for (const [type, { schema }] of Object.entries(eventDeclarations)) {
		it(`reads the event ${type}, whole and damaged, as the schema does`, () => {
			const samples: readonly object[] = Object.entries(sampleEvents).flatMap(([name, bodies]) =>
				name === type ? [...bodies] : [],
			);
			expect(samples).not.toEqual([]);
			for (const sample of samples) expectTheSame(schema, variants(JSON.parse(JSON.stringify(sample))));
		});
	}

	for (const [type, { schema }] of Object.entries(messageDeclarations)) {
		it(`reads the message ${type}, whole and damaged, as the schema does`, () => {
			const agent = { parentToolCallId: "c1", agentId: "a1", subagentType: null };
			const messages = allSamples.flatMap((body) => {
				const message = toMessage(body);
				return message === null ? [] : [message, wrapForSubagent(message, [agent])];
			});
			const samples = messages.filter((message) => message.type === type);
			expect(samples).not.toEqual([]);
			// One that wraps another differs in what it wraps alone.
			for (const { payload } of type === "SubagentEvent" ? samples.slice(0, 3) : samples) {
				expectTheSame(schema, variants(JSON.parse(JSON.stringify(payload))));
			}
		});
	}

	it("gives a value itself when it is what the schema makes of it", () => {
		const read = createSchemaReader(v.object({ a: v.string(), b: v.nullable(v.array(v.number())) }));
		const value = { a: "x", b: [1] };
		expect(read(value)).toBe(value);
	});

	it("leaves out, fills in and orders keys", () => {
		const schema = v.object({
			a: v.optional(v.string()),
			b: v.optional(v.nullable(v.string()), null),
			c: v.optional(v.array(v.string()), () => []),
			d: v.exactOptional(v.boolean()),
		});
		expectTheSame(schema, [
			{},
			{ c: ["x"], a: "y" },
			{ d: true, e: 1 },
			{ b: 1 },
			JSON.parse('{"__proto__":{"a":"x"}}'),
		]);
	});

	it("leaves to the schema what it has no function for", () => {
		const schema = v.object({
			a: v.pipe(
				v.string(),
				v.transform((text) => text.length),
			),
			b: v.fallback(v.number(), 7),
			c: v.nullish(v.string(), "none"),
			d: v.pipe(
				v.string(),
				v.check((text) => text !== "no"),
			),
			e: v.looseObject({ x: v.number() }),
			f: v.union([v.pipe(v.string(), v.minLength(3)), v.literal("ab"), v.strictObject({ y: v.number() })]),
		});
		const whole = { a: "abc", b: 1, c: "x", d: "yes", e: { x: 1, z: 2 }, f: "abcd" };
		expectTheSame(schema, [...variants(whole), ...variants({ ...whole, f: { y: 1 } }), { ...whole, f: "ab" }]);
	});
});
