// The kernel creates and opens sessions, owns loaded sessions, and closes them at shutdown.

import path from "node:path";
import type { ListQuery, Placement, SessionPage } from "../../api/session-list.ts";
import type { ForkOptions } from "../../api/session-options.ts";
import type { StoredId } from "../../api/session-state.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { ForkedSession } from "../../api/values/file-changes.ts";
import { isSystemError, KernelError } from "../../base/errors.ts";
import { type Log, undo } from "../../base/log.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import { createSharedRuns } from "../../base/shared-run.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import { loadSkillText } from "../../core/definitions/skill.ts";
import {
	createBuiltInSkills,
	discoverSkills,
	type SkillPlace,
	type SkillSet,
} from "../../core/definitions/skill-discovery.ts";
import type { ServerPool } from "../../core/mcp/server-pool.ts";
import { isBroadGrant } from "../../core/permissions/former-grants.ts";
import { fileFailureReason } from "../../ports/files/file-failure.ts";
import type { Files } from "../../ports/files/port.ts";
import type { SessionOwner, SessionState, SessionStore } from "../../ports/store/session-store.ts";
import { createSharedSession, type SharedSession, viewShared } from "../../ports/store/shared-session.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { checkAdditionalDirectory } from "../commands/additional-directory.ts";
import { builtInAgentNames } from "../compose/agent-names.ts";
import { builtInAgents } from "../compose/built-in-agents.ts";
import { processesOfServers } from "../compose/command-sandbox.ts";
import { composeSession, type SessionLinks, type SkillSearch } from "../compose/compose.ts";
import type { HostServices } from "../compose/host-services.ts";
import { findRuleFiles, type RuleFile, withAddedRules } from "../compose/permissions.ts";
import { secretsOf } from "../compose/secrets.ts";
import { type SessionOptions, withEnvironment } from "../compose/session-options.ts";
import { forbiddenMode } from "../interactions/approval-mode.ts";
import { Session } from "../session/session.ts";
import type { SessionParts } from "../session/session-parts.ts";

/** Milliseconds for session end hooks, out of the two seconds for closing. */
const hookBudget = 1000;

export interface KernelParts {
	readonly store: SessionStore;
	readonly configuration: Configuration;
	readonly hostServices: HostServices;
	/** Whether opening claims the session, for several processes. Default: false, so the first write claims it. */
	readonly claimsAtOnce?: boolean;
}

type ToOptions = (state: SessionState) => SessionOptions | Promise<SessionOptions>;

export class Kernel {
	readonly #parts: KernelParts;
	readonly #sessions = new Map<string, Session>();
	/** Sessions being opened. Concurrent requests share the promise. */
	readonly #opening = new Map<string, Promise<Session>>();
	/** Running skill searches by place. Sessions loading concurrently share them. */
	readonly #skillSearches = createSharedRuns<SkillSet>();
	readonly #ruleSearches = createSharedRuns<readonly RuleFile[]>();
	readonly #allRunning = new Set<object>();
	readonly #serverPool = new OnFirstUse(() => createServerPool(this.#parts));

	readonly #builtInSkills: SkillPlace["builtIn"];

	constructor(parts: KernelParts) {
		this.#parts = parts;
		const { files, builtInSkillsDir, log } = parts.hostServices;
		this.#builtInSkills = createBuiltInSkills(files, builtInSkillsDir, log);
	}

	get loadedSessions(): number {
		return this.#sessions.size;
	}

	get runningTurns(): number {
		return this.#allRunning.size;
	}

