import { type ToolReturn, toolError } from "../../../api/values/content.ts";
import { findSecret } from "../secret-refusal.ts";
import type { ToolEnvironment } from "../tool.ts";
import { type Location, locateFile } from "../workspace-paths.ts";
import { detectFileKind, type FileKind, kindLength } from "./file-kinds.ts";

export interface FoundFile {
	readonly location: Location;
	readonly kind: FileKind;
	readonly size: number;
	readonly header: Buffer;
}

export type FoundFileResult =
	| { readonly ok: true; readonly file: FoundFile }
	| { readonly ok: false; readonly refusal: ToolReturn };

/** `readUnsaved` returns the text of a file that is not on disk, if an editor has it. */
export async function findReadableFile(
	filePath: string,
	environment: ToolEnvironment,
	readUnsaved: (location: Location) => Promise<string | null> = async () => null,
): Promise<FoundFileResult> {
	const located = await locateFile(filePath, environment);
	if (!located.ok) return located;
	const { location } = located;
	const { spelled, resolved } = location;
	const refuse = (message: string, brief: string): FoundFileResult => ({
		ok: false,
		refusal: toolError(message, brief),
	});
	const secret = await findSecret(location, environment);
	if (secret !== null) return { ok: false, refusal: secret };
	const status = await environment.files.status(resolved);
	if (status === null) {
		const unsaved = await readUnsaved(location);
		if (unsaved === null) return refuse(`\`${spelled}\` does not exist.`, "File not found");
		const header = Buffer.from(unsaved.slice(0, kindLength));
		const size = Buffer.byteLength(unsaved);
		return { ok: true, file: { location, kind: detectFileKind(resolved, header), size, header } };
	}
	if (status.kind !== "file") return refuse(`\`${spelled}\` is not a file.`, "Invalid path");
	// A permission rule may deny the file later; its header is not shown before that.
	const header = (await environment.allFiles.readRange(resolved, 0, kindLength)) ?? Buffer.alloc(0);
	return { ok: true, file: { location, kind: detectFileKind(resolved, header), size: status.size, header } };
}
