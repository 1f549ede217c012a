// Unlike a settings hook, a session hook must answer; anything else is a failure.
import * as v from "valibot";
import { hookDenialSchema, type SessionHook, type SessionHookVerdict } from "../../api/values/hooks/session-hook.ts";
import type { Clock } from "../../base/clock.ts";
import { fetchFailureText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { cut } from "../../base/text/sentence.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import type { Processes } from "../../ports/processes/port.ts";

export interface SessionHookPlace {
	readonly processes: Processes;
	readonly fetch: Fetch;
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly clock: Clock;
}

const answerLimit = 131_072;
/** Maximum characters of hook output shown in its failure. */
const shownText = 1000;

const answerSchema = v.strictObject({
	decision: v.exactOptional(
		v.nullable(
			v.variant("decision", [
				v.looseObject({ decision: v.literal("allow") }),
				v.strictObject({ decision: v.literal("deny"), hook_id: v.string(), ...hookDenialSchema.entries }),
			]),
		),
	),
});

const completed: SessionHookVerdict = { kind: "completed" };
const failed = (message: string): SessionHookVerdict => ({
	kind: "failed",
	fault: { reason_code: "execution_failed", message },
});

/** Never rejects. An abort ends it without a verdict, as completed. */
export function runSessionHook(
	hook: SessionHook,
	input: Readonly<Record<string, unknown>>,
	place: SessionHookPlace,
	signal: AbortSignal,
): Promise<SessionHookVerdict> {
	const { runtime } = hook;
	const text = JSON.stringify(input);
	return runtime.kind === "command"
		? runCommand({ ...hook, runtime }, text, place, signal)
		: runRequest({ ...hook, runtime }, text, place, signal);
}

type HookOf<K extends SessionHook["runtime"]["kind"]> = SessionHook & {
	readonly runtime: Extract<SessionHook["runtime"], { kind: K }>;
};

async function runCommand(
	{ timeout, runtime: { file, arguments: words, environment: own } }: HookOf<"command">,
	input: string,
	{ processes, workDir, environment }: SessionHookPlace,
	signal: AbortSignal,
): Promise<SessionHookVerdict> {
	const { ended, output, errorOutput, truncated } = await processes.run(
		{
			file,
			arguments: words,
			workDir,
			environment: { ...environment, ...own },
			input,
			timeout,
			outputLimit: answerLimit,
			separateStderr: true,
		},
		signal,
	);
	switch (ended.kind) {
		case "exited":
			if (ended.exitCode !== 0)
				return failed(`command hook exited with exit status: ${ended.exitCode}: ${cut(errorOutput.trim(), shownText)}`);
			return truncated ? tooLong() : toVerdict(output, "command");
		case "signalled":
			return failed(`command hook was ended by ${ended.signal}: ${cut(errorOutput.trim(), shownText)}`);
		case "timed-out":
			return timedOut(timeout);
		case "not-started":
			return failed(`command hook could not be started: ${ended.reason}`);
		case "aborted":
			return completed;
	}
}

async function runRequest(
	{ timeout, runtime: { url, method, headers } }: HookOf<"http">,
	input: string,
	{ fetch, clock }: SessionHookPlace,
	signal: AbortSignal,
): Promise<SessionHookVerdict> {
	const late = new AbortController();
	const withdraw = clock.after(timeout, () => late.abort());
	try {
		const response = await fetch(url, {
			method,
			headers: { "content-type": "application/json", ...headers },
			body: input,
			// Following would drop the input, or send it and the headers to an address chosen by the answer.
			redirect: "manual",
			signal: AbortSignal.any([signal, late.signal]),
		});
		const answer = await readStart(response);
		if (!response.ok) return failed(`HTTP hook answered with status ${response.status}`);
		return answer === null ? tooLong() : toVerdict(answer, "HTTP");
	} catch (thrown) {
		if (signal.aborted) return completed;
		if (late.signal.aborted) return timedOut(timeout);
		return failed(`HTTP hook could not be reached: ${cut(fetchFailureText(thrown), shownText)}`);
	} finally {
		withdraw();
	}
}

/** The body as text; null if too long. */
async function readStart({ body }: Response): Promise<string | null> {
	if (body === null) return "";
	const pieces: Uint8Array[] = [];
	let length = 0;
	for await (const piece of body) {
		length += piece.length;
		// Leaving the loop cancels the rest.
		if (length > answerLimit) return null;
		pieces.push(piece);
	}
	return Buffer.concat(pieces).toString("utf8");
}

const timedOut = (timeout: number): SessionHookVerdict => ({
	kind: "failed",
	fault: { reason_code: "timeout", timeout_ms: timeout },
});
const tooLong = () => failed(`the answer of the hook is longer than ${answerLimit} bytes`);

function toVerdict(answer: string, what: "command" | "HTTP"): SessionHookVerdict {
	const invalid = (why: string) => failed(`invalid ${what} hook response: ${why}`);
	let value: unknown;
	try {
		value = JSON.parse(answer);
	} catch {
		return invalid(
			`it is not JSON; a hook with nothing to say answers {}. It begins with ${JSON.stringify(cut(answer, 100))}`,
		);
	}
	if (!isRecord(value)) return invalid("it must be an object");
	const parsed = v.safeParse(answerSchema, value);
	if (!parsed.success) {
		const [issue] = parsed.issues;
		const field = v.getDotPath(issue) ?? "the answer";
		return invalid(
			issue.expected === "never"
				? `unknown field \`${field}\``
				: `\`${field}\` must be ${issue.expected}, and is ${issue.received}`,
		);
	}
	const { decision = null } = parsed.output;
	if (decision === null || decision.decision === "allow") return completed;
	const { reason_code, message, payload } = decision;
	return { kind: "denied", denial: { reason_code, message, ...(payload === undefined ? {} : { payload }) } };
}
