// Classifies failures between a server and us by what may be done about them.
import * as v from "valibot";
import { errorText } from "../base/errors.ts";
import { redactSecrets } from "../base/redaction.ts";
import { connectTimeoutCode, NetworkError } from "../network/network-error.ts";
import { NotSignedIn } from "./link.ts";
import { isBrokenAnswer } from "./remote-transport.ts";

export interface LinkFailure {
	/**
	 * `answer`: the server said so, or said something nobody understands; `untaken`: the request cannot have had an effect,
	 * as no server, or none that knows our session, has seen it; `unauthorized`: somebody has to sign in; `lost`: the
	 * connection broke off, whatever had happened till then.
	 */
	readonly kind: "answer" | "untaken" | "unauthorized" | "lost";
	/** A clause. */
	readonly reason: string;
	/** What kind of error it was, for people. */
	readonly name: string;
}

/** System errors that come before anything is sent. */
const unreached: ReadonlySet<string> = new Set([
	"ECONNREFUSED",
	"ENOTFOUND",
	"EAI_AGAIN",
	"EHOSTUNREACH",
	"ENETUNREACH",
	connectTimeoutCode,
]);

export async function toLinkFailure(thrown: unknown): Promise<LinkFailure> {
	const name = thrown instanceof Error ? thrown.name : "Error";
	if (thrown instanceof NotSignedIn) return { kind: "unauthorized", reason: "nobody has signed in to it", name };
	const lack = await describeLack(thrown);
	if (lack !== null) return { kind: "answer", reason: lack, name };
	const kind = await toKind(thrown);
	return { kind, reason: kind === "unauthorized" ? "it does not accept the sign-in" : describe(thrown), name };
}

/** What is said of a refusal for lack of a permission; null of anything else. */
async function describeLack(thrown: unknown): Promise<string | null> {
	const { InsufficientScopeError } = await import("@modelcontextprotocol/client");
	if (!(thrown instanceof InsufficientScopeError)) return null;
	const lack = "the sign-in lacks a permission for that";
	if (thrown.requiredScope === undefined) return lack;
	return `${lack} (${redactSecrets(thrown.requiredScope).slice(0, 200)}), for which a person has to sign in to it again`;
}

async function toKind(thrown: unknown): Promise<LinkFailure["kind"]> {
	const { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } = await import(
		"@modelcontextprotocol/client"
	);
	if (thrown instanceof UnauthorizedError) return "unauthorized";
	if (thrown instanceof ProtocolError) return isBrokenAnswer(thrown.code, thrown.message) ? "lost" : "answer";
	// New tokens were no better than the old ones.
	if (thrown instanceof SdkHttpError && thrown.code === SdkErrorCode.ClientHttpAuthentication) return "unauthorized";
	// By the first a server says that it does not know our session; some say the second.
	if (thrown instanceof SdkHttpError) return thrown.status === 404 || thrown.status === 400 ? "untaken" : "answer";
	const isUnreached = causes(thrown).some((error) => error instanceof NetworkError);
	if (isUnreached || codesOf(thrown).some((code) => unreached.has(code))) return "untaken";
	return thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult ? "answer" : "lost";
}

/** Errors by which a server does not know the old way to begin: no such method, no such version, no such headers. */
const newEraCodes: ReadonlySet<number> = new Set([-32601, -32022, -32020]);

/** Whether a server that was asked in the old way wants to be asked in the new one. */
export async function isOfNewEra(thrown: unknown): Promise<boolean> {
	const { ProtocolError, SdkHttpError } = await import("@modelcontextprotocol/client");
	if (thrown instanceof ProtocolError) return newEraCodes.has(thrown.code);
	if (thrown instanceof SdkHttpError) {
		const answer = v.safeParse(httpErrorSchema, thrown.data["text"]);
		return answer.success && newEraCodes.has(answer.output.error.code);
	}
	return thrown instanceof Error && thrown.message.includes("protocol version is not supported");
}

/** An error of the protocol in the text of an HTTP answer. */
const httpErrorSchema = v.pipe(v.string(), v.parseJson(), v.object({ error: v.object({ code: v.number() }) }));

const reasonLength = 500;

/** What is said of an error and its causes, on one line and without secrets. */
function describe(thrown: unknown): string {
	const texts = causes(thrown).map((error) => errorText(error).replace(/\s+/g, " ").trim().replace(/\.$/, ""));
	return redactSecrets([...new Set(texts)].filter((text) => text !== "").join(": ")).slice(0, reasonLength);
}

function codesOf(thrown: unknown): string[] {
	return causes(thrown).flatMap((error) => {
		if (!(error instanceof Error) || !("code" in error)) return [];
		return typeof error.code === "string" ? [error.code] : [];
	});
}

/** The error, and what it comes from; of several causes at once the first. */
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
