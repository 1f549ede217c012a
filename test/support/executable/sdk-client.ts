// The published client of Kimi Wire, set to run this executable on a test's stage.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
	type ApprovalResponse,
	createSession,
	type Session,
	type StreamEvent,
	type Turn,
} from "@moonshot-ai/kimi-agent-sdk";
import { expect, onTestFinished } from "vitest";
import { executablePath, type Stage, toolCall } from "./executable.ts";

/** The events of a turn of one text. */
export const plainTurn = ["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd"];

type SessionChanges = Partial<Parameters<typeof createSession>[0]>;

export function openSession(stage: Stage, changes: SessionChanges = {}): Session {
	const session = createSession({
		workDir: stage.workDir,
		executable: executablePath,
		shareDir: stage.shareDir,
		env: { ...stage.environment },
		...changes,
	});
	onTestFinished(() => session.close());
	return session;
}

/** Runs a turn to its end; `react` sees every event as it comes. `unknown` are the types this client cannot read. */
export async function run(
	turn: Turn,
	react: (event: StreamEvent) => unknown = () => {},
	unknown: readonly string[] = [],
) {
	const events: StreamEvent[] = [];
	for await (const event of turn) {
		events.push(event);
		await react(event);
	}
	expect(events.flatMap((event) => (event.type === "error" ? [event.message] : []))).toEqual(
		unknown.map((type) => `Unknown event type: ${type}`),
	);
	return { events, types: events.map(({ type }) => type), result: await turn.result };
}

/** Answers every approval alike. */
export const answering = (turn: Turn, response: ApprovalResponse) => (event: StreamEvent) =>
	event.type === "ApprovalRequest" ? turn.approve(event.payload.id, response) : undefined;

export function payloadsOf(events: readonly StreamEvent[], type: StreamEvent["type"]): unknown[] {
	return events.flatMap((event) => (event.type === type && "payload" in event ? [event.payload] : []));
}

export const shellCall = (id: string, command: string) => toolCall(id, "Shell", { command });

/**
 * Calls a function of the client in a process of its own: which share directory it reads is settled when it is loaded.
 */
export async function callReader(
	stage: Stage,
	name: string,
	argument: unknown,
	...others: unknown[]
): Promise<unknown> {
	const code = `import * as client from "@moonshot-ai/kimi-agent-sdk";
export const [name, ...values] = JSON.parse(process.argv[1]);
console.log(JSON.stringify(await client[name](...values)));`;
	const { stdout } = await promisify(execFile)(
		process.execPath,
		["--input-type=module", "-e", code, JSON.stringify([name, argument, ...others])],
		{ cwd: fileURLToPath(new URL("../../..", import.meta.url)), env: stage.environment },
	);
	return JSON.parse(stdout);
}

export function contextRoles(stage: Stage, sessionId: string): string[] {
	return readFileSync(path.join(stage.sessionDir(sessionId), "context.jsonl"), "utf8")
		.split("\n")
		.flatMap((line) => (line === "" ? [] : JSON.parse(line).role))
		.filter((role) => !role.startsWith("_"));
}
