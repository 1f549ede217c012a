// The settings under the program's own names: camelCase data converted from a checked file. Defaults are in schema.ts,
// the choice of a model is in model-selection.ts.
import { type ContractVersion, defaultContract, parseContractVersion } from "../../base/contract-version.ts";
import type { ConfigurationFile, ModelCapability } from "./schema.ts";
import { scanToml, type TomlStatement } from "./toml-scan.ts";

type CamelCase<Key> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Key;
type CamelCased<Table> = { readonly [Key in keyof Table as CamelCase<Key>]: Table[Key] };

/** Renames the keys of one table, not of the tables in it: the user may have named those. */
function camelCased<Table extends object>(table: Table): CamelCased<Table> {
	const renamed = Object.entries(table).map(([key, value]) => [
		key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
		value,
	]);
	// The type states what the replacement does; the compiler cannot check a pattern.
	return Object.fromEntries(renamed) as CamelCased<Table>;
}

type TextsByName = Readonly<Record<string, string>>;

/** Where stored credentials of a provider are. */
export interface OauthReference {
	readonly storage: "file" | "keyring";
	readonly key: string;
}

/** What a model costs, for a million tokens of each kind. */
export interface ModelPrice {
	readonly currency: string;
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	readonly cacheCreation: number;
}

export interface ModelSettings {
	/** Key of `providers`. */
	readonly provider: string;
	/** The name sent to the API. */
	readonly model: string;
	/** Tokens. */
	readonly maxContextSize: number;
	/** As written; those implied by the model's name are added when it is selected. */
	readonly capabilities: readonly ModelCapability[];
	readonly displayName: string | null;
	/** Null when the settings do not say. */
	readonly price: ModelPrice | null;
}

