// One directory per plugin, with a manifest. core/tools/plugin-tool.ts runs their tools.
import path from "node:path";
import * as v from "valibot";
import { errorText, systemErrorCode } from "../../base/errors.ts";
import { isNestedWithin, isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";

export const manifestName = "plugin.json";

/** Settings of the default model's provider that a plugin may receive. */
export const hostValueNames = ["api_key", "base_url"] as const;
export type HostValueName = (typeof hostValueNames)[number];
/** The available values; an empty one counts as missing. */
export type HostValues = Readonly<Record<HostValueName, string>>;

export interface PluginTool {
	readonly name: string;
	readonly description: string;
	readonly command: readonly [string, ...string[]];
	readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Plugin {
	readonly name: string;
	readonly version: string;
	readonly description: string;
	readonly directory: string;
	/** Relative to the directory and within it; null if none. */
	readonly configFile: string | null;
	/** The value for each dotted key of the config file. Empty without a config file. */
	readonly inject: Readonly<Record<string, HostValueName>>;
	readonly tools: readonly PluginTool[];
	/** The program that installed it; null if installed by hand. */
	readonly runtime: { readonly host: string; readonly hostVersion: string } | null;
}

/** `reason` lists the manifest's faults, each with its key. */
export type PluginReading =
	| { readonly ok: true; readonly plugin: Plugin }
	| { readonly ok: false; readonly reason: string };

/** The plugin's directory name; a single word on the command line. */
const plainName = /^(?![.-])[^\s\p{Cc}/\\]+$/u;
/** Maximum bytes. */
const nameLimit = 200;
/** A function name that every provider accepts. */
const toolName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const keySegment = /^[A-Za-z0-9_-]+$/;
const depthLimit = 100;
const sizeLimit = 256 * 1024;
const readAtOnce = 16;
const shownProblems = 20;

const text = v.string("must be a string");
const filled = v.pipe(text, v.nonEmpty("must not be empty"));
const object = v.custom<Record<string, unknown>>(isRecord, "must be an object");
const fields = <Entries extends v.ObjectEntries>(entries: Entries) => v.pipe(object, v.object(entries));

const isInnerPath = (file: string) =>
	!path.isAbsolute(file) && !/[\\\0]/.test(file) && !/^\.{0,2}$|^\.\.\//.test(path.normalize(file));
const isDottedKey = (key: string) =>
	key.split(".").every((segment) => keySegment.test(segment) && segment !== "__proto__");

const toolSchema = fields({
	name: v.pipe(text, v.regex(toolName, "must be 1 to 64 letters, digits, _ and -, and begin with a letter or _")),
	description: v.nullish(text, ""),
	command: v.pipe(
		v.array(v.pipe(text, v.excludes("\0", "must not contain a null character")), "must be a list of strings"),
		v.minLength(1, "must not be empty"),
		v.custom<[string, ...string[]]>(
			(words) => Array.isArray(words) && words[0] !== "",
			"must begin with the name of a program",
		),
	),
	parameters: v.optional(object, { type: "object", properties: {} }),
});

const manifestSchema = v.pipe(
	fields({
		name: v.pipe(
			text,
			v.regex(plainName, "must be a plain file name without spaces and slashes, and not begin with . or -"),
			v.maxBytes(nameLimit, `must have at most ${nameLimit} bytes`),
		),
		version: filled,
		description: v.nullish(text, ""),
		config_file: v.nullish(v.pipe(filled, v.check(isInnerPath, "must be the path of a file in the plugin"))),
		inject: v.optional(
			v.pipe(
				object,
				v.record(
					v.pipe(v.string(), v.check(isDottedKey, "is not a key: names of letters, digits, _ and - with dots between")),
					v.picklist(hostValueNames, `must be ${hostValueNames.map((name) => `"${name}"`).join(" or ")}`),
				),
			),
			{},
		),
		tools: v.optional(v.array(toolSchema, "must be a list of tools"), []),
		runtime: v.nullish(fields({ host: text, host_version: text })),
	}),
	v.forward(
		v.partialCheck(
			[["inject"], ["config_file"]],
			({ inject, config_file: file }) => Object.keys(inject).length === 0 || typeof file === "string",
			"needs config_file, the file that the values are for",
		),
		["inject"],
	),
);

/** Reads the manifest in a plugin directory (absolute path). Never fails: problems become the reason. */
export async function readPlugin(directory: string, files: Files): Promise<PluginReading> {
	return (await readIfThere(directory, files)) ?? { ok: false, reason: "there is no such file" };
}

async function readIfThere(directory: string, files: Files): Promise<PluginReading | null> {
	let value: unknown;
	try {
		const bytes = await files.readRange(path.join(directory, manifestName), 0, sizeLimit + 1);
		if (bytes === null) return null;
		if (bytes.length > sizeLimit) return { ok: false, reason: `has more than ${sizeLimit} bytes` };
		value = JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
	} catch (thrown) {
		const what = thrown instanceof SyntaxError ? "is not JSON" : "cannot be read";
		return { ok: false, reason: `${what}: ${errorText(thrown)}` };
	}
	if (!isNestedWithin(value, depthLimit)) return { ok: false, reason: "its values nest too deeply" };
	const checked = v.safeParse(manifestSchema, value);
	return checked.success
		? { ok: true, plugin: toPlugin(checked.output, directory) }
		: { ok: false, reason: checked.issues.slice(0, shownProblems).map(toProblem).join("; ") };
}

function toPlugin(manifest: v.InferOutput<typeof manifestSchema>, directory: string): Plugin {
	const { config_file: configFile, runtime, ...others } = manifest;
	return {
		...others,
		directory,
		configFile: configFile ?? null,
		runtime: runtime ? { host: runtime.host, hostVersion: runtime.host_version } : null,
	};
}

function toProblem(issue: v.BaseIssue<unknown>): string {
	const key = v.getDotPath(issue) ?? "the manifest";
	return issue.input === undefined ? `${key}: is required` : `${key}: ${issue.message}`;
}

/** The values that a plugin requests, under its own keys, without missing ones. */
export function chooseInjected(inject: Plugin["inject"], values: HostValues): Record<string, string> {
	const chosen = Object.entries(inject).map(([key, name]): [string, string] => [key, values[name]]);
	return Object.fromEntries(chosen.filter(([, value]) => value !== ""));
}

export interface FoundPlugin {
	readonly directory: string;
	readonly reading: PluginReading;
}

/** Directories with a manifest, valid or not, sorted by name. Ignores hidden ones, where installations are staged. */
export async function findPlugins(files: Files, shareDir: string): Promise<readonly FoundPlugin[]> {
	const root = path.join(shareDir, "plugins");
	const names = await listDirectories(root, files);
	const read = async (name: string) => {
		const directory = path.join(root, name);
		return { directory, reading: await readIfThere(directory, files) };
	};
	const found = [];
	names.sort();
	for (let start = 0; start < names.length; start += readAtOnce) {
		found.push(...(await Promise.all(names.slice(start, start + readAtOnce).map(read))));
	}
	return found.flatMap(({ directory, reading }) => (reading === null ? [] : [{ directory, reading }]));
}

async function listDirectories(root: string, files: Files): Promise<string[]> {
	try {
		const entries = await files.list(root);
		return entries.flatMap(({ name, kind }) => (kind === "directory" && !name.startsWith(".") ? [name] : []));
	} catch (thrown) {
		if (["ENOENT", "ENOTDIR"].includes(systemErrorCode(thrown) ?? "")) return [];
		throw thrown;
	}
}

export interface DiscoverySettings {
	readonly files: Files;
	readonly shareDir: string;
	readonly log: Log;
}

export async function discoverPlugins({ files, shareDir, log }: DiscoverySettings): Promise<readonly Plugin[]> {
	try {
		const found = await findPlugins(files, shareDir);
		return found
			.flatMap(({ directory, reading }) => {
				if (reading.ok) return [reading.plugin];
				const file = path.join(directory, manifestName);
				log.warn("A plugin cannot be used and is left out.", { file, reason: reading.reason });
				return [];
			})
			.sort(byName);
	} catch (thrown) {
		log.warn("The plugins cannot be listed.", { path: path.join(shareDir, "plugins"), reason: errorText(thrown) });
		return [];
	}
}

const byName = (one: Plugin, other: Plugin) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
