// The validated settings under camelCase names. schema.ts has the defaults.

import type { ModelPrice } from "../../api/models.ts";
import { type ContractVersion, defaultContract, parseContractVersion } from "../../base/contract-version.ts";
import type { ConfigurationFile, ModelCapability } from "./schema.ts";
import { scanToml, type TomlStatement } from "./toml-scan.ts";

type CamelCase<Key> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Key;
type CamelCased<Table> = { readonly [Key in keyof Table as CamelCase<Key>]: Table[Key] };

function camelCased<Table extends object>(table: Table): CamelCased<Table> {
	const renamed = Object.entries(table).map(([key, value]) => [
		key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
		value,
	]);
	// The compiler cannot derive the type of the replacement.
	return Object.fromEntries(renamed) as CamelCased<Table>;
}

type TextsByName = Readonly<Record<string, string>>;

export interface OauthReference {
	readonly storage: "file" | "keyring";
	readonly key: string;
}

export interface ModelSettings {
	readonly provider: string;
	readonly model: string;
	readonly maxContextSize: number;
	/** As configured; selection adds those implied by the model name. */
	readonly capabilities: readonly ModelCapability[];
	readonly displayName: string | null;
	readonly price: ModelPrice | null;
}

export interface ProviderSettings {
	readonly type: ConfigurationFile["providers"][string]["type"];
	readonly baseUrl: string;
	readonly apiKey: string;
	/** The environment variable that supplied the key; no other variable overrides it. */
	readonly apiKeyVariable?: string;
	/** Data for the adapter; never passed to a process environment. */
	readonly env: TextsByName;
	readonly customHeaders: TextsByName;
	/** Null means unset, which differs from empty. */
	readonly reasoningKey: string | null;
	readonly oauth: OauthReference | null;
}

export interface ServiceSettings {
	readonly baseUrl: string;
	readonly apiKey: string;
	readonly customHeaders: TextsByName;
	readonly oauth: OauthReference | null;
}

/** Intervals and periods in milliseconds, `…TimeoutS` and `…CeilingS` in seconds. */
export type BackgroundSettings = CamelCased<ConfigurationFile["background"]>;
export type LoopControl = CamelCased<ConfigurationFile["loop_control"]>;
/** `timeout` in seconds. */
export type HookSettings = CamelCased<ConfigurationFile["hooks"][number]>;

export type LimitSettings = CamelCased<ConfigurationFile["agentwire"]["limits"]>;
export type BudgetSettings = Omit<
	LimitSettings,
	"loadedSessions" | "runningTurns" | "unloadAfter" | "requestsInFlight" | "outboxBytes"
>;

/** File history. Sizes in bytes, `patience` in seconds. */
export type RewindSettings = CamelCased<ConfigurationFile["agentwire"]["rewind"]>;

/** The program's own table. Deadlines in seconds, null for none. */
export interface AgentwireSettings {
	readonly sync: "commit" | "off";
	readonly approvalTimeout: number | null;
	readonly questionTimeout: number | null;
	readonly clientToolTimeout: number | null;
	readonly contain: "auto" | "off";
	/** Seconds that a turn waits for MCP servers, from the start of connecting; null for none. */
	readonly mcpStartTimeout: number | null;
	readonly parallelSubagents: number;
	/** The root URL of the sign-in server, and the program's client id there; empty for the platform's defaults. */
	readonly oauthHost: string;
	readonly oauthClientId: string;
	readonly maxEvents: string;
	readonly typedParts: boolean;
	readonly formerNames: boolean;
	readonly exactApprovals: boolean;
	/** Who names a session after its first answered prompt. */
	readonly titles: "prompt" | "model";
	readonly limits: LimitSettings;
	readonly rewind: RewindSettings;
	/** Null if model requests are neither recorded nor replayed. */
	readonly cassette: CamelCased<NonNullable<ConfigurationFile["agentwire"]["cassette"]>> | null;
	/** Additional certificate authorities: an absolute path, or below `~`; null for none. */
	readonly caFile: string | null;
	/** Hosts, addresses and ranges that may be fetched although they are not public. */
	readonly fetchAllow: readonly string[];
	/** Calls that need approval without a client that answers. Null: rejected, unless the creator or host decided. */
	readonly unattended: "approve" | "reject" | "wait" | null;
	readonly contract: ContractVersion;
}

