import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, plainModelSettings } from "../../../test/support/model-settings.ts";
import type { VideoFile, VideoUpload } from "../model.ts";
import { createModel } from "../registry.ts";
import type { ChatSettings } from "./flavour.ts";
import { uploadVideo } from "./kimi-files.ts";

interface Received {
	readonly line: string;
	readonly headers: IncomingHttpHeaders;
	readonly body: string;
}

let url: string;
let received: Received[];
/** Null: no answer at all. */
let answer: { readonly status: number; readonly body: string } | null;
let server: ReturnType<typeof createServer>;

beforeEach(async () => {
	received = [];
	answer = { status: 200, body: JSON.stringify({ id: "file-7", object: "file", purpose: "video" }) };
	server = createServer(async (request, response) => {
		const pieces: Buffer[] = [];
		for await (const piece of request) pieces.push(piece);
		const line = `${request.method} ${request.url}`;
		received.push({ line, headers: request.headers, body: Buffer.concat(pieces).toString("latin1") });
		if (answer === null) return;
		response.writeHead(answer.status, { "content-type": "application/json" });
		response.end(answer.body);
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	url = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/v1` : "";
});
afterEach(async () => {
	server.closeAllConnections();
	server.close();
	await once(server, "close");
});

const video: VideoFile = { bytes: Buffer.from([0, 255, 13, 10, 45]), mediaType: "video/mp4", name: 'a "b".mp4' };
const never = new AbortController().signal;
const identifiers = { uuid: () => "", hex: (length: number) => "0".repeat(length) };

function upload(changes: Partial<ChatSettings> = {}, signal = never): Promise<VideoUpload> {
	return uploadVideo({ ...plainModelSettings, baseUrl: url, ...changes }, video, signal, identifiers);
}

describe("uploading a video", () => {
	it("sends it to the files of the provider and refers to it by its id", async () => {
		const customHeaders = { "x-team": "blue", "content-type": "text/plain" };
		expect(await upload({ customHeaders, clientName: () => "Editor 1.0" })).toEqual({ ok: true, url: "ms://file-7" });
		const boundary = `agentwire-${"0".repeat(32)}`;
		expect(received).toMatchObject([
			{
				line: "POST /v1/files",
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

	it("is what models of the type kimi do, and no others", async () => {
		const [kimi, other] = await Promise.all(
			(["kimi", "openai_legacy"] as const).map((providerType) =>
				createModel({ ...plainModelSettings, providerType, baseUrl: url }),
			),
		);
		expect(await kimi?.uploadVideo?.(video, never)).toEqual({ ok: true, url: "ms://file-7" });
		expect(other?.uploadVideo).toBeUndefined();
	});

	it.each([
		[
			{
				status: 401,
				body: '{"error":{"message":"bad key test-key-0123456789","type":"invalid_authentication_error"}}',
			},
			{ kind: "status", message: "bad key [redacted]", statusCode: 401 },
		],
		[
			{ status: 404, body: "" },
			{ kind: "status", message: "HTTP 404 Not Found", statusCode: 404 },
		],
		[
			{ status: 302, body: "" },
			{ kind: "status", message: "HTTP 302 Found", statusCode: 302 },
		],
		[
			{ status: 200, body: '{"object":"file"}' },
			{ kind: "provider", message: "The provider took the video without giving it an id.", statusCode: null },
		],
		[
			{ status: 200, body: "<html>" },
			{ kind: "provider", message: "The provider took the video without giving it an id.", statusCode: null },
		],
	])("tells how the provider refuses: %j", async (given, failure) => {
		answer = given;
		expect(await upload()).toEqual({ ok: false, failure });
	});

	it.each([
		[{ baseUrl: "file:///v1" }, "The provider's base_url is not an http(s) URL without credentials."],
		[{ apiKey: "a\nb" }, "The provider's api_key or custom_headers hold what HTTP does not allow."],
	])("tells what is wrong with the settings %j", async (changes, message) => {
		expect(await upload(changes)).toMatchObject({ ok: false, failure: { kind: "provider", message } });
		expect(received).toEqual([]);
	});

	it("tells that nothing listens", async () => {
		expect(await upload({ baseUrl: "http://127.0.0.1:2/v1" })).toMatchObject({
			ok: false,
			failure: { kind: "connection" },
		});
	});

	it("waits as long as a slow line needs", async () => {
		answer = null;
		const clock = createManualClock();
		const uploading = upload({ clock, timeouts: { response: 1000, idle: 1000 } });
		await clock.expireNext(1001);
		expect(await uploading).toMatchObject({ ok: false, failure: { kind: "timeout" } });
	});

	it("ends with an abort", async () => {
		answer = null;
		const controller = new AbortController();
		const uploading = upload({}, controller.signal);
		await once(server, "request");
		controller.abort();
		expect(await uploading).toMatchObject({ ok: false });
	});
});
