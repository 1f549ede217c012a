import path from "node:path";
import type { LocalMcpServer } from "../../api/mcp-servers.ts";
import { modelAdvice } from "../../api/values/model-advice.ts";
import { never } from "../../base/abort.ts";
import { errorText } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { shellWord } from "../../base/text/quoting.ts";
import { oneLine } from "../../base/text/sentence.ts";
import type { Installation } from "../../host/installation.ts";
import { managedPermissionsFile, type Place } from "../../host/place.ts";
import { findRuleFiles, projectPermissionsFile, readRuleFiles } from "../../kernel/compose/permissions.ts";
import type { Files } from "../../ports/files/port.ts";
import { othersMode, privateBelow } from "../../ports/files/private-paths.ts";
import { whyUnwritable } from "../../ports/files/writable-directory.ts";
import { toNetworkFailure } from "../../ports/network/network-error.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import type { Processes } from "../../ports/processes/port.ts";
import { readMcpServers } from "../../settings/config/mcp-servers.ts";
import { type ModelSelection, selectModel } from "../../settings/config/model-selection.ts";
import { readText } from "../../settings/config/settings-text.ts";
import { parseToml } from "../../settings/config/syntax.ts";
import { unknownKeys } from "../../settings/config/unknown-keys.ts";
import type { RuntimeInfo } from "../installation/runtime.ts";
import { readStartSettings, type StartSettings, type StartSource } from "../model-source.ts";
import { withScriptedModel } from "../program/scripted-settings.ts";
import { describeSandbox } from "../sandbox-status.ts";
import { readStoreStatus } from "../store/store-status.ts";

export interface Finding {
	/** `warning`: the program works, but with restrictions or not safely. */
	readonly status: "ok" | "warning" | "failed";
	readonly found: string;
	readonly advice: string | null;
}

export interface CheckPlace {
	readonly place: Place;
	readonly environment: Readonly<Record<string, string>>;
	readonly shareDir: string;
	readonly files: Files;
	readonly processes: Processes;
	readonly fetch: Fetch;
	readonly runtime: RuntimeInfo;
	readonly findRipgrep: Installation["findRipgrep"];
	readonly settings: StartSource;
	readonly model: string | null;
	readonly mcpFiles: readonly string[];
	readonly mcpTexts: readonly string[];
}

const nameOf = ({ settings }: CheckPlace) => (typeof settings === "string" ? settings : "--config");

interface Check {
	readonly name: string;
	check(given: CheckPlace): Promise<Finding>;
}

const ok = (found: string): Finding => ({ status: "ok", found, advice: null });
const warning = (found: string, advice: string): Finding => ({ status: "warning", found, advice });
const failed = (found: string, advice: string): Finding => ({ status: "failed", found, advice });

/** Milliseconds to wait for a server or a program. */
const patience = 5000;

export const checks: readonly Check[] = [
	{ name: "node", check: async ({ runtime }) => checkRuntime(runtime) },
	{ name: "configuration", check: checkConfiguration },
	{ name: "mcp", check: checkMcpServers },
	{ name: "rules", check: checkRules },
	{ name: "model", check: checkModel },
	{ name: "sandbox", check: checkSandbox },
	{ name: "ripgrep", check: checkRipgrep },
	{ name: "store", check: checkStore },
	{ name: "sessions", check: checkSessions },
	{ name: "permissions", check: checkPermissions },
];

/** The one-file program contains the Bun version it was tested with. */
export function checkRuntime({ name, version }: RuntimeInfo): Finding {
	if (name === "bun") return ok(`Bun ${version}, in this executable`);
	const [major = 0, minor = 0] = version.split(".").map(Number);
	if (major > 20 || (major === 20 && minor >= 19)) return ok(`Node ${version}`);
	return failed(`Node ${version} is too old.`, "Install Node 20.19 or later.");
}

