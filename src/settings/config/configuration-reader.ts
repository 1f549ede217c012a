// Reads, validates, and creates a missing settings file. model-selection.ts chooses the model.
import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { type Configuration, toConfiguration } from "./configuration.ts";
import { ConfigurationError, type ConfigurationProblem, toKeyPath, toProblem } from "./configuration-error.ts";
import { type ConfigurationFile, configurationFileSchema } from "./schema.ts";
import { readText } from "./settings-text.ts";
import { parseJson, parseToml } from "./syntax.ts";
import { toTomlText } from "./toml-text.ts";

export type ConfigurationSource =
	| { readonly kind: "text"; readonly text: string }
	/** A file that must exist: JSON if its name ends in `.json`, otherwise TOML. */
	| { readonly kind: "file"; readonly path: string }
	/** `config.toml` in the share directory, created if missing. */
	| { readonly kind: "default"; readonly shareDir: string };

export interface LoadedConfiguration {
	readonly configuration: Configuration;
	/** The settings file; null for text. */
	readonly path: string | null;
}

const textSource = "--config";

/** Throws ConfigurationError if invalid. A failure to create the default file is only logged. */
export async function readConfiguration(
	source: ConfigurationSource,
	files: Files,
	log: Log,
): Promise<LoadedConfiguration> {
	switch (source.kind) {
		case "text":
			return { configuration: toConfiguration(await parseText(source.text)), path: null };
		case "file": {
			const text = await readText(files, source.path);
			if (text === null) {
				throw new ConfigurationError("unreadable", source.path, [{ key: "", reason: "there is no such file" }]);
			}
			return {
				configuration: toConfiguration(await parseFile(text, source.path), tomlText(text, source.path)),
				path: source.path,
			};
		}
		case "default":
			return readDefault(source.shareDir, files, log);
	}
}

async function readDefault(shareDir: string, files: Files, log: Log): Promise<LoadedConfiguration> {
	const path = `${shareDir}/config.toml`;
	const text = await readText(files, path);
	if (text !== null) return { configuration: toConfiguration(await parseFile(text, path), text), path };
	const legacyPath = `${shareDir}/config.json`;
	const legacyText = await readText(files, legacyPath);
	if (legacyText !== null) {
		const file = await parseFile(legacyText, legacyPath);
		await attempt(log, "The old config.json could not be converted to config.toml", async () => {
			await files.replace(path, toTomlText(file), { mode: 0o600, sync: true });
			await files.rename(legacyPath, `${legacyPath}.bak`);
			log.info("Converted the old config.json to config.toml", { path });
		});
		return { configuration: toConfiguration(file), path };
	}
	const file = check({}, "schema", path);
	await attempt(log, "The settings file could not be created", async () => {
		await files.makeDirectory(shareDir);
		// Do not write our own tables: unset keys should follow future defaults.
		const { agentwire: _own, permission: _rules, sandbox: _sandbox, store: _store, ...shared } = file;
		await files.create(path, toTomlText(shared));
	});
	return { configuration: toConfiguration(file), path };
}

async function attempt(log: Log, failure: string, action: () => Promise<void>): Promise<void> {
	try {
		await action();
	} catch (error) {
		log.warn(failure, { reason: errorText(error) });
	}
}

const isJson = (path: string) => /\.json$/i.test(path);
const tomlText = (text: string, path: string) => (isJson(path) ? null : text);

async function parseFile(text: string, path: string): Promise<ConfigurationFile> {
	const result = isJson(path) ? parseJson(text) : await parseToml(text);
	if (!result.ok) throw new ConfigurationError("syntax", path, [{ key: "", reason: result.reason }]);
	return check(result.value, "schema", path);
}

async function parseText(text: string): Promise<ConfigurationFile> {
	if (text.trim() === "") throw new ConfigurationError("text", textSource, [{ key: "", reason: "is empty" }]);
	const json = parseJson(text);
	if (json.ok) return check(json.value, "text", textSource);
	const toml = await parseToml(text);
	if (toml.ok) return check(toml.value, "text", textSource);
	const reasons = [json.reason, toml.reason];
	throw new ConfigurationError(
		"text",
		textSource,
		reasons.map((reason) => ({ key: "", reason })),
	);
}

function check(value: unknown, category: "schema" | "text", source: string): ConfigurationFile {
	const result = v.safeParse(configurationFileSchema, value, { abortPipeEarly: true });
	const problems = [...(result.issues ?? []).map(toProblem), ...crossProblems(value)];
	if (result.success && problems.length === 0) return result.output;
	throw new ConfigurationError(category, source, problems);
}

/** Checks references between tables on the raw value, to report them together with other problems. */
function crossProblems(value: unknown): ConfigurationProblem[] {
	if (!isRecord(value)) return [];
	const { default_model: alias, models = {}, providers = {} } = value;
	const problems: ConfigurationProblem[] = [];
	// Ignoring it could drop rules that deny something.
	if (Object.hasOwn(value, "permissions")) {
		problems.push({ key: "permissions", reason: "is not a settings key; rules are in `permission`" });
	}
	if (typeof alias === "string" && alias !== "" && isRecord(models) && !Object.hasOwn(models, alias)) {
		problems.push({ key: "default_model", reason: `names ${JSON.stringify(alias)}, which is not in models` });
	}
	if (!isRecord(models) || !isRecord(providers)) return problems;
	for (const [name, model] of Object.entries(models)) {
		if (!isRecord(model) || typeof model["provider"] !== "string" || Object.hasOwn(providers, model["provider"])) {
			continue;
		}
		const reason = `names ${JSON.stringify(model["provider"])}, which is not in providers`;
		problems.push({ key: toKeyPath(["models", name, "provider"]), reason });
	}
	return problems;
}
