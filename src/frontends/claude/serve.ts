import * as v from "valibot";
import { createDeferred } from "../../base/deferred.ts";
import { isRecord } from "../../base/json.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import type { HostApi } from "../shared/dialect.ts";
import { Control } from "./control.ts";
import { Conversation } from "./conversation.ts";
import { Frames } from "./frames.ts";
import type { ClaudeOptions } from "./options.ts";
import type { Result } from "./results.ts";
import { userFrameSchema } from "./wire.ts";

export interface ServedClaude {
	/** Resolves once the client is gone and its prompts are answered, with what went wrong, if anything. */
	readonly ended: Promise<string | null>;
	finish(): Promise<void>;
}

export function serveClaude(
	transport: LineTransport,
	host: HostApi,
	options: ClaudeOptions,
	signal: AbortSignal,
): ServedClaude {
	const { frames, conversation, control } = connect(transport, host, options, () => {});
	const ended = createDeferred<string | null>();
	const answering = new Set<Promise<void>>();
	const take = (text: string): string | null => {
		if (text.trim() === "") return null;
		const frame = parse(text);
		if (!isRecord(frame)) return "A line on stdin is not a JSON object.";
		if (frames.takeAnswer(frame)) return null;
		switch (frame["type"]) {
			case "control_request": {
				const answered = control.take(frame).finally(() => answering.delete(answered));
				answering.add(answered);
				return null;
			}
			case "user": {
				const parsed = v.safeParse(userFrameSchema, frame);
				if (parsed.success) conversation.prompt(parsed.output);
				else conversation.refusePrompt(describe(parsed.issues[0]));
				return null;
			}
			// No client request can be withdrawn.
			case "control_cancel_request":
			case "keep_alive":
			case "update_environment_variables":
				return null;
			default:
				return `A line on stdin has the unknown type ${JSON.stringify(frame["type"] ?? null)}.`;
		}
	};
	transport.receive(
		(line) => {
			const problem = line.kind === "line" ? take(line.text) : "A line on stdin is too long.";
			if (problem !== null) ended.resolve(problem);
		},
		() => {
			frames.endInput();
			Promise.all([conversation.idle(), ...answering]).then(() => ended.resolve(null));
		},
	);
	const stop = () => ended.resolve(null);
	signal.addEventListener("abort", stop);
	transport.gone.addEventListener("abort", stop);
	if (signal.aborted) stop();
	return {
		ended: ended.promise,
		async finish() {
			frames.endInput();
			await conversation.close("other");
			await transport.flush();
			transport.close();
		},
	};
}

export async function runClaudePrompt(
	transport: LineTransport,
	host: HostApi,
	options: ClaudeOptions,
	prompt: string,
): Promise<Result | null> {
	let last: Result | null = null;
	const { frames, conversation } = connect(transport, host, options, (result) => {
		last = result;
	});
	frames.endInput();
	conversation.prompt({ type: "user", message: { role: "user", content: prompt } });
	await conversation.idle();
	await conversation.close("other");
	await transport.flush();
	return last;
}

function connect(transport: LineTransport, host: HostApi, options: ClaudeOptions, output: (result: Result) => void) {
	const frames = new Frames(transport, host.identifiers);
	const conversation = new Conversation(host, frames, options, output);
	return { frames, conversation, control: new Control(frames, conversation, host) };
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

function describe(issue: v.BaseIssue<unknown>): string {
	return `The user message cannot be used: ${v.getDotPath(issue) ?? "the message"}: ${issue.message}`;
}
