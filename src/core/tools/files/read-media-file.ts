import path from "node:path";
import * as v from "valibot";
import {
	type ContentPart,
	mediaPart,
	type ToolReturn,
	textPart,
	toDataUri,
	toolError,
	toolSuccess,
} from "../../../api/values/content.ts";
import { attributeValue } from "../../../base/text/quoting.ts";
import type { MediaOperations } from "../operations.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { cancelledResult, defineTool, freeUnlessRuled, settled } from "../tool-definition.ts";
import { fileSubject, shownPath } from "../workspace-paths.ts";
import { mediaType } from "./file-kinds.ts";
import { readPixelSize } from "./pixel-size.ts";
import { type FoundFile, findReadableFile } from "./readable-file.ts";

export const mediaToolName = "ReadMediaFile";

const mebibyte = 1024 * 1024;
const maximumBytes = 100 * mebibyte;
const failureBrief = "Failed to read file";

type MediaKind = "image" | "video";

function description({ takesImages, takesVideos }: MediaOperations): string {
	const kinds = takesImages && takesVideos ? "an image or a video" : takesImages ? "an image" : "a video";
	return `Look at ${kinds} from a file.

- The file itself becomes part of the conversation, with its type, its size and, of an image, its size in pixels.
- A file has at most ${maximumBytes / mebibyte} MiB. A large one takes much of the context: look only at what matters, and only once.
- PNG, JPEG, GIF and WebP are understood everywhere; convert images of other formats first if you can.
- A path outside of the working directory must be absolute.
- For text use ReadFile, for directories Shell or Glob.`;
}

const schema = v.object({
	path: v.pipe(v.string(), v.description("The file to look at; relative to the working directory or absolute.")),
});

/** Start of a Git LFS pointer file. */
const largeFilePointer = "version https://git-lfs.github.com/spec/";

type Medium = { readonly ok: true; readonly kind: MediaKind; readonly type: string };

/** The media kind, or why the file cannot be shown. */
function checkMedium(
	{ location, kind, size, header }: FoundFile,
	media: MediaOperations,
): Medium | { readonly ok: false; readonly refusal: ToolReturn } {
	const { spelled, path: absolute } = location;
	const refuse = (message: string, brief: string) => ({ ok: false as const, refusal: toolError(message, brief) });
	if (size === 0) return refuse(`\`${spelled}\` is empty.`, "Empty file");
	if (kind === "text") {
		const pointer = header.subarray(0, largeFilePointer.length).toString("latin1") === largeFilePointer;
		const what = pointer
			? "is a Git LFS pointer; `git lfs pull` fetches the file itself."
			: "holds text: read it with ReadFile.";
		return refuse(`\`${spelled}\` ${what}`, "Unsupported file type");
	}
	const type = mediaType(absolute, header);
	if (kind === "unknown" || type === null) {
		return refuse(
			`\`${spelled}\` is neither an image nor a video. Shell commands may be able to inspect it.`,
			"File not readable",
		);
	}
	if (kind === "image" ? !media.takesImages : !media.takesVideos) {
		return refuse(`\`${spelled}\` is ${named(kind)}, which the model cannot take in.`, "Unsupported media type");
	}
	if (size > maximumBytes) {
		return refuse(
			`\`${spelled}\` has ${size} bytes; at most ${maximumBytes} can be shown. Make it smaller first.`,
			"File too large",
		);
	}
	return { ok: true, kind, type };
}

function named(kind: MediaKind): string {
	return kind === "image" ? "an image" : "a video";
}

/** Encloses the part in two texts with the file path, so that the model knows its origin. */
function bracketed(kind: MediaKind, filePath: string, part: ContentPart): ContentPart[] {
	return [textPart(`<${kind} path="${attributeValue(filePath)}">`), part, textPart(`</${kind}>`)];
}

/** Null if the model accepts neither images nor videos. */
export function createReadMediaFile(environment: ToolEnvironment): Tool | null {
	const { files, media } = environment;
	if (!media.takesImages && !media.takesVideos) return null;

	const showImage = async (filePath: string, type: string, bytes: Buffer): Promise<ToolReturn> => {
		const size = await readPixelSize(bytes);
		const url = toDataUri(type, bytes.toString("base64"));
		const original = size === null ? "" : `, original size ${size.width}x${size.height} pixels`;
		return toolSuccess({
			output: bracketed("image", filePath, mediaPart("image", url)),
			message: `Loaded image file \`${filePath}\` (${type}, ${bytes.length} bytes${original}). It may reach you scaled down: give coordinates in pixels of the original, and work them out as shares of its width and height first.`,
		});
	};

	const showVideo = async (filePath: string, type: string, bytes: Buffer, signal: AbortSignal): Promise<ToolReturn> => {
		const video = { bytes, mediaType: type, name: path.basename(filePath) };
		const uploaded = await media.uploadVideo?.(video, signal);
		if (signal.aborted) return cancelledResult();
		if (uploaded?.ok === false) {
			return toolError(`The provider did not take \`${filePath}\`: ${uploaded.reason}`, failureBrief);
		}
		const url = uploaded?.url ?? toDataUri(type, bytes.toString("base64"));
		return toolSuccess({
			output: bracketed("video", filePath, mediaPart("video", url)),
			message: `Loaded video file \`${filePath}\` (${type}, ${bytes.length} bytes). Give places in it as times from its beginning, and places in a picture as shares of its width and height.`,
		});
	};

	return defineTool({
		name: mediaToolName,
		description: description(media),
		schema,
		failureBrief,
		async prepare({ path: spelled }) {
			const found = await findReadableFile(spelled, environment);
			if (!found.ok) return settled(found.refusal);
			const medium = checkMedium(found.file, media);
			if (!medium.ok) return settled(medium.refusal);
			const { location } = found.file;
			const { path: absolute, resolved } = location;
			const { kind, type } = medium;
			const need = {
				action: "read file",
				subject: fileSubject(location, "read"),
				description: `Read file ${shownPath(location)}`,
			};
			return freeUnlessRuled(need, async (signal) => {
				const bytes = await files.read(resolved, maximumBytes);
				if (signal.aborted) return cancelledResult();
				if (bytes === null) return toolError(`\`${spelled}\` does not exist any more.`, "File not found");
				return kind === "image" ? showImage(absolute, type, bytes) : showVideo(absolute, type, bytes, signal);
			});
		},
	});
}
