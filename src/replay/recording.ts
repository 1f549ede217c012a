// A session's durable events, from the store or an export.
import type { AgentEvent } from "../api/values/event.ts";
import { eachOf } from "../base/collections.ts";
import { errorText } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { isSecretName, redactSecrets } from "../base/redaction.ts";
import { fromEventRecord, toEventRecord } from "../ports/store/record.ts";
import type { StoredSession } from "../ports/store/session-store.ts";

export interface Recording {
	readonly sessionId: string;
	readonly workDir: string;
	readonly events: readonly AgentEvent[];
}

export async function readRecording(stored: Pick<StoredSession, "id" | "workDir" | "events">): Promise<Recording> {
	const events: AgentEvent[] = [];
	for await (const event of eachOf(stored.events())) events.push(event);
	return { sessionId: stored.id, workDir: stored.workDir, events };
}

const formatVersion = 1;

/** The recording as text, a line of JSON for a header and for each event. */
export function toReplayText({ sessionId, workDir, events }: Recording, version: string): string {
	const header = { agentwire_replay: formatVersion, session: sessionId, work_dir: workDir, agentwire_version: version };
	return [header, ...events.map(toEventRecord)].map((line) => `${JSON.stringify(line)}\n`).join("");
}

export function parseReplayText(text: string): Recording {
	const [first = "", ...lines] = text.split("\n");
	const header = parseLine(first, 1);
	if (!isRecord(header) || header["agentwire_replay"] === undefined)
		throw new Error("it was not written by 'export --replayable'");
	const { agentwire_replay: version, session: sessionId, work_dir: workDir } = header;
	if (version !== formatVersion)
		throw new Error(`its format is version ${version}, and this program reads ${formatVersion}`);
	if (typeof sessionId !== "string" || typeof workDir !== "string") throw new Error("line 1 lacks the session");
	const events = lines.flatMap((line, index) => {
		if (line === "") return [];
		const event = fromEventRecord(parseLine(line, index + 2), { sessionId, epoch: "" });
		if (event === null) throw new Error(`line ${index + 2} is not an event of this version`);
		return [event];
	});
	return { sessionId, workDir, events };
}

function parseLine(line: string, number: number): unknown {
	try {
		return JSON.parse(line);
	} catch (thrown) {
		throw new Error(`line ${number} is not JSON: ${errorText(thrown)}`, { cause: thrown });
	}
}

export function withoutSecrets(recording: Recording): { readonly recording: Recording; readonly changed: number } {
	let changed = 0;
	const redact = (text: string): string => {
		const redacted = redactJson(text) ?? redactSecrets(text);
		if (redacted !== text) changed += 1;
		return redacted;
	};
	const origin = { sessionId: recording.sessionId, epoch: "" };
	const events = recording.events.map((event) => {
		const redacted = fromEventRecord(mapTexts(toEventRecord(event), redact), origin);
		return redacted ?? event;
	});
	return { recording: { ...recording, events }, changed };
}

/** Arguments of calls stay JSON; null for text that is none. */
function redactJson(text: string): string | null {
	if (!/^\s*[{[]/.test(text)) return null;
	try {
		const value: unknown = JSON.parse(text);
		const redacted = JSON.stringify(mapTexts(value, redactSecrets));
		return redacted === JSON.stringify(value) ? text : redacted;
	} catch {
		return null;
	}
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
	if (typeof value === "string") return map(value);
	if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
	if (!isRecord(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]) => [
			name,
			typeof inner === "string" && isSecretName(name)
				? map(`${name}=${inner}`).slice(name.length + 1)
				: mapTexts(inner, map),
		]),
	);
}
