import { randomUUID } from "node:crypto";
import path from "node:path";
import * as v from "valibot";
import type { Clock } from "../../base/clock.ts";
import { fetchFailureText, isSystemError, KernelError } from "../../base/errors.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { beginning } from "../../base/text/well-formed.ts";
import type { ModelEntry, OfferedModel, ProviderEntry, Setup } from "../../frontends/gateway/setup.ts";
import type { Account } from "../../frontends/shared/dialect.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import { withLock } from "../../ports/files/path-lock.ts";
import type { Files } from "../../ports/files/port.ts";
import type { Network } from "../../ports/network/network.ts";
import { type AddedModel, withAddedModel } from "../../settings/config/added-model.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { ConfigurationError } from "../../settings/config/configuration-error.ts";
import type { ModelCapability, ProviderType } from "../../settings/config/schema.ts";
import { textToChange } from "../../settings/config/settings-text.ts";
import { toAddress } from "../../settings/credentials/exchange.ts";
import { demoInput, demoProject, demoScripts } from "./demo.ts";

export interface SetupParts {
	readonly files: Files;
	readonly clock: Clock;
	readonly shareDir: string;
	readonly network: Pick<Network, "fetch">;
	readonly account: Account;
	reload(): Promise<void>;
	/** Adds to the settings of this process only. */
	extend(added: Pick<Configuration, "models" | "providers">): void;
}

interface Provider {
	readonly type: ProviderType;
	/** Null if the user must enter it. */
	readonly baseUrl: string | null;
	readonly listPath: string;
	readonly capabilities: readonly ModelCapability[];
	headers(key: string): Readonly<Record<string, string>>;
}

const bearer = (key: string): Readonly<Record<string, string>> =>
	key === "" ? {} : { authorization: `Bearer ${key}` };

const providers: Readonly<Record<ProviderEntry["provider"], Provider>> = {
	moonshot: {
		type: "kimi",
		baseUrl: "https://api.moonshot.ai/v1",
		listPath: "/models",
		capabilities: [],
		headers: bearer,
	},
	anthropic: {
		type: "anthropic",
		baseUrl: "https://api.anthropic.com",
		listPath: "/v1/models",
		capabilities: ["image_in", "thinking"],
		headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
	},
	openai: {
		type: "openai_responses",
		baseUrl: "https://api.openai.com/v1",
		listPath: "/models",
		capabilities: ["image_in", "thinking"],
		headers: bearer,
	},
	gemini: {
		type: "gemini",
		baseUrl: "https://generativelanguage.googleapis.com",
		listPath: "/v1beta/models",
		capabilities: ["image_in", "thinking"],
		headers: (key) => ({ "x-goog-api-key": key }),
	},
	compatible: { type: "openai_legacy", baseUrl: null, listPath: "/models", capabilities: [], headers: bearer },
};

/** Timeout in milliseconds and size limit in bytes for the model list. */
const listTime = 15_000;
const listSize = 4 * 1024 * 1024;
const offeredLimit = 300;

const size = v.fallback(v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1000))), null);
const offeredSchema = v.object({
	id: v.fallback(v.string(), ""),
	name: v.fallback(v.string(), ""),
	display_name: v.fallback(v.string(), ""),
	displayName: v.fallback(v.string(), ""),
	context_length: size,
	max_input_tokens: size,
	inputTokenLimit: size,
});
const listSchema = v.object({
	data: v.fallback(v.array(v.unknown()), []),
	models: v.fallback(v.array(v.unknown()), []),
});

export function createSetup(parts: SetupParts): Setup {
	return {
		offered: (entry) => listOffered(entry, parts),
		add: (entry) => addModel(entry, parts),
		signIn: (show, signal) => parts.account.signIn(show, signal),
		createDemo: () => createDemo(parts),
	};
}

/** Returns the API address. Fails `invalid-input` for an invalid one. */
function baseOf({ provider, baseUrl }: ProviderEntry): string {
	const base = baseUrl ?? providers[provider].baseUrl;
	if (base === null)
		throw new KernelError("invalid-input", "Give the address of the API, such as https://models.example.com/v1.");
	if (toAddress(base, "") !== null) return base.replace(/\/+$/, "");
	throw new KernelError(
		"invalid-input",
		`The address of the API must begin with http:// or https:// and have no password: ${withoutPassword(base)}`,
	);
}

function withoutPassword(address: string): string {
	return address.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, "$1[redacted]@");
}

