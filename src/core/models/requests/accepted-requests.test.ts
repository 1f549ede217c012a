// The tools of a request where a provider documents how many it takes.
import { describe, expect, it } from "vitest";
import { collectChunks, plainRequest } from "../../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { sendJson } from "../../../../test/support/models/provider-server.ts";
import { isRecord } from "../../../base/json.ts";
import type { LogFields } from "../../../base/log.ts";
import { acceptanceOf } from "./acceptance.ts";

const tested = createModelSubject({ environment: { GOOGLE_API_KEY: "k" } });

const toolsOf = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ name: `tool_${index}`, description: "", parameters: {} }));

/** How often a key with the name of a tool is in what was sent last. */
function sentNames(): string[] {
	const names: string[] = [];
	const search = (value: unknown): void => {
		if (Array.isArray(value)) value.forEach(search);
		else if (isRecord(value)) {
			if (typeof value["name"] === "string" && value["name"].startsWith("tool_")) names.push(value["name"]);
			else Object.values(value).forEach(search);
		}
	};
	search(tested.server.requests.at(-1)?.body);
	return names;
}

describe("more tools than a provider takes", () => {
	it.each([
		["https://api.openai.com/v1", 128],
		["https://models.example.com/v1", null],
		["", null],
	])("are more than those of chat completions at %j: %j", (baseUrl, most) => {
		expect(acceptanceOf("openai_legacy", baseUrl).mostTools).toBe(most);
	});

	it.each([
		["kimi", 128],
		["openai_legacy", 130],
		["openai_responses", 128],
		["anthropic", 130],
		["gemini", 130],
		["vertexai", 130],
	] as const)(
		"are left out of the requests to %s from the end, which has %i of them, and logged once",
		async (type, most) => {
			const warnings: [string, LogFields | undefined][] = [];
			const log = { warn: (message: string, fields?: LogFields) => void warnings.push([message, fields]) };
			const model = await tested.create({ providerType: type, log });
			const ask = async (count: number) => {
				tested.server.answerNext(sendJson(400, {}, {}));
				const request = { ...plainRequest, tools: toolsOf(count) };
				await collectChunks(model.stream(request, new AbortController().signal));
				return sentNames();
			};
			expect(await ask(128)).toEqual(toolsOf(128).map(({ name }) => name));
			expect(warnings).toEqual([]);
			expect(await ask(130)).toEqual(toolsOf(most).map(({ name }) => name));
			await ask(130);
			const message = "The provider accepts no more tools per request: the last ones are left out.";
			const warned = (tools: readonly string[]) => [message, { model: "kimi-k2.6", most: 128, tools }];
			const first = most === 128 ? [warned(["tool_128", "tool_129"])] : [];
			expect(warnings).toEqual(first);
			await ask(131);
			expect(warnings).toEqual(most === 128 ? [...first, warned(["tool_128", "tool_129", "tool_130"])] : []);
		},
	);
});
