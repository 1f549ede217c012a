import { describe, expect, it } from "vitest";
import { collectChunks, piece, plainRequest, toolCall } from "../../../test/support/models/model-conversation.ts";
import { withChaos } from "./chaos.ts";
import type { ModelChunk, ModelPart } from "./model.ts";

const call = (given: string | null) => toolCall("c", "f", given);
const done: ModelChunk = { type: "done", usage: null, messageId: null };

/** The numbers one after the other. */
const chances = (...numbers: number[]) => {
	return () => numbers.shift() ?? 0.99;
};

async function play(parts: ModelPart[], ...numbers: number[]): Promise<ModelChunk[]> {
	let asked = 0;
	const stream = withChaos(
		async function* () {
			asked++;
			yield { type: "parts", parts } as const;
			yield done;
		},
		chances(...numbers),
	);
	const chunks = await collectChunks(stream(plainRequest, new AbortController().signal));
	expect(asked).toBe(numbers[0] !== undefined && numbers[0] < 0.8 ? 0 : 1);
	return chunks;
}

describe("chaos", () => {
	it.each([
		[0, 429],
		[0.34, 500],
		[0.99, 503],
	])("fails four times of five, in one of three ways (%s)", async (chance, statusCode) => {
		expect(await play([], 0.79, chance)).toMatchObject([{ type: "failed", failure: { kind: "status", statusCode } }]);
	});

	it("passes the other answers", async () => {
		const parts: ModelPart[] = [{ type: "text", text: "a" }, call(null), piece('{"a":1}')];
		expect(await play(parts, 0.8, 0.1)).toEqual([{ type: "parts", parts }, done]);
	});

	it("corrupts one call of ten, whole or in pieces", async () => {
		const chunks = await play([call('{"a":1}'), call(null), piece('{"a":1'), piece("}")], 0.8, 0.09, 0.09);
		expect(chunks[0]).toEqual({ type: "parts", parts: [call('{"a":1'), call(null), piece('{"a":'), piece("")] });
	});

	it("requests nothing once aborted", async () => {
		const stream = withChaos(async function* () {
			yield done;
		}, chances(0));
		expect(await collectChunks(stream(plainRequest, AbortSignal.abort()))).toEqual([]);
	});
});
