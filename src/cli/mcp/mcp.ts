// Prints results on stdout and errors on stderr; the exit code is 1 on failure.
import path from "node:path";
import type { McpServerSettings, RemoteMcpServer } from "../../api/mcp-servers.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { isSystemError } from "../../base/errors.ts";
import { silentLog, undo } from "../../base/log.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { oneLine } from "../../base/text/sentence.ts";
import type { ListedTool } from "../../core/mcp/tool-list.ts";
import type { Place } from "../../host/place.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import type { Files } from "../../ports/files/port.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import type { Processes } from "../../ports/processes/port.ts";
import { isDisabled, type McpEntryReading, readMcpEntry } from "../../settings/config/mcp-servers.ts";
import { createMcpAuthorization, type McpAuthorization } from "../../settings/credentials/mcp-oauth.ts";
import type { McpChallenge } from "../../settings/credentials/mcp-sign-in.ts";
import { McpSignInError } from "../../settings/credentials/mcp-sign-in-error.ts";
import type { McpAction } from "../arguments/options/mcp-options.ts";
import { createCommandFetch, createCommandProcesses } from "../command-services.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { openInBrowser } from "../process/browser.ts";
import { environmentVariables } from "../process/environment.ts";
import { handleStopSignals } from "../process/stop-signals.ts";
import { whileShown } from "../process/waiting-line.ts";
import { toMcpEntry } from "./mcp-addition.ts";
import { listMcpTools, McpConnectionError } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";
import { editMcpEntries, mcpFilePath, readMcpEntries } from "./mcp-file.ts";

export interface McpServices {
	readonly executableName: string;
	readonly files: Files;
	readonly clock: Clock;
	readonly shareDir: string;
	readonly place: Place;
	readonly environment: Readonly<Record<string, string>>;
	readonly authorization: McpAuthorization;
	/** For local servers. */
	readonly processes: Processes;
	readonly fetch: Fetch;
	openPage(address: URL): Promise<boolean>;
	readonly signal: AbortSignal;
	print(line: string): void;
	complain(line: string): void;
}