	/** Creates a session. The id must be new. Throws ConfigurationError and ModelConfigurationError for unusable settings. */
	create(
		workDir: string,
		options: SessionOptions,
		id = this.#parts.hostServices.identifiers.uuid(),
		placement?: Placement,
	): Promise<Session> {
		const place = { store: this.#parts.store, workDir, id };
		return this.#held(id, async () => {
			const held = await place.store.openOrCreate(workDir, id, placement);
			return await this.#load(createSharedSession(place, { held }), () => options);
		});
	}

	openOrCreate(workDir: string, id: string, options: SessionOptions | ToOptions): Promise<Session> {
		const toOptions = typeof options === "function" ? options : () => options;
		const place = { store: this.#parts.store, workDir, id };
		const open = async () => {
			const held = async () => ({ held: await place.store.openOrCreate(workDir, id) });
			if (this.#parts.claimsAtOnce === true) return createSharedSession(place, await held());
			// An unreadable session opens anyway and reports the reason at its first prompt.
			return (await viewShared(place).catch(() => null)) ?? createSharedSession(place, await held());
		};
		return this.#held(id, async () => this.#load(await open(), toOptions));
	}

	/** Opens the session with this id; its options depend on its state. Fails with `session-not-found`. */
	open(workDir: string, id: string, toOptions: ToOptions): Promise<Session> {
		return this.#held(id, async () => {
			const place = { store: this.#parts.store, workDir, id };
			const held = this.#parts.claimsAtOnce === true ? await place.store.open(workDir, id) : null;
			const stored = held === null ? await viewShared(place) : createSharedSession(place, { held });
			if (stored === null) throw new KernelError("session-not-found", `There is no session ${id}.`);
			return await this.#load(stored, toOptions);
		});
	}

	/** Copies this session, or its beginning, to a new session without loading it. Fails with `busy` while a turn runs. */
	async fork(source: Session, id: string, options: ForkOptions): Promise<ForkedSession> {
		const { workDir } = source;
		const { before, files } = options;
		if (options.workDir !== undefined && path.resolve(options.workDir) !== workDir) {
			throw invalidInput(
				`The session ${source.id} works in ${workDir}, and so does a fork of it: name that directory.`,
			);
		}
		if (before !== undefined && options.cut !== undefined) {
			throw invalidInput("A fork keeps what was before a turn, or a number of messages: choose one.");
		}
		const { writeFork } = await import("./session-fork.ts");
		const begun = await source.forkSource(before);
		if (files === undefined) {
			await this.#parts.store.create(workDir, id, (target) => writeFork(begun, options, target, null), source.id);
			return { id, left: [], reasons: [] };
		}
		const copy = await source.copyFiles(before ?? null, files);
		try {
			const { directory } = files;
			await this.#parts.store.create(directory, id, (target) => writeFork(begun, options, target, copy), source.id);
			return { id, left: [...copy.left], reasons: [...copy.reasons] };
		} catch (thrown) {
			await undo(() => copy.discard(), "The copied files of a fork were not removed.", this.#parts.hostServices.log);
			throw thrown;
		}
	}

	lastSessionId(workDir: string): Promise<string | null> {
		return this.#parts.store.lastSessionId(workDir);
	}

	workDirOf(id: string): Promise<string | null> {
		return this.#parts.store.workDirOf(id);
	}

	/** A built-in agent by name, or an agent file by absolute path. Fails with `invalid-input` when it is unusable. */
	async findAgent(named: string, workDir: string): Promise<AgentDefinition> {
		const builtIn = builtInAgentNames.find((name) => name === named);
		if (builtIn !== undefined) return builtInAgents[builtIn];
		if (!path.isAbsolute(named)) {
			const known = builtInAgentNames.join(", ");
			throw invalidInput(`There is no agent ${named}: name a built-in one (${known}), or the absolute path of a file.`);
		}
		const { hostServices } = this.#parts;
		const files = hostServices.files.admitting(secretsOf(hostServices).admit);
		const [{ loadAgent }, { AgentFileError }] = await Promise.all([
			import("../compose/agent-file.ts"),
			import("../../core/definitions/agent-file-error.ts"),
		]);
		try {
			return await loadAgent(named, workDir, { ...hostServices, files });
		} catch (thrown) {
			if (thrown instanceof AgentFileError || isSystemError(thrown)) throw invalidInput(thrown.message, thrown);
			throw thrown;
		}
	}

	/** Returns the normalized path of a directory; fails `invalid-input` if it is not one. `what` names it in the error. */
	async checkDirectory(named: string, what: string): Promise<string> {
		if (!path.isAbsolute(named) || named.includes("\0") || named.trim() !== named) {
			throw invalidInput(`${what} must be an absolute path without blanks around it, and is ${JSON.stringify(named)}.`);
		}
		const directory = path.resolve(named);
		const { files } = this.#parts.hostServices;
		const unreadable = (thrown: unknown) => {
			throw invalidInput(`${what} ${directory} cannot be read: ${fileFailureReason(thrown)}`, thrown);
		};
		const status = await files.status(directory).catch(unreadable);
		if (status === null) throw invalidInput(`${what} ${directory} does not exist.`);
		if (status.kind !== "directory") throw invalidInput(`${what} ${directory} is not a directory.`);
		await files.list(directory).catch(unreadable);
		return directory;
	}

	/** The other living process that has a stored session open for writing; null if none is known. */
	async ownerOf(id: string, workDir?: string): Promise<SessionOwner | null> {
		if (this.#sessions.get(id)?.isClaimed === true) return null;
		const known = workDir ?? (await this.#parts.store.workDirOf(id));
		return known === null ? null : await this.#parts.store.owner(known, id);
	}

	list(query: ListQuery): Promise<SessionPage> {
		return this.#parts.store.list(query);
	}

	/** Reads stored events without opening the session. */
	readEvents({ workDir, id }: StoredId): AsyncIterable<readonly AgentEvent[]> {
		return this.#parts.store.readEvents(workDir, id);
	}

	/** Closes the session if loaded. It can be opened again. */
	async unload(id: string): Promise<void> {
		const session = this.#sessions.get(id);
		this.#sessions.delete(id);
		await session?.close(AbortSignal.timeout(hookBudget));
	}

	delete(workDir: string, id: string): Promise<void> {
		return this.#parts.store.delete(workDir, id);
	}

	/** Closes every session, then ends all child processes. */
	async close(): Promise<void> {
		const sessions = [...this.#sessions.values()];
		this.#sessions.clear();
		await Promise.allSettled(sessions.map((session) => session.close(AbortSignal.timeout(hookBudget))));
		await (await this.#serverPool.made())?.close();
		const { processes, sandbox, creatorSandbox, confiningSandbox } = this.#parts.hostServices;
		await processes.endAll();
		for (const used of [sandbox, creatorSandbox, confiningSandbox]) await (await used?.made())?.close();
		await this.#parts.store.close();
	}

	/** Skills for a working directory; `skillsDirs` come from the command line. */
	findSkills(workDir: string, skillsDirs: readonly string[]): Promise<SkillSet> {
		const { hostServices } = this.#parts;
		return this.#findSkills({
			files: () => hostServices.files.admitting(secretsOf(hostServices).admit),
			ruled: null,
			workDir,
			skillsDirs,
		});
	}

	/** Text of a skill, or null when it is missing or unreadable. */
	async skillText(workDir: string, skillsDirs: readonly string[], name: string): Promise<string | null> {
		const { hostServices } = this.#parts;
		const { skills } = await this.findSkills(workDir, skillsDirs);
		const skill = skills.find((each) => each.name === name);
		if (skill === undefined) return null;
		return await loadSkillText(skill, hostServices.files.admitting(secretsOf(hostServices).admit));
	}

	/** Searches with equal directories and read permissions share one result. */
	#findSkills({ ruled, files, ...place }: SkillSearch): Promise<SkillSet> {
		const { extraSkillDirs, mergeAllAvailableSkills: mergeAll } = this.#parts.configuration;
		const { home, shareDir, log } = this.#parts.hostServices;
		const search = { ...place, home, shareDir, extraSkillDirs, mergeAll, builtIn: this.#builtInSkills, log };
		const key = JSON.stringify([place.workDir, place.skillsDirs, ruled]);
		return this.#skillSearches(key, () => discoverSkills({ ...search, files: files() }));
	}

	#findRuleFiles(workDir: string): Promise<readonly RuleFile[]> {
		const { configuration, hostServices } = this.#parts;
		return this.#ruleSearches(workDir, () => findRuleFiles(configuration.permission, workDir, hostServices));
	}

	/** Returns the loaded session, or the one `open` returns. Never two on the same files. */
	async #held(id: string, open: () => Promise<Session>): Promise<Session> {
		const session = this.#sessions.get(id);
		if (session !== undefined) return session;
		const opening = this.#opening.get(id) ?? open().finally(() => this.#opening.delete(id));
		this.#opening.set(id, opening);
		return await opening;
	}

	/** Releases the stored session when loading fails, so that others need not wait for its files. */
	async #load(stored: SharedSession, toOptions: ToOptions): Promise<Session> {
		try {
			const options = await toOptions(stored.state());
			const parts = await this.#compose(stored, options);
			if (!stored.existed) refuseForbiddenMode(options, parts);
			return await this.#start(stored, options, parts);
		} catch (thrown) {
			const release = () => stored.close({ becomesLast: false });
			await undo(release, "A session that could not be loaded was not closed.", this.#parts.hostServices.log);
			throw thrown;
		}
	}

	#compose(stored: SharedSession, options: SessionOptions): ReturnType<typeof composeSession> {
		const { store, configuration } = this.#parts;
		const environment = withEnvironment(this.#parts.hostServices.environment, options);
		const hostServices = { ...this.#parts.hostServices, environment };
		const links: SessionLinks = {
			clientName: () => this.#sessions.get(stored.id)?.clientName() ?? null,
			findRuleFiles: async (workDir) => withAddedRules(await this.#findRuleFiles(workDir), options.rules ?? []),
			findSkills: (place) => this.#findSkills(place),
			readContext: (id) => store.readContext(stored.workDir, id),
			serverPool: () => this.#serverPool.get(),
			allRunning: this.#allRunning,
			withModel: async (change) =>
				(await import("./creation-options.ts")).withModel(stored.state().creationOptions, change),
		};
		return composeSession(stored, options, configuration, hostServices, links);
	}

	async #start(stored: SharedSession, options: SessionOptions, parts: SessionParts): Promise<Session> {
		const { hostServices } = this.#parts;
		const session = new Session(parts);
		this.#sessions.set(session.id, session);
		try {
			await addDirectories(stored, options.additionalDirs, hostServices.files);
			await beginApprovals(stored, options, hostServices.log);
			await session.start();
			if (options.opensEarly !== true) await session.begun;
			await persistCreationOptions(stored, options);
		} catch (thrown) {
			// A session that cannot be written still starts, and reports it at its first prompt.
			hostServices.log.error("The start of a session could not be stored.", { session: stored.id, error: thrown });
		}
		return session;
	}
}

function invalidInput(message: string, cause?: unknown): KernelError {
	return new KernelError("invalid-input", message, cause === undefined ? {} : { cause });
}

/** Creating a session in a forbidden mode fails. An existing session continues without the mode. */
function refuseForbiddenMode({ mode = {} }: SessionOptions, { forbiddenModes }: SessionParts): void {
	const chosen = { yolo: mode.approvesEverything, auto: mode.isAway };
	for (const name of ["yolo", "auto"] as const) {
		const file = forbiddenModes.get(name);
		if (chosen[name] === true && file !== undefined) throw forbiddenMode(name, file);
	}
}

async function createServerPool({ hostServices, configuration }: KernelParts): Promise<ServerPool> {
	const [{ ServerPool }, { createMcpAuthorization }] = await Promise.all([
		import("../../core/mcp/server-pool.ts"),
		import("../../settings/credentials/mcp-oauth.ts"),
	]);
	const { network, clock, log, version } = hostServices;
	return new ServerPool({
		processes: await processesOfServers(configuration.sandbox, hostServices),
		authorization: createMcpAuthorization({ ...hostServices, fetch: network.fetch }),
		fetch: network.patientFetch,
		clock,
		log,
		version,
	});
}

/** Initial approvals from the state. Drops overly broad ones of earlier versions; the next request reports that. */
async function beginApprovals(stored: SharedSession, options: SessionOptions, log: Log): Promise<void> {
	const { mode = {}, permissions = {}, afk } = options;
	const { approval } = stored.state();
	const begun = stored.existed
		? approval
		: {
				yolo: mode.approvesEverything ?? approval.yolo,
				afk: mode.isAway ?? approval.afk,
				autoApproveActions: [...new Set([...approval.autoApproveActions, ...(permissions.grants ?? [])])],
			};
	const dropped = begun.autoApproveActions.filter(isBroadGrant);
	if (dropped.length > 0) {
		log.warn("Approvals for the session were dropped, because they covered more than was shown.", {
			session: stored.id,
			dropped,
		});
	}
	const changed = {
		...begun,
		afk: begun.afk || (afk && mode.isAway === undefined),
		autoApproveActions: begun.autoApproveActions.filter((action) => !isBroadGrant(action)),
	};
	if (!isSameApproval(changed, approval)) await stored.commit({ state: { approval: changed } }, { whenClaimed: true });
}

type Approval = SessionState["approval"];

/** Compared field by field: loading a generic comparison noticeably slows session opening. */
function isSameApproval(one: Approval, other: Approval): boolean {
	return (
		one.yolo === other.yolo &&
		one.afk === other.afk &&
		one.autoApproveActions.length === other.autoApproveActions.length &&
		one.autoApproveActions.every((action, index) => action === other.autoApproveActions[index])
	);
}

async function persistCreationOptions(stored: SharedSession, { creationOptions }: SessionOptions): Promise<void> {
	if (
		creationOptions === undefined ||
		JSON.stringify(stored.state().creationOptions) === JSON.stringify(creationOptions)
	)
		return;
	await stored.commit({ state: { creationOptions } }, { sync: true, whenClaimed: true });
}

/** Adds missing directories to the workspace and drops deleted ones. */
async function addDirectories(stored: SharedSession, added: readonly string[], files: Files): Promise<void> {
	const known = stored.state().additionalDirs;
	const additionalDirs: string[] = [];
	for (const directory of [...known, ...added]) {
		const place = { files, workDir: stored.workDir, home: "/", additionalDirs };
		if ((await checkAdditionalDirectory(directory, place)).ok) additionalDirs.push(directory);
	}
	if (additionalDirs.join("\n") !== known.join("\n"))
		await stored.commit({ state: { additionalDirs } }, { whenClaimed: true });
}