export interface PermissionSettings {
	readonly rules: readonly (CamelCased<ConfigurationFile["permission"]["rules"][number]> & {
		/** Starts at 1; null if unknown. */
		readonly line: number | null;
		readonly from?: string;
	})[];
	/** Whether read-only commands are allowed without a rule; null if not configured. */
	readonly allowReadOnly: boolean | null;
	readonly forbidModes: readonly ("auto" | "yolo")[];
}

/** The command sandbox. Paths are absolute, or below `~`. */
export interface SandboxSettings {
	readonly mode: "off" | "workspace-write" | "read-only";
	/** Additional writable directories. */
	readonly writable: readonly string[];
	/** Additional files and directories hidden from commands. */
	readonly hidden: readonly string[];
	/** Additional read-only paths, even below a writable directory. */
	readonly readOnly: readonly string[];
	readonly network: "host" | "none" | "proxy";
	/** Hosts, addresses and ranges that commands may reach through the proxy. */
	readonly allowedDomains: readonly string[];
	/** Whether a sandboxed command without network needs no approval. */
	readonly autoAllow: boolean;
	/** Whether the sandbox also applies to local MCP servers. */
	readonly mcpServers: boolean;
	/** Whether to sandbox sessions whose creators define permissions, even if `mode` is `off`. */
	readonly creators: boolean;
	readonly environment: {
		/** Variables passed on that would otherwise be dropped. */
		readonly pass: readonly string[];
		readonly set: TextsByName;
		/** Variable names, or prefixes ending in `*`. */
		readonly drop: readonly string[];
	};
}

export interface StoreSettings {
	readonly type: "disk" | "postgres";
	/** The database URL as configured, which may contain a password; null for none. */
	readonly url: string | null;
	readonly schema: string;
	readonly passwordFile: string | null;
	readonly tls: {
		readonly mode: "disable" | "require" | "verify-ca" | "verify-full" | null;
		/** Certificate authorities that replace the system's; null for none. */
		readonly caFile: string | null;
	};
	/** Maximum connections for statements. */
	readonly poolSize: number;
	/** The owner of sessions created here; a process needs the same owner to run them. */
	readonly owner: string;
	readonly needs: readonly string[];
}

export interface Configuration {
	/** Empty, or a key of `models`. */
	readonly defaultModel: string;
	readonly defaultThinking: boolean;
	readonly defaultYolo: boolean;
	readonly skipAfkPromptInjection: boolean;
	readonly defaultPlanMode: boolean;
	readonly defaultEditor: string;
	readonly theme: "dark" | "light";
	readonly showThinkingStream: boolean;
	readonly mergeAllAvailableSkills: boolean;
	readonly extraSkillDirs: readonly string[];
	readonly telemetry: boolean;
	readonly models: Readonly<Record<string, ModelSettings>>;
	readonly providers: Readonly<Record<string, ProviderSettings>>;
	readonly loopControl: LoopControl;
	readonly background: BackgroundSettings;
	readonly notifications: { readonly claimStaleAfterMs: number };
	readonly services: {
		readonly moonshotSearch: ServiceSettings | null;
		readonly moonshotFetch: ServiceSettings | null;
	};
	readonly mcp: { readonly client: { readonly toolCallTimeoutMs: number } };
	readonly hooks: readonly HookSettings[];
	readonly permission: PermissionSettings;
	readonly agentwire: AgentwireSettings;
	readonly sandbox: SandboxSettings;
	readonly store: StoreSettings;
}

function mapValues<From, To>(table: Record<string, From>, convert: (value: From) => To): Record<string, To> {
	return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, convert(value)]));
}

