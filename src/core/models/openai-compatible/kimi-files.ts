import { type Identifiers, randomIdentifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { type PlainAnswer, requestPlainAnswer } from "../http/plain-answer.ts";
import { withoutSecrets } from "../http/redaction.ts";
import { toModelFailure } from "../http/request-failure.ts";
import { createFailure, type ModelFailure, type VideoFile, type VideoUpload } from "../model.ts";
import { errorReader } from "./failures.ts";
import type { ChatSettings } from "./flavour.ts";
import { toEndpoint, toHeaders } from "./http-request.ts";

/** Bytes per millisecond on a slow connection, which extends the upload timeout by file size. */
const slowLine = 100;

/** Uploads a video; never rejects. Ignore the outcome after an abort. */
export async function uploadVideo(
	settings: ChatSettings,
	video: VideoFile,
	signal: AbortSignal,
	identifiers: Identifiers = randomIdentifiers,
): Promise<VideoUpload> {
	const { baseUrl, timeouts, clock, network } = settings;
	const boundary = `agentwire-${identifiers.hex(32)}`;
	try {
		const headers = toHeaders(settings, { accept: "application/json" });
		// The server needs the boundary even with custom headers.
		headers.set("content-type", `multipart/form-data; boundary=${boundary}`);
		const answer = await requestPlainAnswer(
			{
				url: toEndpoint(baseUrl, "files"),
				headers,
				body: toForm(video, boundary),
				responseTimeout: timeouts.response + Math.ceil(video.bytes.length / slowLine),
				idleTimeout: () => timeouts.idle,
				clock,
				fetch: network.fetch,
			},
			signal,
		);
		const id = readId(answer);
		if (id !== null) return { ok: true, url: `ms://${id}` };
		return { ok: false, failure: withoutSecrets(refusal(answer), settings) };
	} catch (thrown) {
		return { ok: false, failure: withoutSecrets(toModelFailure(thrown), settings) };
	}
}

/** The form as bytes, so that any `fetch` implementation can send it. */
function toForm({ bytes, mediaType, name }: VideoFile, boundary: string): Uint8Array {
	const fileName = name.replace(/["\r\n]/g, (character) => encodeURIComponent(character));
	return Buffer.concat([
		Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nvideo\r\n`),
		Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\n`),
		Buffer.from(`Content-Type: ${mediaType}\r\n\r\n`),
		bytes,
		Buffer.from(`\r\n--${boundary}--\r\n`),
	]);
}

function readId({ status, body }: PlainAnswer): string | null {
	if (status < 200 || status > 299) return null;
	try {
		const answer: unknown = JSON.parse(body);
		const id = isRecord(answer) ? answer["id"] : null;
		return typeof id === "string" && id !== "" ? id : null;
	} catch {
		return null;
	}
}

function refusal(answer: PlainAnswer): ModelFailure {
	if (answer.status < 200 || answer.status > 299) return errorReader.answer(answer);
	return createFailure("provider", "The provider accepted the video but sent no id for it.");
}
