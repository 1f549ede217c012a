// A platform sign-in in the settings file, edited as text because people and programs edit it too.
import { isRecord } from "../../base/json.ts";
import { ConfigurationError } from "./configuration-error.ts";
import type { ModelCapability } from "./schema.ts";
import { parseToml } from "./syntax.ts";
import { applyTomlChanges, type TomlChange } from "./toml-changes.ts";
import type { TomlValue } from "./toml-text.ts";

/** Clients recognize a sign-in by this name. */
const providerName = "managed:kimi-code";
const aliasPrefix = "kimi-code/";

export interface ManagedModel {
	readonly id: string;
	readonly maxContextSize: number;
	readonly capabilities: readonly ModelCapability[];
	readonly displayName: string | null;
}

export interface ManagedProvider {
	readonly baseUrl: string;
	readonly key: string;
	readonly models: readonly ManagedModel[];
}

export interface ManagedEdit {
	readonly text: string;
	/** Empty means none. */
	readonly defaultModel: string;
}

/** Removes models that the platform no longer offers. Throws ConfigurationError if the text cannot be edited. */
export async function addManagedProvider(text: string, source: string, managed: ManagedProvider): Promise<ManagedEdit> {
	const data = await parse(text, source);
	const { models } = managed;
	const aliases = models.map(({ id }) => aliasPrefix + id);
	const gone = managedAliases(data).filter((alias) => !aliases.includes(alias));
	const wanted = data["default_model"];
	const keepsDefault = typeof wanted === "string" && wanted !== "" && !gone.includes(wanted);
	const oauth = { storage: "file", key: managed.key };
	const provider = { type: "kimi", base_url: managed.baseUrl, api_key: "", oauth };
	const defaultModel = keepsDefault ? wanted : (aliases[0] ?? "");
	const changes: TomlChange[] = [
		...(keepsDefault ? [] : [{ path: ["default_model"], value: defaultModel }]),
		...gone.map((alias) => ({ path: ["models", alias], value: null })),
		...toChanges(["providers", providerName], provider),
		...models.flatMap(({ id, maxContextSize, capabilities, displayName }) =>
			toChanges(["models", aliasPrefix + id], {
				provider: providerName,
				model: id,
				max_context_size: maxContextSize,
				capabilities,
				display_name: displayName,
			}),
		),
	];
	return { text: await apply(text, source, data, changes), defaultModel };
}

/** If one of the user's own models uses the provider, only removes its sign-in. Throws like `addManagedProvider`. */
export async function removeManagedProvider(text: string, source: string): Promise<ManagedEdit> {
	const data = await parse(text, source);
	const aliases = managedAliases(data);
	const provider = tableIn(data, "providers")[providerName];
	const isUsed = Object.entries(tableIn(data, "models")).some(
		([alias, model]) => isRecord(model) && model["provider"] === providerName && !aliases.includes(alias),
	);
	const path = ["providers", providerName];
	const wanted = data["default_model"];
	const losesDefault = typeof wanted === "string" && aliases.includes(wanted);
	const changes: TomlChange[] = [
		...(losesDefault ? [{ path: ["default_model"], value: "" }] : []),
		...aliases.map((alias) => ({ path: ["models", alias], value: null })),
		...(provider === undefined ? [] : [{ path: isUsed ? [...path, "oauth"] : path, value: null }]),
	];
	const defaultModel = typeof wanted === "string" && !losesDefault ? wanted : "";
	return { text: await apply(text, source, data, changes), defaultModel };
}

function tableIn(data: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
	const table = data[key];
	return isRecord(table) ? table : {};
}

function managedAliases(data: Readonly<Record<string, unknown>>): readonly string[] {
	return Object.entries(tableIn(data, "models")).flatMap(([alias, model]) =>
		alias.startsWith(aliasPrefix) && isRecord(model) && model["provider"] === providerName ? alias : [],
	);
}

function toChanges(table: readonly string[], values: Readonly<Record<string, TomlValue>>): TomlChange[] {
	return Object.entries(values).map(([key, value]) => ({ path: [...table, key], value }));
}

async function parse(text: string, source: string): Promise<Record<string, unknown>> {
	const result = await parseToml(text.replace(/^\ufeff/, ""));
	if (!result.ok) throw new ConfigurationError("syntax", source, [{ key: "", reason: result.reason }]);
	return isRecord(result.value) ? result.value : {};
}

async function apply(
	text: string,
	source: string,
	data: Readonly<Record<string, unknown>>,
	changes: readonly TomlChange[],
): Promise<string> {
	const changed = await applyTomlChanges({ text, data }, changes);
	if (changed !== null) return changed.text;
	const reason = "write models and providers as tables with headings like [models.name], then try again";
	throw new ConfigurationError("uneditable", source, [{ key: "", reason }]);
}