export interface ProviderSettings {
	readonly type: ConfigurationFile["providers"][string]["type"];
	/** Base URL and key may be empty. */
	readonly baseUrl: string;
	readonly apiKey: string;
	/** The variable of the environment that the key comes from, which no other variable overrides. */
	readonly apiKeyVariable?: string;
	/** Data for the adapter; never put into the environment of a process. */
	readonly env: TextsByName;
	readonly customHeaders: TextsByName;
	/** Null when not set, which differs from empty. */
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

/** Budgets of a session and of each of its turns; null for none. Times in seconds. */
export type LimitSettings = CamelCased<ConfigurationFile["agentwire"]["limits"]>;
/** The budgets among the limits. */
export type BudgetSettings = Omit<
	LimitSettings,
	"loadedSessions" | "runningTurns" | "unloadAfter" | "requestsInFlight" | "outboxBytes"
>;

/** The history of files. Sizes in bytes, `patience` in seconds. */
export type RewindSettings = CamelCased<ConfigurationFile["agentwire"]["rewind"]>;

/** Our own table. Deadlines in seconds, null for none. */
export interface AgentwireSettings {
	readonly sync: "commit" | "off";
	readonly approvalTimeout: number | null;
	readonly questionTimeout: number | null;
	readonly clientToolTimeout: number | null;
	readonly contain: "auto" | "off";
	/** Seconds from the start of connecting that a turn waits for MCP servers; null for none. */
	readonly mcpStartTimeout: number | null;
	/** Subagents of one session that may run concurrently. */
	readonly parallelSubagents: number;
	/** Root of the sign-in server, and the program's client id there; empty for the platform's own. */
	readonly oauthHost: string;
	readonly oauthClientId: string;
	/** As written: empty, or a version of the protocol, not checked here. */
	readonly maxEvents: string;
	readonly typedParts: boolean;
	readonly formerNames: boolean;
	readonly exactApprovals: boolean;
	readonly limits: LimitSettings;
	readonly rewind: RewindSettings;
	/** Null where model requests are neither recorded nor replayed. */
	readonly cassette: CamelCased<NonNullable<ConfigurationFile["agentwire"]["cassette"]>> | null;
	/** Certificate authorities to trust in addition to the usual ones: absolute, or below `~`; null for none. */
	readonly caFile: string | null;
	/** Hosts, addresses and ranges that may be fetched although they are not public. */
	readonly fetchAllow: readonly string[];
	/**
	 * What happens to a call that needs an approval when no attached client answers approvals. Null when the settings do not
	 * say: it is rejected, unless whoever created the session has decided it, or the program serves clients that come and go.
	 */
	readonly unattended: "approve" | "reject" | "wait" | null;
	/** The version of Meerkat's contract that clients see. */
	readonly contract: ContractVersion;
}

/** What a file says about permissions. The patterns of its rules are not checked yet. */
export interface PermissionSettings {
	readonly rules: readonly (CamelCased<ConfigurationFile["permission"]["rules"][number]> & {
		/** Counted from 1; null when it is not known. */
		readonly line: number | null;
		/** What gave the rule if the file did not, such as a flag. */
		readonly from?: string;
	})[];
	/** Whether commands that only read are allowed without a rule; null where the file does not say. */
	readonly allowReadOnly: boolean | null;
	/** The modes that may not be switched on. */
	readonly forbidModes: readonly ("auto" | "yolo")[];
}

/** How commands are confined. Paths are absolute, or below `~`. */
export interface SandboxSettings {
	readonly mode: "off" | "workspace-write" | "read-only";
	/** Further directories in which commands may write. */
	readonly writable: readonly string[];
	/** Further files and directories that commands cannot read. */
	readonly hidden: readonly string[];
	/** Further paths that commands cannot change, although below a writable directory. */
	readonly readOnly: readonly string[];
	readonly network: "host" | "none" | "proxy";
	/** Hosts, addresses and ranges that commands reach through the proxy; empty for none. */
	readonly allowedDomains: readonly string[];
	/** Whether a confined command without network needs no approval. */
	readonly autoAllow: boolean;
	/** Whether MCP servers that are processes are confined too. */
	readonly mcpServers: boolean;
	/** Whether sessions whose creators decide what they may do are confined although `mode` is `off`. */
	readonly creators: boolean;
	readonly environment: {
		/** Names that are passed on although they would be dropped. */
		readonly pass: readonly string[];
		readonly set: TextsByName;
		/** Names, or beginnings of names with `*` at the end. */
		readonly drop: readonly string[];
	};
}

/** Where sessions are stored. Paths are absolute, or below `~`. */
export interface StoreSettings {
	readonly type: "disk" | "postgres";
	/** Of the database, as written; null for none. It may hold a password. */
	readonly url: string | null;
	/** The schema with the tables. */
	readonly schema: string;
	/** A file with the password; null for none. */
	readonly passwordFile: string | null;
	readonly tls: {
		/** Null when the settings do not say. */
		readonly mode: "disable" | "require" | "verify-ca" | "verify-full" | null;
		/** Certificate authorities to trust instead of the usual ones; null for none. */
		readonly caFile: string | null;
	};
	/** The most connections for statements. */
	readonly poolSize: number;
	/** Whom the sessions belong to that are made here, and what a process must have to run them. */
	readonly owner: string;
	readonly needs: readonly string[];
}

export interface Configuration {
	/** Empty or a key of `models`. */
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
	/** Milliseconds. */
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

/** `text` is that of a TOML file, in which the lines of rules are found; null for any other. */
export function toPermissionSettings(table: ConfigurationFile["permission"], text: string | null): PermissionSettings {
	const lines = text === null || table.rules.length === 0 ? [] : ruleLines(text);
	return {
		...camelCased(table),
		rules: table.rules.map((rule, index) => ({ ...camelCased(rule), line: lines[index] ?? null })),
	};
}

/** The lines of the `[[permission.rules]]`, counted from 1. Rules in another form have none. */
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

/** Converts the checked file to the program's names. `text` is its text if it is TOML. */
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