async function readSettings(given: CheckPlace): Promise<StartSettings | Finding> {
	const { settings, environment, files, model } = given;
	try {
		const read = await readStartSettings(settings, environment, files);
		return { ...read, configuration: withScriptedModel(read.configuration, model) };
	} catch (thrown) {
		return failed(onOneLine(thrown), `Fix ${nameOf(given)}; docs/reference/configuration.md lists the settings.`);
	}
}

function onOneLine(thrown: unknown): string {
	const [title = "", ...problems] = errorText(thrown).split("\n");
	return oneLine([title, problems.map((problem) => problem.trim()).join("; ")].join(" ").trim());
}

const isFinding = (value: StartSettings | Finding): value is Finding => "found" in value;

async function checkConfiguration(given: CheckPlace): Promise<Finding> {
	const file = nameOf(given);
	const settings = await readSettings(given);
	if (isFinding(settings)) return settings;
	const { isWritten, chosen } = settings;
	const ignored = isWritten && typeof given.settings === "string" ? await readIgnoredKeys(file, given.files) : [];
	if (ignored.length > 0) {
		return warning(
			`${file} has keys that are ignored: ${ignored.join(", ")}.`,
			"Check the spelling; docs/reference/configuration.md lists the settings.",
		);
	}
	if (chosen !== null) return ok(`Using the key in ${chosen.variable}: ${file} names no provider.`);
	if (!isWritten) return warning(`There is no ${file}.`, modelAdvice);
	return ok(file);
}

/** For a file that was already read. */
async function readIgnoredKeys(file: string, files: Files): Promise<readonly string[]> {
	const parsed = await parseToml((await readText(files, file)) ?? "");
	return parsed.ok ? unknownKeys(parsed.value).map(redactSecrets) : [];
}

/** Whether a program entry without `cwd` seems to contain a project-relative path. */
function namesRelativePath({ command, arguments: words, workDir }: LocalMcpServer): boolean {
	const isRelative = (word: string) =>
		/^\.\.?(?:\/|$)/.test(word) || /^[\w.-]+\/[\w./-]+\.(?:[cm]?[jt]s|py|sh|rb|jar|json)$/.test(word);
	const isProgramPath = command.includes("/") && !command.startsWith("/");
	return workDir === null && (isProgramPath || words.some(isRelative));
}

/** Does not start the servers. */
async function checkMcpServers({ files, shareDir, mcpFiles, mcpTexts }: CheckPlace): Promise<Finding> {
	try {
		const servers = await readMcpServers({ files: mcpFiles, texts: mcpTexts, shareDir }, files, silentLog);
		if (servers.length === 0) return ok("No MCP servers are configured.");
		const relative = servers.filter((server) => server.kind === "local" && namesRelativePath(server));
		if (relative.length > 0) {
			return warning(
				`MCP servers with paths relative to ${shareDir}: ${relative.map(({ name }) => name).join(", ")}`,
				"Use absolute paths or set 'cwd'; docs/guides/mcp.md shows how an entry refers to the project.",
			);
		}
		return ok(`MCP servers (not started for this check): ${servers.map(({ name }) => name).join(", ")}`);
	} catch (thrown) {
		const file = path.join(shareDir, "mcp.json");
		return failed(oneLine(errorText(thrown)), `Fix ${file}, or move it away; docs/guides/mcp.md describes the format.`);
	}
}

