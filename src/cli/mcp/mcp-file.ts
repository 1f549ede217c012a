// An edit preserves everything else. settings/config/mcp-servers.ts parses the entries.
import { isUtf8 } from "node:buffer";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { isRecord } from "../../base/json.ts";
import { withLock } from "../../ports/files/path-lock.ts";
import type { Files } from "../../ports/files/port.ts";
import { isMcpEntry } from "../../settings/config/mcp-servers.ts";
import { parseJson } from "../../settings/config/syntax.ts";
import { McpError } from "./mcp-error.ts";

type JsonObject = Readonly<Record<string, unknown>>;

export interface McpFilePlace {
	readonly files: Files;
	readonly clock: Clock;
	readonly shareDir: string;
}

/** Headers and variables hold keys, so a new file is readable only by its owner. An existing file keeps its mode. */
const newFileMode = 0o600;
const serversKey = "mcpServers";

export const mcpFilePath = (shareDir: string) => path.join(shareDir, "mcp.json");

export async function readMcpEntries({ files, shareDir }: McpFilePlace): Promise<JsonObject> {
	const file = mcpFilePath(shareDir);
	const root = await readRoot(file, files);
	const entries = Object.entries(entriesOf(root, file));
	// The root may also contain other keys.
	return Object.fromEntries(root !== null && isBare(root) ? entries.filter(([, entry]) => isMcpEntry(entry)) : entries);
}

/** Replaces the entries with the result of `edit`. If `edit` throws, the file stays unchanged. Throws McpError. */
export async function editMcpEntries(place: McpFilePlace, edit: (entries: JsonObject) => JsonObject): Promise<void> {
	const { files, shareDir } = place;
	const file = mcpFilePath(shareDir);
	await files.makeDirectory(shareDir);
	await withLock(place, file, async () => {
		const root = await readRoot(file, files, true);
		const edited = edit(entriesOf(root, file));
		const next = root !== null && isBare(root) ? edited : { ...root, [serversKey]: edited };
		const mode = root === null ? { mode: newFileMode } : {};
		await files.replace(file, `${JSON.stringify(next, null, 2)}\n`, { ...mode, inPlaceIfNeeded: true, sync: true });
	});
}

async function readRoot(file: string, files: Files, isChanged = false): Promise<JsonObject | null> {
	const bytes = await files.read(file);
	if (bytes === null) return null;
	// Unchanged values that are not UTF-8 would be corrupted.
	if (isChanged && !isUtf8(bytes)) throw new McpError(`${file} is not UTF-8. Fix it first; it was not changed.`);
	const parsed = parseJson(bytes.toString("utf8").replace(/^\ufeff/, ""));
	if (!parsed.ok) throw new McpError(`${file} is ${parsed.reason}. Fix it first; it was not changed.`);
	if (isRecord(parsed.value)) return parsed.value;
	throw new McpError(`${file} does not contain a JSON object. Fix it first; it was not changed.`);
}

/** Whether the root contains the servers directly: the wrapper key is missing, and something looks like a server. */
function isBare(root: JsonObject): boolean {
	return !Object.hasOwn(root, serversKey) && Object.values(root).some(isMcpEntry);
}

function entriesOf(root: JsonObject | null, file: string): JsonObject {
	if (root === null) return {};
	if (isBare(root)) return root;
	const entries = root[serversKey] ?? {};
	if (isRecord(entries)) return entries;
	throw new McpError(`${file}: ${serversKey} is not an object. Fix it first; it was not changed.`);
}
