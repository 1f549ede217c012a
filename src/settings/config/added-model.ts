// Adds a provider with its key and one of its models to the settings file's text, which people and other programs edit too.
import { isRecord } from "../../base/json.ts";
import { ConfigurationError } from "./configuration-error.ts";
import type { ModelCapability, ProviderType } from "./schema.ts";
import { parseToml } from "./syntax.ts";
import { applyTomlChanges } from "./toml-changes.ts";

export interface AddedModel {
	readonly provider: string;
	readonly type: ProviderType;
	readonly baseUrl: string;
	readonly apiKey: string;
	readonly alias: string;
	/** The name sent to the provider. */
	readonly model: string;
	/** Tokens. */
	readonly maxContextSize: number;
	readonly capabilities: readonly ModelCapability[];
	readonly isDefault?: boolean;
}

/** Becomes the default if there is none. Keeps other keys. Throws ConfigurationError if the text cannot be edited. */
export async function withAddedModel(text: string, source: string, added: AddedModel): Promise<string> {
	const parsed = await parseToml(text.replace(/^\ufeff/, ""));
	if (!parsed.ok) throw new ConfigurationError("syntax", source, [{ key: "", reason: parsed.reason }]);
	const data = isRecord(parsed.value) ? parsed.value : {};
	const hasDefault = typeof data["default_model"] === "string" && data["default_model"] !== "";
	const provider = ["providers", added.provider];
	const model = ["models", added.alias];
	const changed = await applyTomlChanges({ text, data }, [
		...(hasDefault && added.isDefault !== true ? [] : [{ path: ["default_model"], value: added.alias }]),
		{ path: [...provider, "type"], value: added.type },
		{ path: [...provider, "base_url"], value: added.baseUrl },
		{ path: [...provider, "api_key"], value: added.apiKey },
		{ path: [...model, "provider"], value: added.provider },
		{ path: [...model, "model"], value: added.model },
		{ path: [...model, "max_context_size"], value: added.maxContextSize },
		{ path: [...model, "capabilities"], value: added.capabilities },
	]);
	if (changed !== null) return changed.text;
	const reason = "write models and providers as tables with headings like [models.name], then try again";
	throw new ConfigurationError("uneditable", source, [{ key: "", reason }]);
}
