// The official client of the Agent Client Protocol, which checks every message that it receives, with the built executable.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { expect, onTestFinished } from "vitest";
import { isRecord } from "../../../src/base/json.ts";
import { executablePath, type Stage } from "./executable.ts";

export type Update = acp.SessionNotification["update"];
type Permission = acp.RequestPermissionRequest;
type Outcome = acp.RequestPermissionResponse["outcome"];

/** What the person and the editor that the client stands for do. */
export interface AcpClientOptions {
	/** By default everything is approved once. */
	readonly decide?: (permission: Permission, signal: AbortSignal) => Outcome | Promise<Outcome>;
	/** By default every form is cancelled. */
	readonly fill?: (
		form: acp.CreateElicitationRequest,
	) => acp.CreateElicitationResponse | Promise<acp.CreateElicitationResponse>;
	readonly capabilities?: acp.ClientCapabilities;
	/** Called for a file that the agent reads, and for one that it writes. */
	readonly read?: (file: acp.ReadTextFileRequest) => acp.ReadTextFileResponse;
	readonly write?: (file: acp.WriteTextFileRequest) => acp.WriteTextFileResponse;
	/** Called when the client need not show an address any more. */
	readonly complete?: (elicitationId: string) => void;
	readonly flags?: readonly string[];
}

/** A message as it was received. */
export type Message = Readonly<Record<string, unknown>>;

export interface AcpClient {
	readonly agent: acp.ClientContext;
	/** All that was received, in order, as it was. */
	readonly messages: readonly Message[];
	readonly permissions: readonly Permission[];
	readonly pid: number;
	/** Resolves with the exit code; null when a signal ended the process. */
	readonly exited: Promise<number | null>;
	initialize(): Promise<acp.InitializeResponse>;
	/** Opens a session in the work dir of the stage, or in another one. Resolves with its id. */
	open(cwd?: string, mcpServers?: readonly acp.McpServer[]): Promise<string>;
	load(sessionId: string, cwd?: string): Promise<acp.LoadSessionResponse>;
	prompt(sessionId: string, text: string): Promise<acp.StopReason>;
	cancel(sessionId: string): Promise<void>;
	/** Resolves with the first message, received or still to come, that fits. */
	received(fits: (message: Message) => boolean): Promise<Message>;
	/** The updates of a session so far. */
	updates(sessionId: string): readonly Update[];
	endInput(): void;
	kill(signal: NodeJS.Signals): void;
}

export const approved: Outcome = { outcome: "selected", optionId: "approve" };
export const never = (): Promise<never> => new Promise(() => {});

export function connectAcp(stage: Stage, options: AcpClientOptions = {}): AcpClient {
	const { read = () => ({ content: "" }), write = () => ({}), complete = () => {} } = options;
	const { decide = () => approved, fill = () => ({ action: "cancel" }), flags = ["acp"], capabilities = {} } = options;
	const child = spawn(executablePath, [...flags], { cwd: stage.workDir, env: stage.environment });
	const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
	const messages: Message[] = [];
	const waiters: ((message: Message) => void)[] = [];
	const permissions: Permission[] = [];
	let handled = 0;
	const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
	const recorder = new TransformStream<acp.AnyMessage, acp.AnyMessage>({
		transform(message, controller) {
			const received = { ...message };
			messages.push(received);
			for (const wake of waiters) wake(received);
			controller.enqueue(message);
		},
	});
	const { agent } = acp
		.client()
		.onNotification(acp.methods.client.session.update, () => {
			handled += 1;
		})
		.onRequest(acp.methods.client.session.requestPermission, async ({ params, signal }) => {
			permissions.push(params);
			return { outcome: await decide(params, signal) };
		})
		.onRequest(acp.methods.client.elicitation.create, ({ params }) => fill(params))
		.onNotification(acp.methods.client.elicitation.complete, ({ params }) => complete(params.elicitationId))
		.onRequest(acp.methods.client.fs.readTextFile, ({ params }) => read(params))
		.onRequest(acp.methods.client.fs.writeTextFile, ({ params }) => write(params))
		.connect({ writable: stream.writable, readable: stream.readable.pipeThrough(recorder) });
	onTestFinished(async () => {
		// The package calls no handler for an update that its schemas refuse.
		const sent = messages.filter(({ method }) => method === "session/update").length;
		await expect.poll(() => handled, { message: "updates that the client accepts" }).toBe(sent);
		child.kill("SIGKILL");
		await exited;
	});
	const client: AcpClient = {
		agent,
		messages,
		permissions,
		pid: child.pid ?? 0,
		exited,
		initialize: () =>
			agent.request("initialize", {
				protocolVersion: acp.PROTOCOL_VERSION,
				clientCapabilities: capabilities,
				clientInfo: { name: "test", version: "1" },
			}),
		async open(cwd = stage.workDir, mcpServers = []) {
			return (await agent.request("session/new", { cwd, mcpServers: [...mcpServers] })).sessionId;
		},
		load: (sessionId, cwd = stage.workDir) => agent.request("session/load", { sessionId, cwd, mcpServers: [] }),
		async prompt(sessionId, text) {
			return (await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })).stopReason;
		},
		cancel: (sessionId) => agent.notify("session/cancel", { sessionId }),
		received(fits) {
			const known = messages.find(fits);
			if (known !== undefined) return Promise.resolve(known);
			return new Promise((resolve) => {
				waiters.push((message) => {
					if (fits(message)) resolve(message);
				});
			});
		},
		updates: (sessionId) => messages.flatMap((message) => updateOf(message, sessionId) ?? []),
		endInput: () => void child.stdin.end(),
		kill: (signal) => void child.kill(signal),
	};
	return client;
}

/** The update of a message; null for another message, or one of another session. */
export function updateOf({ method, params }: Message, sessionId?: string): Update | null {
	if (method !== "session/update" || !isRecord(params) || !isRecord(params["update"])) return null;
	if (sessionId !== undefined && params["sessionId"] !== sessionId) return null;
	// That it is one is checked by the package.
	return params["update"] as unknown as Update;
}

export const isUpdate = (kind: Update["sessionUpdate"], status?: acp.ToolCallStatus) => (message: Message) => {
	const update = updateOf(message);
	if (update?.sessionUpdate !== kind) return false;
	return status === undefined || ("status" in update && update.status === status);
};
export const isPermission = ({ method }: Message) => method === "session/request_permission";

/** Updates as words: their kind, with what a call has come to. */
export const outlineOf = (updates: readonly Update[]): string[] =>
	updates.map((update) => {
		const status = "status" in update && typeof update.status === "string" ? ` ${update.status}` : "";
		return `${update.sessionUpdate}${status}`;
	});

/** The text of all chunks of a kind. */
export const textOf = (updates: readonly Update[], kind: Update["sessionUpdate"]): string =>
	updates
		.flatMap((update) => {
			if (update.sessionUpdate !== kind || !("content" in update)) return [];
			const content: unknown = update.content;
			return isRecord(content) && typeof content["text"] === "string" ? [content["text"]] : [];
		})
		.join("");