async function checkRules(given: CheckPlace): Promise<Finding> {
	const { files, shareDir, place } = given;
	const settings = await readSettings(given);
	if (isFinding(settings))
		return failed("Not checked, because the settings cannot be read.", "See 'configuration' above.");
	const { home, currentDir } = place;
	const settingsFile = typeof given.settings === "string" ? given.settings : path.join(shareDir, "config.toml");
	try {
		const found = { ownFiles: files, shareDir, home, settingsFile, managedPermissionsFile };
		const ruleFiles = await findRuleFiles(settings.configuration.permission, currentDir, found);
		const { length } = await readRuleFiles(ruleFiles, home);
		const isHeldBack = ruleFiles.some(({ isTrusted, settings: { rules, allowReadOnly } }) => {
			return !isTrusted && (allowReadOnly === true || rules.some(({ decision }) => decision === "allow"));
		});
		if (!isHeldBack) return ok(length === 1 ? "1 permission rule applies" : `${length} permission rules apply`);
		return warning(
			`${await projectPermissionsFile(files, currentDir)} is not trusted: its allow rules are ignored.`,
			"Review it, then run: agentwire permissions trust",
		);
	} catch (thrown) {
		return failed(oneLine(errorText(thrown)), "Fix that file; docs/guides/permissions.md describes the rules.");
	}
}

async function checkModel(given: CheckPlace): Promise<Finding> {
	const settings = await readSettings(given);
	if (isFinding(settings))
		return failed("Not checked, because the settings cannot be read.", "See 'configuration' above.");
	const { configuration } = settings;
	const { defaultModel, models, providers } = configuration;
	let selected: ModelSelection;
	try {
		selected = selectModel({ configuration, alias: given.model, thinking: null, environment: given.environment });
	} catch (thrown) {
		return failed(onOneLine(thrown), "Fix or unset that variable; docs/reference/configuration.md lists them.");
	}
	if (selected.kind === "model") return await checkServer(selected, given.fetch);
	const known = Object.keys(models);
	if (given.model !== null && !known.includes(given.model)) {
		const advice = known.length === 0 ? modelAdvice : `They have: ${known.join(", ")}.`;
		return failed(`The settings have no model ${JSON.stringify(given.model)}.`, advice);
	}
	if (defaultModel === "" && known.length === 0) return failed("No model is configured.", modelAdvice);
	if (defaultModel === "") return failed("The settings name no default_model.", "Set it, or pass --model each time.");
	const model = models[defaultModel];
	const provider = model === undefined ? undefined : providers[model.provider];
	if (model === undefined || provider === undefined) {
		const what = model === undefined ? `models.${defaultModel}` : `providers.${model.provider}`;
		return failed(`The settings have no [${what}], which default_model needs.`, "Add it to config.toml.");
	}
	const what = model.model === "" ? `models.${defaultModel}.model` : `providers.${model.provider}.base_url`;
	return failed(
		`The setting ${what}, which default_model needs, is empty.`,
		"Set it; docs/reference/providers.md has examples.",
	);
}

async function checkServer(selected: ModelSelection & { kind: "model" }, fetch: Fetch): Promise<Finding> {
	const { alias, model, provider } = selected;
	const name = alias ?? model.name;
	const setting = provider.name === "" ? "KIMI_BASE_URL" : `providers.${provider.name}.base_url`;
	if (provider.baseUrl === "") return ok(`${name} (${provider.type}), which makes no requests`);
	const url = URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl) : null;
	if (url === null || !/^https?:$/.test(url.protocol)) {
		return failed(
			`${setting}, used by ${name}, is not an http(s) URL.`,
			"Correct it; docs/reference/providers.md has examples.",
		);
	}
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(patience) });
		await response.body?.cancel();
		return ok(`${name} (${provider.type}): ${url.host} answers; no prompt was sent`);
	} catch (thrown) {
		const found = `${url.host}, used by ${name}, cannot be reached: ${oneLine(toNetworkFailure(thrown).message)}`;
		return failed(found, "Check base_url, the network and the proxy variables.");
	}
}

function whoAsksNobody({ defaultYolo, agentwire }: StartSettings["configuration"]): string | null {
	if (defaultYolo) return "default_yolo is set";
	return agentwire.unattended === "approve" ? 'agentwire.unattended is "approve"' : null;
}

