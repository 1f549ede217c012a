import type { UserInput } from "../../api/values/content.ts";
import { mediaTypeOfBytes } from "../../api/values/media-type.ts";
import type { AnswerForm } from "../../api/values/turn-options.ts";
import { isRecord } from "../../base/json.ts";
import { filesSize, withFiles } from "../../frontends/shared/prompt-files.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { admitByName } from "../../ports/files/secret-paths.ts";
import type { CodexExecOptions } from "../arguments/options/codex-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { checkFile } from "../paths.ts";

const formRetries = 2;

export interface ExecInput {
	readonly input: UserInput;
	readonly answerForm: AnswerForm | null;
}

/** Files in `shareDir` are not read. Throws UsageError for an unusable file. */
export async function readExecInput(
	prompt: string,
	{ images, outputSchema }: Pick<CodexExecOptions, "images" | "outputSchema">,
	place: Place,
	shareDir: string,
): Promise<ExecInput> {
	const files = createDiskFiles(privateBelow(shareDir)).admitting(admitByName);
	const read = async (flag: string, typed: string) => {
		const bytes = await files.read(await checkFile(flag, typed, place, files), filesSize);
		if (bytes === null) throw new UsageError(`${flag}: there is no file ${toAbsolutePath(typed, place)}`);
		return bytes;
	};
	const attached = await Promise.all(
		images.map(async (image) => {
			const bytes = await read("--image", image);
			const type = mediaTypeOfBytes(bytes);
			if (type?.startsWith("image/") !== true) throw new UsageError(`--image: not an image: ${image}`);
			return { name: image, type, data: bytes.toString("base64") };
		}),
	);
	const answerForm = outputSchema === null ? null : toForm(await read("--output-schema", outputSchema), outputSchema);
	return { input: withFiles(prompt, attached), answerForm };
}

function toForm(bytes: Buffer, file: string): AnswerForm {
	let schema: unknown;
	try {
		schema = JSON.parse(bytes.toString("utf8"));
	} catch {
		schema = null;
	}
	if (!isRecord(schema)) throw new UsageError(`--output-schema: ${file} does not contain a JSON object.`);
	return { schema, retries: formRetries };
}
