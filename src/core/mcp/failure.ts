import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { connectTimeoutCode, NetworkError } from "../../ports/network/network-error.ts";
import { explainAnswer, refusedStatus } from "./failure-text.ts";
import { NotSignedIn } from "./link.ts";
import { isLostSession } from "./messages/repaired-answers.ts";
import { isBrokenAnswer } from "./remote-transport.ts";

export interface LinkFailure {
	/** `answer`: error from the server; `untaken`: no effect; `unauthorized`: sign in; `lost`: unknown effect. */
	readonly kind: "answer" | "untaken" | "unauthorized" | "lost";
	readonly reason: string;
	/** The error kind, for display. */
	readonly name: string;
}

const unreached: ReadonlySet<string> = new Set([
	"ECONNREFUSED",
	"ENOTFOUND",
	"EAI_AGAIN",
	"EHOSTUNREACH",
	"ENETUNREACH",
	connectTimeoutCode,
]);

/** `url` is set for servers over HTTP. */
export async function toLinkFailure(thrown: unknown, url: string | null): Promise<LinkFailure> {
	const name = thrown instanceof Error ? thrown.name : "Error";
	if (thrown instanceof NotSignedIn) return { kind: "unauthorized", reason: "nobody has signed in to it", name };
	const lack = await describeLack(thrown);
	if (lack !== null) return { kind: "answer", reason: lack, name };
	const kind = await toKind(thrown);
	return {
		kind,
		reason:
			kind === "unauthorized" ? "it rejected the sign-in" : describe((await explainAnswer(thrown, url)) ?? thrown),
		name,
	};
}

/** The text of a missing permission error; null for other errors. */
async function describeLack(thrown: unknown): Promise<string | null> {
	const { InsufficientScopeError } = await import("@modelcontextprotocol/client");
	if (!(thrown instanceof InsufficientScopeError)) return null;
	const lack = "the sign-in lacks a permission for that";
	if (thrown.requiredScope === undefined) return lack;
	return `${lack} (${beginning(redactSecrets(thrown.requiredScope), 200)}), for which a person has to sign in to it again`;
}

async function toKind(thrown: unknown): Promise<LinkFailure["kind"]> {
	const { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } = await import(
		"@modelcontextprotocol/client"
	);
	if (thrown instanceof UnauthorizedError) return "unauthorized";
	if (thrown instanceof ProtocolError) {
		if (isLostSession(thrown.message)) return "untaken";
		return isBrokenAnswer(thrown.code, thrown.message) ? "lost" : "answer";
	}
	// The new tokens were refused like the old ones.
	if (thrown instanceof SdkHttpError && thrown.code === SdkErrorCode.ClientHttpAuthentication) return "unauthorized";
	// Servers report an unknown session with 404; some use 400.
	const status = thrown instanceof SdkHttpError ? thrown.status : refusedStatus(thrown);
	if (status !== null) return status === 404 || status === 400 ? "untaken" : "answer";
	const ours = causes(thrown).find((error) => error instanceof NetworkError);
	// The server has handled the request whose answer is too large.
	if (ours?.kind === "size") return "answer";
	if (ours !== undefined || codesOf(thrown).some((code) => unreached.has(code))) return "untaken";
	return thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult ? "answer" : "lost";
}

/** Errors of servers without the old handshake: unknown method, version or headers. */
const newEraCodes: ReadonlySet<number> = new Set([-32601, -32022, -32020]);

/** Whether a server that received the old handshake requires the new one. */
export async function isOfNewEra(thrown: unknown): Promise<boolean> {
	const { ProtocolError, SdkHttpError } = await import("@modelcontextprotocol/client");
	if (thrown instanceof ProtocolError) return newEraCodes.has(thrown.code);
	if (thrown instanceof SdkHttpError) {
		const answer = v.safeParse(httpErrorSchema, thrown.data["text"]);
		return answer.success && newEraCodes.has(answer.output.error.code);
	}
	return thrown instanceof Error && thrown.message.includes("protocol version is not supported");
}

const httpErrorSchema = v.pipe(v.string(), v.parseJson(), v.object({ error: v.object({ code: v.number() }) }));

const reasonLength = 500;

function describe(thrown: unknown): string {
	const texts = causes(thrown).map((error) => errorText(error).replace(/\s+/g, " ").trim().replace(/\.$/, ""));
	return beginning(redactSecrets([...new Set(texts)].filter((text) => text !== "").join(": ")), reasonLength);
}

function codesOf(thrown: unknown): string[] {
	return causes(thrown).flatMap((error) => {
		if (!(error instanceof Error) || !("code" in error)) return [];
		return typeof error.code === "string" ? [error.code] : [];
	});
}

/** The error and its causes; only the first of several parallel causes. */
function causes(thrown: unknown): unknown[] {
	const found: unknown[] = [];
	let next = thrown;
	while (next !== undefined && next !== null && found.length < 5) {
		found.push(next);
		if (next instanceof AggregateError) next = next.errors[0];
		else next = next instanceof Error ? next.cause : undefined;
	}
	return found;
}
