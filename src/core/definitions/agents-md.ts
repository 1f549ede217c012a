import path from "node:path";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { projectDirectories } from "./project-root.ts";

/** Maximum bytes of the merged text, including annotations and separators. */
export const agentsMdBudget = 32 * 1024;

// More than the budget, so that leading blank space costs no content.
const readLimit = 2 * agentsMdBudget;
const separator = "\n\n";

interface Found {
	readonly path: string;
	readonly text: string;
}

/** From the project root (absolute) down. Over the budget, the deepest files stay complete; unreadable ones are skipped. */
export async function loadAgentsMd(files: Files, workDir: string, log: Log): Promise<string> {
	const directories = await projectDirectories(files, workDir);
	const found = (await Promise.all(directories.map((directory) => readDirectory(files, directory, log)))).flat();
	const retained: string[] = [];
	let remaining = agentsMdBudget;
	for (const { path: file, text } of found.reverse()) {
		const heading = `<!-- From: ${file} -->\n`;
		const overhead = Buffer.byteLength(heading) + (retained.length === 0 ? 0 : separator.length);
		const body = cutToBytes(text, remaining - overhead);
		if (body === "") continue;
		retained.unshift(heading + body);
		remaining -= overhead + Buffer.byteLength(body);
	}
	return retained.join(separator);
}

async function readDirectory(files: Files, directory: string, log: Log): Promise<Found[]> {
	const [hidden, upper, lower] = await Promise.all(
		[".kimi/AGENTS.md", "AGENTS.md", "agents.md"].map((name) => readText(files, path.join(directory, name), log)),
	);
	return [hidden, upper ?? lower].flatMap((found) => (found && found.text !== "" ? [found] : []));
}

async function readText(files: Files, file: string, log: Log): Promise<Found | null> {
	try {
		const status = await files.status(file);
		if (status?.kind !== "file") return null;
		const bytes = await files.readRange(file, 0, readLimit);
		return bytes === null
			? null
			: {
					path: file,
					text: bytes
						.toString("utf8")
						.replace(/^\ufeff/, "")
						.trim(),
				};
	} catch (error) {
		log.warn("Instructions could not be read and are left out", { path: file, reason: errorText(error) });
		return null;
	}
}

/** The longest prefix within `limit` bytes that does not split a character. */
function cutToBytes(text: string, limit: number): string {
	if (limit <= 0) return "";
	const bytes = Buffer.from(text);
	if (bytes.length <= limit) return text;
	let end = limit;
	// Bytes 10xxxxxx continue a character.
	while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
	return bytes.toString("utf8", 0, end).trimEnd();
}
