import * as v from "valibot";

/** Library messages and the hidden details: an event stream status, an unfollowed redirect, parser faults. */
const postRefusal = /^Error POSTing to endpoint \(HTTP (\d+)\): ([\s\S]*)$/;
const unfollowed = /Redirect .*(?= \(redirectPolicy: )/;
const invalid = /^(Invalid result for [^:]*): (\[[\s\S]*)$/;
const streamPrefix = "SSE error: ";

/** The status that refused a message on the event stream transport; null for other errors. */
export function refusedStatus(thrown: unknown): number | null {
	const status = thrown instanceof Error ? postRefusal.exec(thrown.message)?.[1] : undefined;
	return status === undefined ? null : Number(status);
}

export async function explainAnswer(thrown: unknown, url: string | null): Promise<string | null> {
	const { SdkError, SdkErrorCode, SdkHttpError, SseError } = await import("@modelcontextprotocol/client");
	if (!(thrown instanceof Error)) return null;
	if (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult) return explainResult(thrown.message);
	if (url === null) return null;
	const { origin, pathname } = new URL(url);
	const place = `${origin}${pathname}`;
	const refused = (status: number, words: string, text: string) => {
		const answered = `${place} answered with HTTP ${status} ${words}`.trim();
		const said = unfollowed.exec(thrown.message)?.[0] ?? text.trim();
		return said === "" ? answered : `${answered}: ${said}`;
	};
	if (thrown instanceof SdkHttpError) {
		const { status, statusText = "", data } = thrown;
		return refused(status, statusText, typeof data["text"] === "string" ? data["text"] : "");
	}
	const [, status, text = ""] = postRefusal.exec(thrown.message) ?? [];
	if (status !== undefined) return refused(Number(status), "", text);
	if (thrown instanceof SseError) {
		if (thrown.code === 200) return `${place} answered with HTTP 200, but not with an event stream`;
		if (thrown.code !== undefined) return refused(thrown.code, "", "");
		const words = thrown.message.slice(streamPrefix.length);
		return words === "undefined" ? `the event stream of ${place} ended` : words;
	}
	if (thrown instanceof SdkError && thrown.code === SdkErrorCode.ClientHttpUnexpectedContent) {
		const type = v.safeParse(contentSchema, thrown.data);
		const found = type.success ? `with content of the type ${type.output.contentType}` : "without content";
		return `${place} answered ${found}, not with JSON or an event stream: it may not be the address of an MCP server`;
	}
	if (thrown instanceof SyntaxError) return `${place} answered with invalid JSON: ${thrown.message}`;
	return thrown.name === "ZodError" ? `${place} sent something that is not a protocol message` : null;
}

const contentSchema = v.object({ contentType: v.string() });
const issuesSchema = v.pipe(
	v.string(),
	v.parseJson(),
	v.array(v.object({ path: v.array(v.union([v.string(), v.number()])), message: v.string() })),
);

const faultLimit = 3;

/** Condenses the library's message, which includes its parser report as JSON, into one clause. */
function explainResult(text: string): string {
	const [, head = "", report = ""] = invalid.exec(text) ?? [];
	const issues = v.safeParse(issuesSchema, report);
	if (!issues.success) return text;
	const faults = issues.output.slice(0, faultLimit).map(({ path, message }) => `${path.join(".")}: ${message}`);
	return `${head}: ${faults.join("; ")}${issues.output.length > faultLimit ? "; and more" : ""}`;
}