function toService(service: ConfigurationFile["services"]["moonshot_search"]): ServiceSettings | null {
	return service === null ? null : { ...camelCased(service), customHeaders: service.custom_headers ?? {} };
}

const orNone = (seconds: number): number | null => (seconds === 0 ? null : seconds);

function toSandbox({ env, ...others }: ConfigurationFile["sandbox"]): SandboxSettings {
	return { ...camelCased(others), environment: env };
}

function toStore({ url, password_file, tls, ...others }: ConfigurationFile["store"]): StoreSettings {
	return {
		...camelCased(others),
		url: url || null,
		passwordFile: password_file || null,
		tls: { mode: tls.mode ?? null, caFile: tls.ca_file || null },
	};
}

/** `text` is the TOML source, used to find rule line numbers; null for other formats. */
export function toPermissionSettings(table: ConfigurationFile["permission"], text: string | null): PermissionSettings {
	const lines = text === null || table.rules.length === 0 ? [] : ruleLines(text);
	return {
		...camelCased(table),
		rules: table.rules.map((rule, index) => ({ ...camelCased(rule), line: lines[index] ?? null })),
	};
}

/** The line numbers of `[[permission.rules]]`, starting at 1. Rules in another form have none. */
function ruleLines(text: string): readonly number[] {
	const isRule = ({ kind, path }: TomlStatement) => kind === "list-item" && path.join(".") === "permission.rules";
	let line = 1;
	let position = 0;
	return scanToml(text)
		.filter(isRule)
		.map(({ start }) => {
			for (let next = text.indexOf("\n", position); next !== -1 && next < start; next = text.indexOf("\n", position)) {
				line += 1;
				position = next + 1;
			}
			return line;
		});
}

/** Converts the validated file to the program's names. `text` is the TOML source, if any. */
export function toConfiguration(file: ConfigurationFile, text: string | null = null): Configuration {
	const {
		models,
		providers,
		loop_control,
		background,
		notifications,
		services,
		mcp,
		hooks,
		permission,
		agentwire,
		sandbox,
		store,
		...scalars
	} = file;
	return {
		...camelCased(scalars),
		models: mapValues(models, (model) => ({
			...camelCased(model),
			capabilities: model.capabilities ?? [],
			price: model.price === null ? null : camelCased(model.price),
		})),
		providers: mapValues(providers, (provider) => ({
			...camelCased(provider),
			env: provider.env ?? {},
			customHeaders: provider.custom_headers ?? {},
		})),
		loopControl: camelCased(loop_control),
		background: camelCased(background),
		notifications: camelCased(notifications),
		services: {
			moonshotSearch: toService(services.moonshot_search),
			moonshotFetch: toService(services.moonshot_fetch),
		},
		mcp: { client: camelCased(mcp.client) },
		hooks: hooks.map((hook) => camelCased(hook)),
		permission: toPermissionSettings(permission, text),
		agentwire: {
			sync: agentwire.sync,
			approvalTimeout: orNone(agentwire.approval_timeout),
			questionTimeout: orNone(agentwire.question_timeout),
			clientToolTimeout: orNone(agentwire.client_tool_timeout),
			contain: agentwire.contain,
			mcpStartTimeout: orNone(agentwire.mcp_start_timeout),
			parallelSubagents: agentwire.parallel_subagents,
			oauthHost: agentwire.oauth_host,
			oauthClientId: agentwire.oauth_client_id,
			maxEvents: agentwire.max_events,
			typedParts: agentwire.typed_parts,
			formerNames: agentwire.former_names,
			exactApprovals: agentwire.exact_approvals,
			titles: agentwire.titles,
			limits: camelCased(agentwire.limits),
			cassette: agentwire.cassette === null ? null : camelCased(agentwire.cassette),
			rewind: camelCased(agentwire.rewind),
			caFile: agentwire.ca_file || null,
			fetchAllow: agentwire.fetch_allow,
			unattended: agentwire.unattended ?? null,
			contract: parseContractVersion(agentwire.contract) ?? defaultContract,
		},
		sandbox: toSandbox(sandbox),
		store: toStore(store),
	};
}
