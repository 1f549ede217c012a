// Read-only. The format is foreign and changes, so unknown and damaged parts are skipped.
import path from "node:path";
import { isRecord } from "../../base/json.ts";
import type { Files } from "../../ports/files/port.ts";
import { toTitle, untitled } from "../../ports/store/title.ts";
import { toPrefixedId } from "./session-prefix.ts";
import type { ReadMessage, SessionRow } from "./session-table.ts";

export interface KimiCodeSession extends SessionRow {
	readonly directory: string;
}

/** Maximum bytes read of a file. */
const readLimit = 64 * 1024 * 1024;

export async function listKimiCodeSessions(files: Files, home: string): Promise<readonly KimiCodeSession[]> {
	const root = path.join(home, "sessions");
	const workDirs = await readIndex(files, path.join(home, "session_index.jsonl"));
	const found: KimiCodeSession[] = [];
	for (const project of await directoriesOf(files, root)) {
		for (const id of await directoriesOf(files, path.join(root, project))) {
			const session = await readSession(files, path.join(root, project, id), id, workDirs);
			if (session !== null) found.push(session);
		}
	}
	return found;
}

export async function readKimiCodeMessages(
	files: Files,
	{ directory }: KimiCodeSession,
): Promise<readonly ReadMessage[]> {
	const records = await readRecords(files, logOf(directory));
	const messages: ReadMessage[] = [];
	for (const record of records) {
		const { event } = record;
		if (record["type"] === "context.append_message" && isRecord(record["message"])) {
			const message = toUserMessage(record["message"]);
			if (message !== null) messages.push(message);
		}
		if (record["type"] === "context.append_loop_event" && isRecord(event)) takeLoopEvent(messages, event);
	}
	return messages.filter(({ text, tools }) => text !== "" || tools.length > 0);
}

function takeLoopEvent(messages: ReadMessage[], event: Readonly<Record<string, unknown>>): void {
	if (event["type"] === "step.begin") messages.push({ role: "assistant", text: "", tools: [] });
	const part = event["type"] === "content.part" && isRecord(event["part"]) ? event["part"] : null;
	const said = part !== null && part["type"] === "text" ? String(part["text"] ?? "") : "";
	const called = event["type"] === "tool.call" && typeof event["name"] === "string" ? [event["name"]] : [];
	if (said === "" && called.length === 0) return;
	const last = messages.at(-1)?.role === "assistant" ? messages.pop() : undefined;
	const { text, tools } = last ?? { text: "", tools: [] };
	messages.push({ role: "assistant", text: text + said, tools: [...tools, ...called] });
}

/** Null for messages the program added itself. */
function toUserMessage(message: Readonly<Record<string, unknown>>): ReadMessage | null {
	const { role, origin } = message;
	if (role !== "user" && role !== "assistant") return null;
	if (isRecord(origin) && origin["kind"] !== undefined && origin["kind"] !== "user") return null;
	return { role, text: toText(message["content"]), tools: [] };
}

function toText(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content.map((part) => (isRecord(part) && part["type"] === "text" ? String(part["text"] ?? "") : "")).join("");
}

const logOf = (directory: string) => path.join(directory, "agents", "main", "wire.jsonl");

async function readSession(
	files: Files,
	directory: string,
	id: string,
	workDirs: ReadonlyMap<string, string>,
): Promise<KimiCodeSession | null> {
	const log = await files.status(logOf(directory)).catch(() => null);
	const state = await readState(files, path.join(directory, "state.json"));
	if (log === null && state === null) return null;
	const given = state ?? {};
	const workDir = given["cwd"] ?? given["workDir"] ?? workDirs.get(id) ?? workDirs.get(toPrefixedId(id));
	return {
		id,
		store: "kimi-code",
		directory,
		workDir: typeof workDir === "string" ? workDir : "",
		title: toTitle(typeof given["title"] === "string" ? given["title"] : "") ?? untitled,
		updatedAt: toMilliseconds(given["updatedAt"]) ?? log?.modifiedAt ?? 0,
		isArchived: given["archived"] === true,
	};
}

function toMilliseconds(value: unknown): number | null {
	const time = typeof value === "string" ? Date.parse(value) : value;
	return typeof time === "number" && Number.isFinite(time) ? time : null;
}

async function readState(files: Files, file: string): Promise<Readonly<Record<string, unknown>> | null> {
	try {
		const value: unknown = JSON.parse((await readText(files, file)) ?? "");
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}

async function readIndex(files: Files, file: string): Promise<ReadonlyMap<string, string>> {
	const found = new Map<string, string>();
	for (const { sessionId, workDir } of await readRecords(files, file)) {
		if (typeof sessionId === "string" && typeof workDir === "string") found.set(sessionId, workDir);
	}
	return found;
}

async function readRecords(files: Files, file: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
	const text = (await readText(files, file).catch(() => null)) ?? "";
	return text.split("\n").flatMap((line) => {
		try {
			const value: unknown = JSON.parse(line);
			return isRecord(value) ? [value] : [];
		} catch {
			return [];
		}
	});
}

async function readText(files: Files, file: string): Promise<string | null> {
	const status = await files.status(file);
	if (status?.kind !== "file") return null;
	return (await files.readRange(file, 0, Math.min(status.size, readLimit)))?.toString("utf8") ?? null;
}

async function directoriesOf(files: Files, directory: string): Promise<readonly string[]> {
	try {
		if ((await files.status(directory))?.kind !== "directory") return [];
		return (await files.list(directory)).flatMap(({ name, kind }) => (kind === "directory" ? [name] : [])).sort();
	} catch {
		return [];
	}
}
