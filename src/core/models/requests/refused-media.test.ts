// Media that the provider refuses: the bodies that it is sent afterwards.
import { describe, expect, it } from "vitest";
import {
	assistant,
	collectChunks,
	image,
	plainRequest,
	text,
	user,
} from "../../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { readProviderFixture, sendEvents, sendJson } from "../../../../test/support/models/provider-server.ts";
import type { ContentPart } from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { Model } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

const warnings: unknown[] = [];
const log = { warn: (message: string, fields?: object) => void warnings.push([message, fields]) };
const tested = createModelSubject({ capabilities: new Set(["image_in"]), environment: { GOOGLE_API_KEY: "k" }, log });

const first = "https://images.example/first.png";
const second = "https://images.example/second.png";

const refusal = (message: string, status = 400) => sendJson(status, {}, { error: { message, type: "invalid" } });

const types: readonly [Partial<ModelSettings>, string, string][] = [
	[{ providerType: "kimi" }, "kimi-stream.sse", "failed to download image from the url"],
	[{ providerType: "openai_responses", model: "gpt-5.2" }, "responses-stream.sse", "Timeout while downloading it."],
	[
		{ providerType: "anthropic", model: "claude-sonnet-5" },
		"anthropic-stream.sse",
		"Unable to download the file. Please verify the URL and try again.",
	],
	[
		{ providerType: "gemini", model: "gemini-3-pro" },
		"gemini-stream.sse",
		"Cannot fetch content from the provided URL.",
	],
];

/** How often each image is in the bodies sent so far, one body after the other. */
const sent = () =>
	tested.server.requests.map(({ body }) => {
		const whole = JSON.stringify(body);
		return [first, second].filter((url) => whole.includes(`"${url}"`));
	});

const ask = async (model: Model, ...messages: readonly HistoryEntry[]) =>
	(await collectChunks(model.stream({ ...plainRequest, messages }, new AbortController().signal))).at(-1);

describe.each(types)("media for %j", (settings, fixture, message) => {
	const answer = () => sendEvents(readProviderFixture(fixture));
	const shown = user(text("look"), image(first));
	const more = [assistant([text("I see.")]), user(text("and this?"), image(second))];

	it("are left out of a second request when the provider refuses them, and of the later ones", async () => {
		warnings.length = 0;
		const model = await tested.create(settings);
		tested.server.answerNext(refusal(message));
		tested.server.answerNext(answer());
		tested.server.answerNext(answer());
		expect(await ask(model, shown)).toMatchObject({ type: "done" });
		expect(await ask(model, shown, ...more)).toMatchObject({ type: "done" });
		expect(sent()).toEqual([[first], [], [second]]);
		const note = `[image left out: the provider refused it: ${message}]`;
		for (const { body } of tested.server.requests.slice(1)) expect(JSON.stringify(body)).toContain(note);
		expect(warnings).toEqual([
			["The provider refused media: requests leave them out.", { model: model.name, reason: message }],
		]);
	});

	it("that were accepted before are suspected last", async () => {
		const model = await tested.create(settings);
		tested.server.answerNext(answer());
		expect(await ask(model, shown)).toMatchObject({ type: "done" });
		tested.server.answerNext(refusal(message));
		tested.server.answerNext(answer());
		expect(await ask(model, shown, ...more)).toMatchObject({ type: "done" });
		tested.server.answerNext(refusal(message));
		tested.server.answerNext(answer());
		expect(await ask(model, shown, ...more)).toMatchObject({ type: "done" });
		expect(sent()).toEqual([[first], [first, second], [first], [first], []]);
	});

	it("are those whose address the error quotes", async () => {
		const model = await tested.create(settings);
		tested.server.answerNext(refusal(`Error while downloading ${second}.`));
		tested.server.answerNext(answer());
		expect(await ask(model, shown, ...more)).toMatchObject({ type: "done" });
		expect(sent()).toEqual([[first, second], [first]]);
	});

	it("are sent again with the next request when it was not them", async () => {
		const model = await tested.create(settings);
		for (const _ of [1, 2]) tested.server.answerNext(refusal(message));
		expect(await ask(model, shown)).toMatchObject({ failure: { statusCode: 400 } });
		tested.server.answerNext(answer());
		expect(await ask(model, shown)).toMatchObject({ type: "done" });
		expect(sent()).toEqual([[first], [], [first]]);
	});

	it("are sent once when there is another fault", async () => {
		const model = await tested.create(settings);
		tested.server.answerNext(refusal("No such parameter."));
		tested.server.answerNext(refusal(message, 403));
		expect(await ask(model, shown)).toMatchObject({ failure: { statusCode: 400 } });
		expect(await ask(model, shown)).toMatchObject({ failure: { statusCode: 403 } });
		expect(sent()).toEqual([[first], [first]]);
	});
});

it("audio that a model does not take is left out as well", async () => {
	const model = await tested.create({ providerType: "kimi" });
	tested.server.answerNext(refusal("Invalid request: invalid part type: audio_url"));
	tested.server.answerNext(sendEvents(readProviderFixture("kimi-stream.sse")));
	const audio: ContentPart = { type: "audio_url", audio_url: { url: "data:audio/wav;base64,UklGRg==", id: null } };
	expect(await ask(model, user(text("listen"), audio))).toMatchObject({ type: "done" });
	expect(JSON.stringify(tested.server.requests[1]?.body)).toContain("[audio left out: the provider refused it: ");
});

it("a medium that was not sent is not suspected", async () => {
	const model = await tested.create({ providerType: "kimi" });
	tested.server.answerNext(refusal("The image is damaged."));
	expect(await ask(model, user(text("look"), image("file:///tmp/a.png")))).toMatchObject({
		failure: { statusCode: 400 },
	});
	expect(tested.server.requests).toHaveLength(1);
});