async function checkSandbox(given: CheckPlace): Promise<Finding> {
	const { sandbox } = await describeSandbox(given.files, given.settings);
	if (sandbox === undefined) {
		const settings = await readSettings(given);
		const asker = isFinding(settings) ? null : whoAsksNobody(settings.configuration);
		if (asker === null) return ok("No sandbox is configured: commands run with your rights.");
		return warning(
			`Commands run with your rights and without approval: ${asker}.`,
			'Set mode = "workspace-write" in [sandbox]; see docs/guides/sandbox.md.',
		);
	}
	if (sandbox.status !== "none") return ok("Commands run in the sandbox.");
	return warning(
		`Commands run without the configured sandbox: ${sandbox.why ?? "unknown"}.`,
		"See docs/guides/sandbox.md.",
	);
}

async function checkRipgrep({ processes, place, environment, findRipgrep }: CheckPlace): Promise<Finding> {
	const file = await findRipgrep();
	const request = {
		file,
		arguments: ["--version"],
		workDir: place.home,
		environment,
		timeout: patience,
		outputLimit: 4096,
	};
	const { ended, output } = await processes.run(request, never);
	if (ended.kind === "exited" && ended.exitCode === 0) return ok(output.split("\n")[0] ?? "");
	return warning(`${file} cannot be started, so the tool Grep fails.`, "Install ripgrep so that 'rg' is in PATH.");
}

/** Changes nothing: another check reports settings readable by others. */
async function checkStore({ files, settings }: CheckPlace): Promise<Finding> {
	const { type, database, reachable, version, why } = await readStoreStatus(files, settings);
	if (type === "disk") return ok("Sessions are stored on disk.");
	const name = database ?? "The configured database";
	if (!reachable) return failed(`${name} cannot be used: ${why ?? "unknown"}`, "See docs/guides/postgres.md.");
	if (why !== null) return failed(`${name} cannot be used: ${why}.`, "Run: agentwire store migrate");
	return ok(
		version === 0 ? `${name} (its tables are created with the first session)` : `${name}, table version ${version}`,
	);
}

async function checkSessions({ files, shareDir }: CheckPlace): Promise<Finding> {
	const directory = path.join(shareDir, "sessions");
	try {
		const shared = await files.status(shareDir);
		if (shared !== null && shared.kind !== "directory") {
			return failed(
				`The share directory ${shareDir} is not a directory.`,
				"Set KIMI_SHARE_DIR to a directory, or unset it.",
			);
		}
		const status = (await files.status(directory)) ?? shared;
		if (status !== null && status.kind !== "directory")
			return failed(`${directory} is not a directory.`, "Move the file away.");
		if (status !== null && (status.mode & 0o300) !== 0o300)
			return failed(`${directory} is not writable.`, `Run: chmod u+rwx ${shellWord(directory)}`);
		const why = await whyUnwritable(directory);
		if (why !== null) return failed(`${directory} is not writable: ${why}`, "Fix that, or set KIMI_SHARE_DIR.");
		return ok(status === null ? `${directory} is created with the first session.` : directory);
	} catch (thrown) {
		return failed(`${directory} cannot be read: ${errorText(thrown)}`, "Change its owner, or set KIMI_SHARE_DIR.");
	}
}

/** Reports files with keys or conversations that other users can read. */
async function checkPermissions({ files, shareDir }: CheckPlace): Promise<Finding> {
	const privacyOf = privateBelow(shareDir);
	const open: string[] = [];
	for (const name of ["", "config.toml", "mcp.json", "kimi.json", "credentials", "mcp-oauth", "sessions", "logs"]) {
		const target = path.join(shareDir, name);
		const status = await files.status(target).catch(() => null);
		// Files owned by other users are not checked.
		if (name === "" && status !== null && status.kind !== "directory")
			return ok("There are no settings, keys or sessions yet.");
		if (status !== null && privacyOf(target) !== "open" && (status.mode & othersMode) !== 0) open.push(target);
	}
	if (open.length === 0) return ok("Only you can read settings, keys and sessions.");
	return warning(`Other users can read: ${open.join(", ")}`, `Run: chmod go-rwx ${open.map(shellWord).join(" ")}`);
}
