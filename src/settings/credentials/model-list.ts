import * as v from "valibot";
import { withAdmissionNote } from "../../base/client-admission.ts";
import { SignInError, stopped } from "./device-flow.ts";
import { ask, type PlatformPort, toAddress } from "./exchange.ts";
import { readError } from "./grant.ts";
import type { Platform } from "./platform.ts";

export interface PlatformModel {
	readonly id: string;
	readonly displayName: string | null;
	readonly maxContextSize: number;
	readonly capabilities: readonly PlatformCapability[];
}
export type PlatformCapability = "image_in" | "video_in" | "thinking";

/** The context size if the platform provides none; the default for unknown models. */
const unknownContextSize = 100_000;

const flag = v.fallback(v.boolean(), false);
const modelSchema = v.object({
	id: v.pipe(v.string(), v.nonEmpty(), v.maxLength(200), v.regex(/^[^\p{Cc}]*$/u)),
	display_name: v.fallback(v.nullable(v.pipe(v.string(), v.nonEmpty())), null),
	context_length: v.fallback(v.pipe(v.number(), v.safeInteger(), v.minValue(1)), unknownContextSize),
	supports_reasoning: flag,
	supports_image_in: flag,
	supports_video_in: flag,
});
const listSchema = v.object({ data: v.array(v.unknown()) });

/** In the platform's order, without duplicates and unreadable entries. Throws SignInError, including for an empty list. */
export async function listModels(
	port: PlatformPort,
	platform: Platform,
	accessToken: string,
	signal: AbortSignal,
): Promise<readonly PlatformModel[]> {
	const url = toAddress(platform.baseUrl, "/models");
	if (url === null) throw new SignInError("settings", "KIMI_CODE_BASE_URL is not an http(s) URL without credentials.");
	const answer = await ask(port, { url, accessToken }, signal);
	if (signal.aborted) throw stopped();
	if (answer.kind === "unreachable") {
		throw new SignInError("platform", `The list of models cannot be fetched: ${answer.reason}.`);
	}
	const { status, body } = answer;
	if (status !== 200) {
		const { description, error } = readError(body, accessToken);
		const words = description ?? error;
		const detail = words === null ? "" : ` (${words})`;
		const refusal = `The list of models cannot be fetched: ${url.host} answered with HTTP ${status}${detail}`;
		throw new SignInError("platform", `${withAdmissionNote(status, refusal)}.`);
	}
	const models = toModels(body);
	if (models.length > 0) return models;
	throw new SignInError("platform", `${url.host} lists no models for this account.`);
}

function toModels(body: unknown): readonly PlatformModel[] {
	const list = v.safeParse(listSchema, body);
	if (!list.success) return [];
	const models = new Map<string, PlatformModel>();
	for (const entry of list.output.data) {
		const parsed = v.safeParse(modelSchema, entry);
		if (!parsed.success || models.has(parsed.output.id)) continue;
		const { id, display_name, context_length, ...supports } = parsed.output;
		models.set(id, {
			id,
			displayName: display_name,
			maxContextSize: context_length,
			capabilities: [
				...(supports.supports_image_in ? (["image_in"] as const) : []),
				...(supports.supports_video_in ? (["video_in"] as const) : []),
				...(supports.supports_reasoning ? (["thinking"] as const) : []),
			],
		});
	}
	return [...models.values()];
}
