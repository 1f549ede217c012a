// Media as each provider accepts it. Asserted on the body that a provider on loopback receives.
import { describe, expect, it } from "vitest";
import {
	assistant,
	image,
	plainRequest,
	text,
	toolCall,
	toolResult,
	user,
} from "../../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { sendJson } from "../../../../test/support/models/provider-server.ts";
import type { ContentPart } from "../../../api/values/content.ts";
import type { ModelRequest } from "../model.ts";
import type { ProviderType } from "../model-settings.ts";

const base64 = (bytes: string) => Buffer.from(bytes, "latin1").toString("base64");
const data = {
	png: base64("\x89PNG\r\n\x1a\n\0\0"),
	jpeg: base64("\xff\xd8\xff\xe0abc"),
	gif: base64("GIF89a\x01\0"),
	webp: base64("RIFF\x10\0\0\0WEBPVP8 "),
	heic: base64("\0\0\0\x18ftypheic\0\0"),
	bitmap: base64("BM\x10\0\0\0\0\0\0\0"),
	svg: base64("<svg/>"),
	mp4: base64("\0\0\0\x18ftypisom\0\0"),
};

const types = ["kimi", "openai_legacy", "openai_responses", "anthropic", "gemini", "vertexai"] as const;
const seeing = { capabilities: new Set(["image_in", "video_in"] as const), environment: { GOOGLE_API_KEY: "k" } };
const { server, ask } = (() => {
	const subject = createModelSubject(seeing);
	return { server: () => subject.server, ask: subject.ask };
})();

function shown(...parts: readonly ContentPart[]): ModelRequest {
	return {
		...plainRequest,
		messages: [
			user(text("look"), ...parts),
			assistant([], [toolCall("c1", "show", "{}")]),
			toolResult("c1", text("shown"), ...parts),
		],
	};
}

/** The body that a provider of this type is sent of a conversation in which a person and a tool show the parts. */
async function bodyOf(providerType: ProviderType, ...parts: readonly ContentPart[]): Promise<string> {
	await ask(sendJson(400, {}, {}), { providerType, baseUrl: server().url }, shown(...parts));
	return JSON.stringify(server().requests.at(-1)?.body);
}

const twice = (note: string) => (body: string) => expect(body.split(note).length - 1).toBe(2);

describe.each(types)("images for %s", (providerType) => {
	it.each([
		["a PNG", image(`data:image/png;base64,${data.png}`), data.png],
		["a JPEG", image(`data:image/jpeg;base64,${data.jpeg}`), data.jpeg],
		["a WebP", image(`data:image/webp;base64,${data.webp}`), data.webp],
	])("are sent: %s", async (_name, part, sent) => {
		const body = await bodyOf(providerType, part);
		twice(sent)(body);
		expect(body).not.toContain("left out");
	});

	it.each([
		["a wrong one", `data:image/png;base64,${data.jpeg}`],
		["another spelling", `data:image/jpg;base64,${data.jpeg}`],
		["parameters", `data:IMAGE/JPEG;name=a.jpg;base64,${data.jpeg}`],
		["none", `data:;base64,${data.jpeg}`],
		["a wildcard", `data:image/*;base64,${data.jpeg}`],
	])("have the media type of their bytes: %s", async (_name, url) => {
		const body = await bodyOf(providerType, image(url));
		twice(data.jpeg)(body);
		twice("image/jpeg")(body);
		expect(body).not.toMatch(/image\/(?:png|jpg|\*)|name=a/i);
	});

	it.each([
		["line breaks", data.jpeg.replace(/.{4}/g, "$&\\r\\n")],
		["no padding", data.jpeg.replace(/=+$/, "")],
		["the letters of URLs", data.jpeg.replaceAll("+", "-").replaceAll("/", "_")],
	])("have plain base64: %s", async (_name, written) => {
		const body = await bodyOf(providerType, image(`data:image/jpeg;base64,${written.replaceAll("\\r\\n", "\r\n")}`));
		twice(data.jpeg)(body);
	});

	it.each([
		["SVG", `data:image/svg+xml;base64,${data.svg}`, "the provider does not accept image/svg+xml"],
		["SVG as text", "data:image/svg+xml,%3Csvg%2F%3E", "the provider does not accept image/svg+xml"],
		["a bitmap", `data:image/bmp;base64,${data.bitmap}`, "the provider does not accept image/bmp"],
		["a bitmap called PNG", `data:image/png;base64,${data.bitmap}`, "the provider does not accept image/bmp"],
		["a video", `data:image/png;base64,${data.mp4}`, "the provider does not accept video/mp4"],
		["text called PNG", `data:image/png;base64,${data.svg}`, "its data is not valid image data"],
		["nothing", "data:image/png;base64,", "its data is not valid image data"],
		["no base64", "data:image/png;base64,iVBORw0KGg%%%", "its data is not base64"],
		["base64 cut off", `data:image/png;base64,${data.png.slice(0, 13)}`, "its data is not base64"],
		["data without a comma", "data:image/png", "its data is not valid image data"],
		["a file", "file:///secret/a.png", "the provider cannot read file: addresses"],
		["no address", "a.png", "its address is not a URL"],
	])("are left out with a reason: %s", async (_name, url, reason) => {
		const body = await bodyOf(providerType, image(url));
		twice(`[image left out: ${reason}]`)(body);
		expect(body).not.toContain("secret");
		expect(body).not.toContain(";base64,");
		expect(body).not.toMatch(/"data":/);
	});

	it("are left out for a model without images", async () => {
		const blind = { providerType, baseUrl: server().url, capabilities: new Set([]) };
		await ask(sendJson(400, {}, {}), blind, shown(image(`data:image/png;base64,${data.png}`)));
		twice("[image left out: this model does not accept it]")(JSON.stringify(server().requests[0]?.body));
	});
});

