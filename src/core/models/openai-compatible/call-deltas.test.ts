import { describe, expect, it } from "vitest";
import { piece, text, toolCall } from "../../../../test/support/models/model-conversation.ts";
import { PartOrder } from "../answers/part-order.ts";
import { requestFailure } from "../http/request-failure.ts";
import type { ModelPart } from "../model.ts";
import { createCallDeltas, type ToolCallDelta } from "./call-deltas.ts";

const identifiers = { uuid: () => "", hex: (length: number) => "f".repeat(length) };

type Step = Partial<ToolCallDelta> | string;

/** The parts after each step and after the end. A text is content, anything else a piece of a call. */
function play(...steps: readonly Step[]): ModelPart[][] {
	return playWith(false, steps);
}

function playWith(isCutOff: boolean, steps: readonly Step[]): ModelPart[][] {
	const order = new PartOrder(identifiers);
	const calls = createCallDeltas(order);
	const batches = steps.map((step) => {
		if (typeof step === "string") order.addContent({ type: "text", text: step });
		else calls.add({ index: null, id: null, name: null, argumentsPiece: null, ...step });
		return order.take();
	});
	order.end(isCutOff);
	return [...batches, order.take()];
}

describe("the order of parts", () => {
	it("emits consecutive calls as they stream", () => {
		expect(
			play(
				"a",
				{ index: 0, id: "c0", name: "f" },
				{ index: 0, argumentsPiece: '{"x":' },
				{ index: 0, argumentsPiece: "1}" },
				{ index: 1, id: "c1", name: "g", argumentsPiece: '{"y":' },
				{ index: 1, argumentsPiece: "2}" },
				"b",
			),
		).toEqual([
			[text("a")],
			[toolCall("c0", "f")],
			[piece('{"x":')],
			[piece("1}")],
			[toolCall("c1", "g", '{"y":')],
			[piece("2}")],
			[text("b")],
			[],
		]);
	});

	it("holds back parts until the call before them is complete", () => {
		expect(
			play(
				{ index: 0, id: "c0", name: "f" },
				{ index: 1, id: "c1", name: "g" },
				{ index: 1, argumentsPiece: '{"y":' },
				"held",
				{ index: 0, argumentsPiece: '{"x":{}' },
				{ index: 0, argumentsPiece: "}" },
				{ index: 1, argumentsPiece: "2}" },
			),
		).toEqual([
			[toolCall("c0", "f")],
			[],
			[],
			[],
			[piece('{"x":{}')],
			[piece("}"), toolCall("c1", "g", '{"y":')],
			[piece("2}"), text("held")],
			[],
		]);
	});

	it("emits at the end the parts after a call without arguments", () => {
		expect(play({ index: 0, id: "c0", name: "f" }, { index: 1, id: "c1", name: "g", argumentsPiece: "{}" })).toEqual([
			[toolCall("c0", "f")],
			[],
			[toolCall("c1", "g", "{}")],
		]);
	});

	it.each<[string, Step[], ModelPart[]]>([
		[
			"one index for all calls, which differ by id",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: "{}" },
				{ index: 0, id: "c1", name: "g", argumentsPiece: "{}" },
			],
			[toolCall("c0", "f", "{}"), toolCall("c1", "g", "{}")],
		],
		[
			"no index and no id",
			[{ name: "f", argumentsPiece: "{" }, { argumentsPiece: "}" }, { name: "f", argumentsPiece: "{}" }],
			[toolCall(`call_${"f".repeat(24)}`, "f", "{"), piece("}"), toolCall(`call_${"f".repeat(24)}`, "f", "{}")],
		],
		[
			"id and name on each piece",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: "{" },
				{ index: 0, id: "c0", name: "f", argumentsPiece: "}" },
				{ index: 0, id: "c0", name: "f", argumentsPiece: " " },
			],
			[toolCall("c0", "f", "{"), piece("}"), piece(" ")],
		],
		[
			"one id for calls of several indexes",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: "{" },
				{ index: 1, id: "c0", name: "f", argumentsPiece: "{" },
				{ index: 0, id: "c0", argumentsPiece: "}" },
				{ index: 1, argumentsPiece: "}" },
			],
			[toolCall("c0", "f", "{"), piece("}"), toolCall("c0", "f", "{"), piece("}")],
		],
		[
			"one id for calls of several tools",
			[
				{ id: "c0", name: "f", argumentsPiece: "{}" },
				{ id: "c0", name: "g", argumentsPiece: "{}" },
			],
			[toolCall("c0", "f", "{}"), toolCall("c0", "g", "{}")],
		],
		[
			"one id for calls of a tool",
			[
				{ id: "c0", name: "f", argumentsPiece: '{"x":1}' },
				{ id: "c0", name: "f", argumentsPiece: '{"x":2}' },
				{ id: "c0", name: "f", argumentsPiece: "" },
			],
			[toolCall("c0", "f", '{"x":1}'), toolCall("c0", "f", '{"x":2}')],
		],
		[
			"a late name",
			[
				{ index: 0, id: "c0", argumentsPiece: "{" },
				{ index: 0, name: "f", argumentsPiece: "}" },
			],
			[toolCall("c0", "f", "{}")],
		],
		[
			"an empty piece after the call has ended",
			[{ index: 0, id: "c0", name: "f", argumentsPiece: "{}" }, "a", { index: 0, argumentsPiece: "" }],
			[toolCall("c0", "f", "{}"), text("a")],
		],
		[
			"an empty object before the arguments",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: "{}" },
				{ index: 1, id: "c1", name: "g", argumentsPiece: "" },
				{ index: 1, argumentsPiece: "{}" },
				{ index: 0, argumentsPiece: '{"x":' },
				{ index: 1, argumentsPiece: '{"y":2}' },
				{ index: 0, argumentsPiece: "1}" },
			],
			[toolCall("c0", "f", '{"x":'), piece("1}"), toolCall("c1", "g", '{"y":2}')],
		],
		[
			"an empty object before the arguments, after a text that is empty",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: "" },
				{ index: 0, argumentsPiece: "{}" },
				{ index: 0, argumentsPiece: '{"x":1}' },
			],
			[toolCall("c0", "f", ""), piece('{"x":1}')],
		],
		[
			"an empty object alone, after a text that is empty",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: "" },
				{ index: 0, argumentsPiece: "{}" },
			],
			[toolCall("c0", "f", ""), piece("{}")],
		],
		[
			"a late id",
			[
				{ index: 0, name: "f", argumentsPiece: "{" },
				{ index: 0, id: "c0", argumentsPiece: "}" },
			],
			[toolCall(`call_${"f".repeat(24)}`, "f", "{"), piece("}")],
		],
		[
			"a new id with the index of a call that has ended, and a late name",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: "" },
				{ index: 0, id: "c1" },
				{ index: 0, name: "g", argumentsPiece: '{"y":2}' },
			],
			[toolCall("c0", "f", ""), toolCall("c1", "g", '{"y":2}')],
		],
		[
			"an id of its own for every delta",
			[
				{ index: 0, id: "c0", name: "f", argumentsPiece: '{"x"' },
				{ index: 0, id: "c1", argumentsPiece: ":1}" },
			],
			[toolCall("c0", "f", '{"x"'), piece(":1}")],
		],
	])("accepts %s", (_name, steps, parts) => {
		expect(play(...steps).flat()).toEqual(parts);
	});

	it.each<[string, Step[], ModelPart[]]>([
		["a call alone", [{ index: 0, id: "c0", name: "f" }], [toolCall("c0", "f"), piece("{")]],
		[
			"a call that waits for another one",
			[
				{ index: 0, id: "c0", name: "f" },
				{ index: 1, id: "c1", name: "g" },
			],
			[toolCall("c0", "f"), toolCall("c1", "g", "{")],
		],
		["a call with text after it", [{ index: 0, id: "c0", name: "f" }, "a"], [toolCall("c0", "f"), text("a")]],
		[
			"an empty object, which other arguments may follow",
			[{ index: 0, id: "c0", name: "f", argumentsPiece: "{}" }],
			[toolCall("c0", "f", "{")],
		],
		[
			"arguments that have begun",
			[{ index: 0, id: "c0", name: "f", argumentsPiece: '{"x":1}' }],
			[toolCall("c0", "f", '{"x":1}')],
		],
	])("leaves arguments that were cut off before they began unparsable: %s", (_name, steps, parts) => {
		expect(playWith(true, steps).flat()).toEqual(parts);
	});

	it("refuses a call without a name, and one that continues after its end", () => {
		expect(() => play({ index: 0, id: "c0" })).toThrow(
			requestFailure("provider", "The provider sent a tool call without a name."),
		);
		expect(() =>
			play({ index: 0, id: "c0", name: "f", argumentsPiece: '{"a":1}' }, "a", { index: 0, argumentsPiece: "x" }),
		).toThrow(requestFailure("provider", "The provider continued a tool call that had ended."));
	});
});
