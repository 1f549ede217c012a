import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import type { Flow } from "./flows/flow.ts";
import { type FrontmatterText, parseFrontmatter, splitFrontmatter } from "./frontmatter.ts";
import { type Skill, type SkillScope, skillSizeLimit, toText } from "./skill.ts";

export interface SkillFile {
	readonly path: string;
	/** The skill's name unless the file gives another. */
	readonly name: string;
	readonly scope: SkillScope;
}

/** Bytes to read first; usually enough. */
const headLength = 16 * 1024;

const descriptionLimit = 240;

/** Maximum characters of the name and description in the frontmatter. */
const fieldLimit = 1000;

/** Twice the limit, because some characters count as two, plus a margin for a split last character. */
const sufficientBody = 2 * descriptionLimit + 8;

const namePattern = /^[A-Za-z0-9_-]+$/;

export interface LeftOutSkill {
	readonly path: string;
	readonly reason: string;
}

export async function readSkill(
	file: SkillFile,
	files: Files,
	log: Log,
	onLeftOut: (skill: LeftOutSkill) => void = () => {},
): Promise<Skill | null> {
	const { path, scope } = file;
	const leaveOut = (reason: string): null => {
		log.warn("A skill is left out.", { path, reason });
		onLeftOut({ path, reason });
		return null;
	};
	try {
		const status = await files.status(path);
		if (status === null) return null;
		if (status.kind !== "file") return leaveOut("is not a file");
		if (status.size > skillSizeLimit) return leaveOut(`has ${status.size} bytes, more than 1 MiB`);
		const { text, parts } = await readHead(path, status.size, files);
		if (text.trim() === "") return leaveOut("is empty");
		if (parts === null) return leaveOut('its frontmatter is not closed: a line "---" is missing');
		const fields = await readFields(parts.source ?? "");
		if ("reason" in fields) return leaveOut(fields.reason);
		const { name = file.name, description = defaultDescription(parts.body), type = "standard" } = fields;
		if (!namePattern.test(name)) {
			return leaveOut(`${JSON.stringify(name)} cannot be its name: only letters, digits, "-" and "_" can be in one`);
		}
		if (type !== "standard" && type !== "flow") {
			log.warn("The type of a skill is unknown; it is treated as an ordinary skill.", { path, type });
		}
		return {
			name: copyOf(name),
			description: copyOf(description),
			scope,
			path,
			flow: type === "flow" ? await readFlow(path, files, log) : null,
		};
	} catch (thrown) {
		return leaveOut(errorText(thrown));
	}
}

/** Copies the text: a substring keeps the whole source in memory, and each session holds the skills. */
function copyOf(text: string): string {
	return Buffer.from(text).toString();
}

async function readHead(
	path: string,
	size: number,
	files: Files,
): Promise<{ readonly text: string; readonly parts: FrontmatterText | null }> {
	const head = await readText(path, Math.min(size, headLength), files);
	const parts = splitFrontmatter(head);
	const isEnough = parts !== null && parts.body.trimStart().length >= sufficientBody;
	if (size <= headLength || isEnough) return { text: head, parts };
	const text = await readText(path, size, files);
	return { text, parts: splitFrontmatter(text) };
}

async function readText(path: string, length: number, files: Files): Promise<string> {
	return toText((await files.readRange(path, 0, length)) ?? Buffer.alloc(0));
}

interface SkillFields {
	readonly name?: string;
	readonly description?: string;
	readonly type?: string;
}

/** The frontmatter fields, each on one line; empty ones are absent. */
async function readFields(source: string): Promise<SkillFields | { readonly reason: string }> {
	const frontmatter = await parseFrontmatter(source);
	if (!frontmatter.ok) return frontmatter;
	const fields: Record<string, string> = {};
	for (const key of ["name", "description", "type"]) {
		const value = frontmatter.fields.get(key) ?? "";
		if (typeof value !== "string") return { reason: `its "${key}" is not a text` };
		const text = value.replace(/\s+/g, " ").trim();
		// They appear in every list shown to a model.
		if (text !== "") fields[key] = cut(text, fieldLimit);
	}
	return fields;
}

function defaultDescription(body: string): string {
	return cut(/\S.*/.exec(body)?.[0] ?? "No description.", descriptionLimit).trim();
}

/** Cuts at `length` characters; some characters count as two. */
function cut(text: string, length: number): string {
	return text.length <= length
		? text
		: Array.from(text.slice(0, 2 * length))
				.slice(0, length)
				.join("");
}

/** Null, with a log line, if the skill has no readable flow. */
async function readFlow(path: string, files: Files, log: Log): Promise<Flow | null> {
	const { parseFlow } = await import("./flows/flow-source.ts");
	const parsed = parseFlow(await readText(path, skillSizeLimit, files));
	if (parsed.ok) return parsed.flow;
	log.warn("The flow of a skill cannot be read; it is treated as an ordinary skill.", { path, reason: parsed.reason });
	return null;
}