describe("audio", () => {
	const wav = base64("RIFF\x10\0\0\0WAVEfmt ");
	const audio = (url: string): ContentPart => ({ type: "audio_url", audio_url: { url, id: null } });

	it.each([
		["kimi", { type: "audio_url", audio_url: { url: `data:audio/wav;base64,${wav}` } }],
		["openai_legacy", { type: "input_audio", input_audio: { data: wav, format: "wav" } }],
		["gemini", { inlineData: { mimeType: "audio/wav", data: wav } }],
		["vertexai", { inlineData: { mimeType: "audio/wav", data: wav } }],
	] as const)("is sent to %s", async (providerType, sent) => {
		const body = await bodyOf(providerType, audio(`data:audio/wav;base64,${wav}`));
		twice(JSON.stringify(sent))(body);
	});

	it.each(["openai_responses", "anthropic"] as const)("is left out for %s", async (providerType) => {
		const body = await bodyOf(providerType, audio(`data:audio/wav;base64,${wav}`));
		twice("[audio left out: this model does not accept it]")(body);
		expect(body).not.toContain(wav);
	});

	it.each([
		["MP3", "data:audio/mp3;base64,SUQz", { type: "input_audio", input_audio: { data: "SUQz", format: "mp3" } }],
		[
			"FLAC",
			"data:audio/flac;base64,ZkxhQw==",
			{ type: "audio_url", audio_url: { url: "data:audio/flac;base64,ZkxhQw==" } },
		],
		["an address", "https://h/a.mp3", { type: "audio_url", audio_url: { url: "https://h/a.mp3" } }],
	])("is sent to servers of chat completions as they take it: %s", async (_name, url, sent) => {
		twice(JSON.stringify(sent))(await bodyOf("openai_legacy", audio(url)));
	});

	it("in a container that videos have as well is what it is called", async () => {
		twice(JSON.stringify({ inlineData: { mimeType: "audio/mp4", data: data.mp4 } }))(
			await bodyOf("gemini", audio(`data:audio/mp4;base64,${data.mp4}`)),
		);
	});

	it.each([
		["a video", `data:video/mp4;base64,${data.mp4}`],
		["data without a type", `data:;base64,${wav}`],
		["nothing", "data:audio/wav;base64,"],
	])("is left out when it is %s", async (_name, url) => {
		twice("[audio left out: its data is not valid audio data]")(await bodyOf("kimi", audio(url)));
	});
});

describe("what providers differ in", () => {
	const all = ["kimi", "openai_legacy", "openai_responses", "anthropic", "gemini", "vertexai"];

	it.each([
		["GIF", `data:image/gif;base64,${data.gif}`, ["kimi", "openai_legacy", "openai_responses", "anthropic"]],
		["HEIC", `data:image/heic;base64,${data.heic}`, ["gemini", "vertexai"]],
		["an https address", "https://h/a.png", all],
		["an http address", "http://h/a.png", all.filter((type) => type !== "anthropic")],
		["an uploaded file", "ms://abc", ["kimi"]],
	])("is %s", async (_name, url, accepting) => {
		const sent: string[] = [];
		for (const type of types) if (!(await bodyOf(type, image(url))).includes("left out")) sent.push(type);
		expect(sent).toEqual(accepting);
	});

	it.each([
		[
			"videos of models with videos",
			`data:video/mp4;base64,${data.mp4}`,
			["kimi", "openai_legacy", "gemini", "vertexai"],
		],
		["an image called a video", `data:video/mp4;base64,${data.png}`, []],
		["an uploaded video", "ms://abc", ["kimi"]],
	])("is %s", async (_name, url, accepting) => {
		const sent: string[] = [];
		const video: ContentPart = { type: "video_url", video_url: { url, id: null } };
		for (const type of types) if (!(await bodyOf(type, video)).includes("left out")) sent.push(type);
		expect(sent).toEqual(accepting);
	});
});
