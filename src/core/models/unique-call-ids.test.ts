import { expect, it } from "vitest";
import {
	collectChunks,
	partsOf,
	piece,
	plainRequest,
	text,
	toolCall,
} from "../../../test/support/models/model-conversation.ts";
import { chunksOf } from "./chunk-streams.ts";
import { withUniqueCallIds } from "./unique-call-ids.ts";

it("gives the calls of an answer ids of their own, and another answer the same ones again", async () => {
	const parts = [
		toolCall("a", "f"),
		piece("{}"),
		toolCall("a_2", "g"),
		text("x"),
		toolCall("a", "f"),
		toolCall("b", "f"),
	];
	const answer = [...parts.map((part) => ({ type: "parts", parts: [part] }) as const)];
	const stream = withUniqueCallIds(() => chunksOf(...answer, { type: "done", usage: null, messageId: null }));
	for (let count = 0; count < 2; count++) {
		const received = partsOf(await collectChunks(stream(plainRequest, new AbortController().signal)));
		expect(received).toEqual([...parts.slice(0, 4), toolCall("a_3", "f"), toolCall("b", "f")]);
	}
});
