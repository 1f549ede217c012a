// `${NAME}`, `{% if %}`, `{% for %}`, `{% include %}`. Values are inserted verbatim: markup in them has no effect.
import path from "node:path";
import { errorText } from "../../../base/errors.ts";
import type { Files } from "../../../ports/files/port.ts";
import type { Scope } from "./template-expression.ts";
import { TemplateError, type TemplateNode } from "./template-nodes.ts";
import { parseTemplate } from "./template-parser.ts";
import { renderParts } from "./template-renderer.ts";

export interface PromptTemplate {
	readonly file: string;
	readonly parts: ReadonlyMap<string, readonly TemplateNode[]>;
}

type Include = Extract<TemplateNode, { kind: "include" }>;

/** Limits of a template with all its includes: total bytes, and files. */
const sizeLimit = 256 * 1024;
const fileLimit = 100;

export async function loadPromptTemplate(file: string, files: Files): Promise<PromptTemplate> {
	const parts = new Map<string, readonly TemplateNode[]>();
	let size = 0;
	const load = async (part: string, trail: readonly string[]): Promise<void> => {
		const text = await readText(part, sizeLimit - size, files);
		size += Buffer.byteLength(text);
		const nodes = parseTemplate(text, part);
		parts.set(part, nodes);
		for (const { name, line } of includesOf(nodes)) {
			const included = path.resolve(path.dirname(file), name);
			if ([...trail, part].includes(included)) throw new TemplateError(part, line, `includes itself through "${name}"`);
			if (parts.has(included)) continue;
			if (parts.size === fileLimit) throw new TemplateError(part, line, `more than ${fileLimit} files are included`);
			await load(included, [...trail, part]).catch((thrown: unknown) => {
				const isMissing = thrown instanceof TemplateError && thrown.file === included && thrown.line === 0;
				throw isMissing ? new TemplateError(part, line, `cannot include "${name}": ${thrown.reason}`, thrown) : thrown;
			});
		}
	};
	await load(file, []);
	return { file, parts };
}

/** The text, trimmed. Throws TemplateError for an undefined variable, a non-text value, and a text over the limit. */
export function renderTemplate({ file, parts }: PromptTemplate, scope: Scope): string {
	return renderParts(parts, file, scope).trim();
}

async function readText(file: string, room: number, files: Files): Promise<string> {
	try {
		const status = await files.status(file);
		if (status === null) throw new TemplateError(file, 0, "there is no such file");
		if (status.kind !== "file") throw new TemplateError(file, 0, "is not a file");
		const bytes = (await files.readRange(file, 0, room + 1)) ?? Buffer.alloc(0);
		if (bytes.length > room) {
			throw new TemplateError(file, 0, `is too long: a prompt with its includes may have ${sizeLimit} bytes`);
		}
		return bytes.toString().replace(/^\ufeff/, "");
	} catch (thrown) {
		if (thrown instanceof TemplateError) throw thrown;
		throw new TemplateError(file, 0, `cannot be read: ${errorText(thrown)}`, thrown);
	}
}

function includesOf(nodes: readonly TemplateNode[]): Include[] {
	return nodes.flatMap(includesIn);
}

function includesIn(node: TemplateNode): Include[] {
	switch (node.kind) {
		case "include":
			return [node];
		case "if":
			return node.branches.flatMap(({ body }) => includesOf(body));
		case "for":
			return includesOf(node.body);
		case "text":
		case "value":
			return [];
	}
}