/** Asking the provider detects a wrong key at once. Fails with a user-readable message. */
export async function listOffered(
	entry: ProviderEntry,
	{ network }: Pick<SetupParts, "network">,
): Promise<readonly OfferedModel[]> {
	const { listPath, headers } = providers[entry.provider];
	const url = toAddress(baseOf(entry), listPath);
	if (url === null) throw new KernelError("invalid-input", "The address of the API is not a URL.");
	const fail = (why: string) =>
		new KernelError("provider-failed", hidden(`Cannot list the models: ${url.host} ${why}.`, entry.key));
	let status: number;
	let body: unknown;
	try {
		const signal = AbortSignal.timeout(listTime);
		const sent = { accept: "application/json", ...headers(entry.key) };
		// A redirect would send the key to an address chosen by the response.
		const response = await network.fetch(url, { headers: sent, signal, redirect: "manual" });
		status = response.status;
		body = await readBounded(response);
	} catch (thrown) {
		throw fail(`did not answer (${fetchFailureText(thrown)})`);
	}
	if (status === 401 || status === 403) throw fail(`rejected the key (HTTP ${status})`);
	if (status !== 200) throw fail(`answered with HTTP ${status}`);
	const list = v.safeParse(listSchema, body);
	const found = list.success ? [...list.output.data, ...list.output.models].flatMap(toOffered) : [];
	if (found.length === 0) throw fail("lists no models");
	return found.slice(0, offeredLimit);
}

async function readBounded(response: Response): Promise<unknown> {
	const pieces: Uint8Array[] = [];
	let length = 0;
	const reader = response.body?.getReader();
	for (;;) {
		const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
		if (done || value === undefined) break;
		pieces.push(value);
		length += value.length;
		if (length > listSize) {
			await reader?.cancel();
			return null;
		}
	}
	try {
		return JSON.parse(Buffer.concat(pieces).toString("utf8"));
	} catch {
		return null;
	}
}

function toOffered(value: unknown): OfferedModel[] {
	const parsed = v.safeParse(offeredSchema, value);
	if (!parsed.success) return [];
	const { id, name, display_name, displayName, context_length, max_input_tokens, inputTokenLimit } = parsed.output;
	const own = (id === "" ? name.replace(/^models\//, "") : id).trim();
	if (own === "" || own.length > 200 || /\p{Cc}/u.test(own)) return [];
	const shown = display_name === "" ? displayName : display_name;
	const contextSize = context_length ?? max_input_tokens ?? inputTokenLimit;
	return [{ id: own, name: shown === "" ? own : beginning(shown, 200), contextSize }];
}

/** Returns its alias. `isDefault` makes it the default; otherwise only if there is none. */
export async function addModel(
	entry: ModelEntry,
	{ files, clock, shareDir, reload }: Pick<SetupParts, "files" | "clock" | "shareDir" | "reload">,
	isDefault = false,
): Promise<string> {
	const { type, capabilities } = providers[entry.provider];
	const baseUrl = baseOf(entry);
	const provider = entry.provider === "compatible" ? new URL(baseUrl).host : entry.provider;
	const added: AddedModel = {
		provider,
		type,
		baseUrl,
		apiKey: entry.key,
		alias: `${provider}/${entry.model}`,
		model: entry.model,
		maxContextSize: entry.contextSize,
		capabilities,
		isDefault,
	};
	const file = path.join(shareDir, "config.toml");
	try {
		await files.makeDirectory(shareDir);
		await withLock({ files, clock }, file, async () => {
			const text = textToChange((await files.read(file)) ?? Buffer.alloc(0), file);
			await files.replace(file, await withAddedModel(text, file, added), { mode: 0o600, sync: true });
		});
		await reload();
	} catch (thrown) {
		if (!(thrown instanceof ConfigurationError) && !isSystemError(thrown)) throw thrown;
		const code = isSystemError(thrown) ? "storage-failed" : "invalid-input";
		throw new KernelError(code, hidden(fileFailureText(thrown), entry.key), { cause: thrown });
	}
	return added.alias;
}

/** Removes the key from a text, because providers and parsers may quote it. */
function hidden(text: string, key: string): string {
	return redactSecrets(key === "" ? text : text.replaceAll(key, "…"));
}

async function createDemo({ files, shareDir, extend }: SetupParts) {
	const directory = path.join(shareDir, "demo", randomUUID().slice(0, 8));
	const workDir = path.join(directory, "basket");
	const scripts = path.join(directory, "scripts.json");
	await files.makeDirectory(workDir);
	for (const [name, content] of Object.entries(demoProject)) await files.replace(path.join(workDir, name), content);
	await files.replace(scripts, JSON.stringify(demoScripts));
	const name = "demo";
	extend({
		providers: {
			[name]: {
				type: "_scripted_echo",
				baseUrl: "",
				apiKey: "",
				env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scripts },
				customHeaders: {},
				reasoningKey: null,
				oauth: null,
			},
		},
		models: {
			[name]: {
				provider: name,
				model: "scripted",
				maxContextSize: 100_000,
				capabilities: [],
				displayName: "Demo, a scripted model",
				price: null,
			},
		},
	});
	return { workDir, model: name, input: demoInput };
}