export async function runMcp(executable: string, action: McpAction): Promise<number> {
	const stopping = new AbortController();
	handleStopSignals(() => stopping.abort());
	const place: Place = { currentDir: currentDirectory(), home: homeDirectory() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const files = createDiskFiles(privateBelow(shareDir));
	const fetch = createCommandFetch({ environment, files, shareDir, place });
	return await carryOut(action, {
		executableName: path.basename(executable),
		files,
		clock: systemClock,
		shareDir,
		place,
		environment,
		authorization: createMcpAuthorization({ files, shareDir, log: silentLog, clock: systemClock, fetch }),
		processes: createCommandProcesses(files, shareDir),
		fetch,
		openPage: (address) => openInBrowser(address, environment),
		signal: stopping.signal,
		print: (line) => void process.stdout.write(`${line}\n`),
		complain: (line) => void process.stderr.write(`${line}\n`),
	});
}

export async function carryOut(action: McpAction, hostServices: McpServices): Promise<number> {
	try {
		switch (action.name) {
			case "add":
				await add(action.server, toMcpEntry(action), hostServices);
				return 0;
			case "remove":
				await remove(action.server, hostServices);
				return 0;
			case "list":
				await list(hostServices);
				return 0;
			case "auth":
				await authorize(action.server, hostServices);
				return 0;
			case "reset-auth":
				await resetAuth(action.server, hostServices);
				return 0;
			case "test":
				return await test(action.server, hostServices);
		}
	} catch (thrown) {
		if (!(thrown instanceof McpError || isSystemError(thrown))) throw thrown;
		hostServices.complain(redactSecrets(`Error: ${fileFailureText(thrown)}`));
		return 1;
	}
}

async function add(name: string, entry: object, { print, ...place }: McpServices): Promise<void> {
	const reading = readMcpEntry(name, entry);
	// A session would fail to start with it.
	if (!reading.ok) throw new McpError(`The server '${name}' could not be used: ${reasonsOf(reading)}.`);
	await editMcpEntries(place, (entries) => ({ ...entries, [name]: entry }));
	print(`Added MCP server '${name}' to ${mcpFilePath(place.shareDir)}.`);
}

async function remove(name: string, { print, ...hostServices }: McpServices): Promise<void> {
	await editMcpEntries(hostServices, (entries) => {
		if (!Object.hasOwn(entries, name)) throw noServer(name, hostServices);
		return Object.fromEntries(Object.entries(entries).filter(([other]) => other !== name));
	});
	print(`Removed MCP server '${name}' from ${mcpFilePath(hostServices.shareDir)}.`);
}

async function list(hostServices: McpServices): Promise<void> {
	const { print, complain, executableName, authorization, shareDir } = hostServices;
	const file = mcpFilePath(shareDir);
	const entries = Object.entries(await readMcpEntries(hostServices));
	print(`MCP config file: ${file}`);
	if (entries.length === 0) print("No MCP servers configured.");
	for (const [name, entry] of entries) {
		const off = isDisabled(entry) ? " [disabled]" : "";
		const reading = readMcpEntry(name, entry);
		if (!reading.ok) {
			complain(oneLine(unusable(file, name, reading)));
			continue;
		}
		const { server } = reading;
		const isSignedOut = isOauth(server) && (await authorization.provider(server.url)) === null;
		const hint = isSignedOut ? ` [authorization required - run: ${executableName} mcp auth ${name}]` : "";
		print(`  ${oneLine(`${name} ${describe(server)}`)}${hint}${off}`);
	}
}

function describe(server: McpServerSettings): string {
	switch (server.kind) {
		case "local":
			return `(stdio): ${[server.command, ...server.arguments].join(" ")}`;
		case "remote":
			return `(${server.transport}): ${server.url}`;
	}
}

async function test(name: string, hostServices: McpServices): Promise<number> {
	const { print, complain } = hostServices;
	const server = await findServer(name, hostServices);
	print(`Testing connection to '${name}'...`);
	try {
		const tools = await whileShown(`Connecting to ${name}`, () => listMcpTools(server, hostServices));
		print(`✓ Connected to '${name}'`);
		// Scripts parse these lines.
		print(`  Available tools: ${tools.length}`);
		if (tools.length > 0) print("  Tools:");
		for (const tool of tools) print(`    - ${toolLine(tool)}`);
		return 0;
	} catch (thrown) {
		if (!(thrown instanceof McpConnectionError)) throw thrown;
		const hint = thrown.challenge !== null && isOauth(server) ? `. ${signInHint(name, hostServices)}` : "";
		complain(`✗ Connection failed: ${thrown.name}: ${thrown.message}${hint}`);
		return 1;
	}
}

const longestDescription = 50;

function toolLine({ name, description }: ListedTool): string {
	const characters = [...oneLine(description).trim()];
	const isLong = characters.length > longestDescription;
	const shown = isLong ? `${characters.slice(0, longestDescription - 3).join("")}...` : characters.join("");
	return `${oneLine(name)}${shown === "" ? "" : `: ${shown}`}`;
}

async function authorize(name: string, hostServices: McpServices): Promise<void> {
	const { print, authorization, signal, openPage } = hostServices;
	const server = await findOauthServer(name, hostServices);
	print(`Signing in to '${name}'...`);
	const connect = () => listMcpTools(server, hostServices);
	const open = async (address: URL) => {
		const isOpening = await openPage(address);
		print(isOpening ? "A browser should open. If it does not, sign in here:" : "Open this page to sign in:");
		print(address.href);
	};
	const signIn = (challenge: McpChallenge) =>
		authorization.authorize(server.url, { open, signal }, challenge, server.authorization.client);
	try {
		const wanted = await authorization.wanted(server.url);
		if (wanted !== null) {
			await signIn(wanted).catch(async (thrown: unknown) => {
				// A failed request for the permissions must not prevent signing in without them.
				const giveUp = () => authorization.giveUpWanted(server.url);
				await undo(giveUp, "The missing permissions of an MCP server could not be forgotten.", silentLog);
				throw thrown;
			});
		}
		const tools = await connect().catch(async (thrown: unknown) => {
			if (!(thrown instanceof McpConnectionError) || thrown.challenge === null) throw thrown;
			await signIn(thrown.challenge);
			return await connect();
		});
		const isSignedIn = (await authorization.provider(server.url)) !== null;
		const connected = `✓ Connected to '${name}', which needs no sign-in.`;
		print(isSignedIn ? `Successfully authorized with '${name}'.` : connected);
		print(`Available tools: ${tools.length}`);
	} catch (thrown) {
		if (!(thrown instanceof McpSignInError || thrown instanceof McpConnectionError)) throw thrown;
		const what = thrown instanceof McpSignInError ? "Signing in" : "Connecting";
		throw new McpError(`${what} to '${name}' failed: ${thrown.message.replace(/\.$/, "")}.`);
	}
}

async function resetAuth(name: string, hostServices: McpServices): Promise<void> {
	const server = await findOauthServer(name, hostServices);
	await hostServices.authorization.forget(server.url);
	hostServices.print(`OAuth tokens cleared for '${name}'.`);
}

async function findServer(name: string, hostServices: McpServices): Promise<McpServerSettings> {
	const entries = await readMcpEntries(hostServices);
	if (!Object.hasOwn(entries, name)) throw noServer(name, hostServices);
	const reading = readMcpEntry(name, entries[name]);
	if (reading.ok) return reading.server;
	throw new McpError(unusable(mcpFilePath(hostServices.shareDir), name, reading));
}

async function findOauthServer(name: string, hostServices: McpServices): Promise<OauthServer> {
	const server = await findServer(name, hostServices);
	if (server.kind === "local") throw new McpError(`The MCP server '${name}' is a local program and needs no sign-in.`);
	if (isOauth(server)) return server;
	throw new McpError(`The MCP server '${name}' was not added with --auth oauth.`);
}

interface OauthServer extends RemoteMcpServer {
	readonly authorization: Extract<RemoteMcpServer["authorization"], { readonly kind: "oauth" }>;
}

const isOauth = (server: McpServerSettings): server is OauthServer =>
	server.kind === "remote" && server.authorization.kind === "oauth";

type McpEntryRefusal = Extract<McpEntryReading, { readonly ok: false }>;

const unusable = (file: string, name: string, refusal: McpEntryRefusal) =>
	`${file}: the server '${name}' cannot be used: ${reasonsOf(refusal)}.`;

const reasonsOf = ({ problems }: McpEntryRefusal) =>
	problems.map(({ key, reason }) => (key === "" ? `it ${reason}` : `${key} ${reason}`)).join("; ");

const noServer = (name: string, { shareDir, executableName }: Pick<McpServices, "shareDir" | "executableName">) =>
	new McpError(
		`There is no MCP server '${name}' in ${mcpFilePath(shareDir)}. To list the servers, run '${executableName} mcp list'.`,
	);

const signInHint = (name: string, { executableName }: McpServices) =>
	`To sign in, run: ${executableName} mcp auth ${name}`;
