import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import {
	type ProviderServer,
	sendJson,
	sendText,
	startProviderServer,
} from "../../../../test/support/models/provider-server.ts";
import type { VideoFile, VideoUpload } from "../model.ts";
import { createModel } from "../registry.ts";
import type { ChatSettings } from "./flavour.ts";
import { uploadVideo } from "./kimi-files.ts";

let server: ProviderServer;
beforeEach(async () => {
	server = await startProviderServer(() => sendJson(200, {}, { id: "file-7", object: "file", purpose: "video" }));
});
afterEach(() => server.close());

const video: VideoFile = { bytes: Buffer.from([0, 255, 13, 10, 45]), mediaType: "video/mp4", name: 'a "b".mp4' };
const never = new AbortController().signal;
const identifiers = { uuid: () => "", hex: (length: number) => "0".repeat(length) };
const noId = "The provider accepted the video but sent no id for it.";

function upload(changes: Partial<ChatSettings> = {}, signal = never): Promise<VideoUpload> {
	const settings = { ...plainModelSettings, baseUrl: `${server.url}/v1`, ...changes };
	return uploadVideo(settings, video, signal, identifiers);
}

describe("uploading a video", () => {
	it("posts it to the files of the provider and refers to it by its id", async () => {
		const customHeaders = { "x-team": "blue", "content-type": "text/plain" };
		expect(await upload({ customHeaders, clientName: () => "Editor 1.0" })).toEqual({ ok: true, url: "ms://file-7" });
		const boundary = `agentwire-${"0".repeat(32)}`;
		expect(server.requests).toMatchObject([
			{
				path: "/v1/files",
				headers: {
					authorization: "Bearer test-key-0123456789",
					"content-type": `multipart/form-data; boundary=${boundary}`,
					"user-agent": "agentwire/1.2.3 (Editor 1.0)",
					"x-team": "blue",
				},
				body: [
					`--${boundary}`,
					'Content-Disposition: form-data; name="purpose"',
					"",
					"video",
					`--${boundary}`,
					'Content-Disposition: form-data; name="file"; filename="a %22b%22.mp4"',
					"Content-Type: video/mp4",
					"",
					"\x00\xff\r\n-",
					`--${boundary}--`,
					"",
				].join("\r\n"),
			},
		]);
	});

	it("is available for models of the type kimi, and no others", async () => {
		const create = (providerType: "kimi" | "openai_legacy") =>
			createModel({ ...plainModelSettings, providerType, baseUrl: `${server.url}/v1` });
		expect(await (await create("kimi")).uploadVideo?.(video, never)).toEqual({ ok: true, url: "ms://file-7" });
		expect((await create("openai_legacy")).uploadVideo).toBeUndefined();
	});

	it.each([
		[
			sendJson(401, {}, { error: { message: "bad key test-key-0123456789", type: "invalid_authentication_error" } }),
			{ kind: "status", message: "bad key [redacted]", statusCode: 401 },
		],
		[
			sendText(404, {}, ""),
			{ kind: "status", message: expect.stringMatching(/^HTTP 404 Not Found\. .*\/v1\/files: /), statusCode: 404 },
		],
		[
			sendText(302, { location: "/" }, ""),
			{ kind: "status", message: expect.stringMatching(/^HTTP 302 Found\. .*base_url/), statusCode: 302 },
		],
		[sendJson(200, {}, { object: "file" }), { kind: "provider", message: noId, statusCode: null }],
		[sendText(200, {}, "<html>"), { kind: "provider", message: noId, statusCode: null }],
	])("reports how the provider refuses: %#", async (answer, failure) => {
		server.answerNext(answer);
		expect(await upload()).toEqual({ ok: false, failure: { ...failure, retryAfter: null } });
	});

	it.each([
		[{ baseUrl: "file:///v1" }, "The provider's base_url is not an http(s) URL without credentials."],
		[{ apiKey: "a\nb" }, "The provider's api_key or custom_headers contain characters that HTTP does not allow."],
	])("reports the fault of the settings %j", async (changes, message) => {
		expect(await upload(changes)).toMatchObject({ ok: false, failure: { kind: "provider", message } });
		expect(server.requests).toEqual([]);
	});

	it("reports a refused connection", async () => {
		const uploaded = await upload({ baseUrl: "http://127.0.0.1:2/v1" });
		expect(uploaded).toMatchObject({ ok: false, failure: { kind: "connection" } });
	});

	it("waits as long as a slow connection needs", async () => {
		server.answerNext(async () => {});
		const clock = createManualClock();
		const uploading = upload({ clock, timeouts: { response: 1000, idle: 1000 } });
		await clock.expireNext(1001);
		expect(await uploading).toMatchObject({ ok: false, failure: { kind: "timeout" } });
	});

	it("closes the connection at an abort", async () => {
		const controller = new AbortController();
		server.answerNext(async () => controller.abort());
		expect(await upload({}, controller.signal)).toMatchObject({ ok: false });
		await server.requests[0]?.closed;
	});
});
