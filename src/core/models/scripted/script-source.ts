import { errorText } from "../../../base/errors.ts";
import { ModelConfigurationError, type ModelSettings } from "../model-settings.ts";

const variable = "KIMI_SCRIPTED_ECHO_SCRIPTS";

/** Reads `KIMI_SCRIPTED_ECHO_SCRIPTS`: a JSON array, or texts separated by `---`. Throws ModelConfigurationError. */
export async function loadScripts(
	settings: Pick<ModelSettings, "environment" | "home" | "readFile">,
): Promise<readonly string[]> {
	const named = settings.environment[variable]?.trim() ?? "";
	if (named === "") throw new ModelConfigurationError(`${variable} is not set; it names the file of scripts.`);
	const path = named === "~" || named.startsWith("~/") ? settings.home + named.slice(1) : named;
	return parseScripts(await readText(path, settings.readFile), path);
}

async function readText(path: string, readFile: ModelSettings["readFile"]): Promise<string> {
	let bytes: Uint8Array | null;
	try {
		bytes = await readFile(path);
	} catch (thrown) {
		throw new ModelConfigurationError(`Cannot read the scripts of ${variable}: ${errorText(thrown)}`);
	}
	if (bytes === null) throw new ModelConfigurationError(`The file of ${variable} does not exist: ${path}`);
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new ModelConfigurationError(`The file of ${variable} is not UTF-8: ${path}`);
	}
}

function parseScripts(text: string, path: string): readonly string[] {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return splitScripts(text, path);
	}
	if (!Array.isArray(value) || !value.every((script) => typeof script === "string")) {
		throw new ModelConfigurationError(`The JSON of ${variable} must be an array of strings: ${path}`);
	}
	return value;
}

function splitScripts(text: string, path: string): readonly string[] {
	const scripts = text
		.replace(/\r\n?/g, "\n")
		.split(/^---$/m)
		.map((script) => script.trim())
		.filter((script) => script !== "");
	if (scripts.length === 0) throw new ModelConfigurationError(`The file of ${variable} holds no script: ${path}`);
	return scripts;
}
