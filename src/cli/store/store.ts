import path from "node:path";
import type { SessionSummary } from "../../api/session-list.ts";
import { systemClock } from "../../base/clock.ts";
import { errorText, KernelError } from "../../base/errors.ts";
import { toJsonLine } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import { openConfiguredStore } from "../../host/configured-store.ts";
import { createDiskStore } from "../../ports/store/disk/disk-store.ts";
import type { StoreCheck } from "../../ports/store/postgres/store-check.ts";
import { compareSessions, copySession } from "../../ports/store/session-copy.ts";
import type { SessionStore, StoredSession } from "../../ports/store/session-store.ts";
import { copySaved, DirectoryPlace } from "../../ports/workspace/history-copy.ts";
import type { HistoryPlace } from "../../ports/workspace/history-place.ts";
import { historyDirectory } from "../../ports/workspace/history-space.ts";
import type { StoreAction, StoreKind } from "../arguments/options/store-options.ts";
import { whileShown } from "../process/waiting-line.ts";
import { type CommandStore, findCommandStore } from "./command-store.ts";
import { retireSessions } from "./retention.ts";

/** Runs the command; returns the exit code: 1 if something failed or is inconsistent. */
export async function runStore(action: StoreAction): Promise<number> {
	try {
		const found = await findCommandStore();
		switch (action.name) {
			case "migrate":
				return await migrate(found, action.json);
			case "check":
				return await check(found, action.json);
			case "copy":
				return await copy(found, action);
			case "archive":
			case "delete":
				return await retire(found, action);
		}
	} catch (thrown) {
		if (!(thrown instanceof KernelError)) throw thrown;
		process.stderr.write(`Error: ${errorText(thrown)}\n`);
		return 1;
	}
}

function say(json: boolean, value: object, text: string): void {
	process.stdout.write(json ? `${toJsonLine(value)}\n` : `${text}\n`);
}

async function migrate(found: CommandStore, json: boolean): Promise<number> {
	const database = await found.openDatabase();
	try {
		const { migrate: run } = await import("../../ports/store/postgres/schema-version.ts");
		const { from, to } = await whileShown("Preparing the tables", () => run(database));
		const text =
			from === to
				? `The tables already have version ${to}.`
				: `The tables were migrated from version ${from} to ${to}.`;
		say(json, { database: database.name, from, to }, `${database.name}: ${text}`);
		return 0;
	} finally {
		await database.close();
	}
}

async function check(found: CommandStore, json: boolean): Promise<number> {
	if (found.settings.type === "disk") {
		const { sessions } = await found.disk.list({});
		say(json, { store: "disk", sessions: sessions.length, problems: [] }, `Sessions on disk: ${sessions.length}.`);
		return 0;
	}
	const database = await found.openDatabase();
	try {
		const { checkStore } = await import("../../ports/store/postgres/store-check.ts");
		const result = await whileShown("Checking the database", () => checkStore(database));
		const processes = result.processes.map(({ leaseSeconds, ...each }) => ({ ...each, lease_seconds: leaseSeconds }));
		say(json, { store: "postgres", ...result, processes }, checkText(result));
		return result.problems.length === 0 ? 0 : 1;
	} finally {
		await database.close();
	}
}

function checkText({ database, version, sessions, processes, sizes, problems }: StoreCheck): string {
	const size = Object.entries(sizes).map(
		([table, bytes]) => `  ${table.padEnd(14)} ${(bytes / 1_000_000).toFixed(1)} MB`,
	);
	return [
		`Database:  ${database}, tables of version ${version.found}`,
		`Sessions:  ${sessions.total}, of which ${sessions.held} are open and ${sessions.interrupted} have an interrupted turn`,
		`Processes: ${processes.length}`,
		...processes.map(
			({ id, host, pid, leaseSeconds, sessions: count }) =>
				`  ${id} on ${host}, process ${pid}: ${count} sessions, lease ${leaseSeconds > 0 ? `for ${leaseSeconds} s` : "over"}`,
		),
		...(size.length === 0 ? [] : ["Sizes:", ...size]),
		...(problems.length === 0 ? ["No problems."] : ["Problems:", ...problems.map((problem) => `  ${problem}`)]),
	].join("\n");
}

/** A store that skips sessions open in another process. */
async function openFree(kind: StoreKind, { settings, files, shareDir, place }: CommandStore): Promise<SessionStore> {
	if (kind === "disk") {
		const options = { files, shareDir, log: silentLog, clock: systemClock, protocolVersion };
		return createDiskStore({ ...options, takeOver: "expired" });
	}
	return await openConfiguredStore(settings, { files, place, log: silentLog }, "expired");
}

async function listAll(store: SessionStore): Promise<readonly SessionSummary[]> {
	const all: SessionSummary[] = [];
	let after: string | null = null;
	do {
		const page = await store.list({ limit: 500, ...(after === null ? {} : { after }) });
		all.push(...page.sessions);
		after = page.next;
	} while (after !== null);
	return all.reverse();
}

type CopyOutcome = "copied" | "exists" | "busy" | "differs" | "failed";

async function copy(found: CommandStore, action: Extract<StoreAction, { name: "copy" }>): Promise<number> {
	const [from, to] = await Promise.all([openFree(action.from, found), openFree(action.to, found)]);
	let isComplete = true;
	try {
		const listed = await whileShown("Listing the sessions", () => listAll(from));
		const all = listed.filter(({ id }) => action.id === null || action.id === id);
		if (action.id !== null && all.length === 0) {
			throw new KernelError("session-not-found", `There is no session ${action.id} in the store on ${action.from}.`);
		}
		for (const summary of all) {
			const { id, workDir } = summary;
			const { outcome, events, differences, reason, historyGap } = await whileShown(`Copying ${id}`, () =>
				copyOne(from, to, summary, action.to === "postgres" ? found.historyLimit : Infinity),
			);
			if (outcome !== "copied" || (historyGap !== null && historyGap !== overLimit)) isComplete = false;
			const words: Readonly<Record<CopyOutcome, string>> = {
				copied: `copied and compared, ${events} events${historyGap === null ? "" : `; ${historyGap}`}`,
				exists: "not copied: the other store has a session with this id",
				busy: "not copied: another process has it open",
				differs: `copied, but the copy differs: ${differences.join(" ")}`,
				failed: `not copied: ${reason}`,
			};
			const row = {
				session: id,
				work_dir: workDir,
				outcome,
				events,
				differences,
				reason,
				history_gap: historyGap,
			};
			say(action.json, row, `${id}  ${words[outcome]}`);
		}
		if (all.length === 0) say(action.json, { sessions: 0 }, "There are no sessions to copy.");
	} finally {
		await Promise.all([from.close(), to.close()]);
	}
	return isComplete ? 0 : 1;
}

const overLimit = "of its file history, older contents are left out (limit agentwire.rewind.max_database_bytes)";

/** Copies a session; a failure must not stop the others. `reason` explains a failure, and is null otherwise. */
async function copyOne(from: SessionStore, to: SessionStore, { id, workDir }: SessionSummary, historyLimit: number) {
	let source: StoredSession | null = null;
	let isCopying = false;
	let historyGap: string | null = null;
	const result = (
		outcome: CopyOutcome,
		events = 0,
		differences: readonly string[] = [],
		reason: string | null = null,
	) => ({ outcome, events, differences, reason, historyGap });
	try {
		source = await from.open(workDir, id);
		if (source === null) return result("busy");
		isCopying = true;
		const holder = placeOf(source);
		const events = await copySession(source, to, async (target) => {
			const place = placeOf(target);
			if (holder === null || place === null) return;
			const isWhole = await copySaved(holder, place, historyLimit).catch((thrown: unknown) => {
				historyGap = `its file history is not copied: ${errorText(thrown)}`;
				return true;
			});
			if (!isWhole) historyGap = overLimit;
		});
		const copied = await to.open(workDir, id);
		const differences = copied === null ? ["It is not found."] : await compareSessions(source, copied);
		if (copied !== null) {
			if ((await from.lastSessionId(workDir)) === id) await copied.markStarted();
			await copied.close({ becomesLast: false });
		}
		return result(differences.length === 0 ? "copied" : "differs", events, differences);
	} catch (thrown) {
		if (!(thrown instanceof KernelError)) throw thrown;
		if (thrown.code !== "busy") return result("failed", 0, [], errorText(thrown));
		return result(isCopying ? "exists" : "busy");
	} finally {
		await source?.close({ becomesLast: false });
	}
}

/** Where the session keeps what it may go back to; null for nowhere. */
function placeOf({ historyPlace, directory }: StoredSession): HistoryPlace | null {
	if (historyPlace !== undefined) return historyPlace;
	return directory === null ? null : new DirectoryPlace(path.join(directory, historyDirectory));
}

async function retire(
	found: CommandStore,
	action: Extract<StoreAction, { name: "archive" | "delete" }>,
): Promise<number> {
	const store = await openFree(found.settings.type, found);
	try {
		const word = action.name === "archive" ? "Archived" : "Deleted";
		const { done, open, failed } = await whileShown("Looking at the sessions", async () =>
			retireSessions(store, await listAll(store), action, systemClock.now()),
		);
		const left = open.length === 0 ? "" : ` Left alone because they are open: ${open.join(", ")}.`;
		say(action.json, { [word.toLowerCase()]: done, open, failed }, `${word}: ${done.length}.${left}`);
		if (!action.json) {
			for (const { session, reason } of failed)
				process.stderr.write(`Not ${word.toLowerCase()}: ${session}: ${reason}\n`);
		}
		return failed.length === 0 ? 0 : 1;
	} finally {
		await store.close();
	}
}
