import type { ContextRow } from "../../api/values/conversation.ts";
import { never } from "../../base/abort.ts";
import { errorText, isSystemError, KernelError } from "../../base/errors.ts";
import { toJsonLine } from "../../base/json.ts";
import type { Host } from "../../host/create-host.ts";
import type { Installation } from "../../host/installation.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import type { Files } from "../../ports/files/port.ts";
import { isSessionId } from "../../ports/store/disk/work-dir.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import type { SessionsAction } from "../arguments/options/sessions-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { checkWorkDir } from "../paths.ts";
import { openQuestions } from "../process/terminal-question.ts";
import { findCommandStore } from "../store/command-store.ts";
import { type KimiCodeSession, listKimiCodeSessions, readKimiCodeMessages } from "./kimi-code-sessions.ts";
import { runExport } from "./session-export.ts";
import { withoutPrefix } from "./session-prefix.ts";
import { type ReadMessage, rowsJson, rowsText, type SessionRow, sessionJson, sessionText } from "./session-table.ts";

export interface Stores {
	readonly files: Files;
	readonly store: SessionStore;
	readonly kimiCodeHome: string;
	readonly place: Place;
	/** Starts a kernel over the same sessions. */
	openHost(): Promise<Host>;
}

type Found = { readonly row: SessionRow } | { readonly row: KimiCodeSession; readonly kimiCode: KimiCodeSession };

export async function runSessions(
	executable: string,
	action: SessionsAction,
	installation: Installation,
): Promise<number> {
	if (action.name === "export") return await runExport(executable, action.options);
	const { files, place, environment, shareDir, openStore } = await findCommandStore();
	const kimiCodeHome = toAbsolutePath(environment["KIMI_CODE_HOME"] || "~/.kimi-code", place);
	let store: SessionStore | null = null;
	try {
		store = await openStore();
		const openHost = async () => {
			const { createHost } = await import("../../host/create-host.ts");
			return await createHost({
				home: shareDir,
				userHome: place.home,
				workDir: place.currentDir,
				environment,
				installation,
			}).catch((thrown: unknown) => {
				throw new KernelError("invalid-input", errorText(thrown), { cause: thrown });
			});
		};
		return await answer(executable, action, { files, store, kimiCodeHome, place, openHost });
	} catch (thrown) {
		if (!(thrown instanceof KernelError) && !isSystemError(thrown)) throw thrown;
		process.stderr.write(`Error: ${fileFailureText(thrown)}\n`);
		return 1;
	} finally {
		await store?.close();
	}
}

async function answer(
	executable: string,
	action: Exclude<SessionsAction, { name: "export" }>,
	stores: Stores,
): Promise<number> {
	if (action.name === "list") {
		const workDir = action.workDir === null ? null : await checkWorkDir(action.workDir, stores.place, stores.files);
		const rows = (await listAll(stores, workDir)).filter(({ row }) => workDir === null || row.workDir === workDir);
		const sorted = rows.map(({ row }) => row).sort((one, other) => other.updatedAt - one.updatedAt);
		process.stdout.write(action.json ? rowsJson(sorted) : rowsText(sorted));
		return 0;
	}
	const found = await find(action.id, stores);
	if (found === null) {
		process.stderr.write(`Error: there is no session ${JSON.stringify(action.id)}; 'sessions list' shows them all.\n`);
		return 1;
	}
	if (action.name === "delete" || action.name === "fork") {
		if ("kimiCode" in found) {
			process.stderr.write(
				`Error: ${found.row.id} is a session of kimi-code, which is read-only here. Use kimi-code to ${action.name} it.\n`,
			);
			return 1;
		}
		if (action.name === "delete") return await deleteSession(action, found.row, stores);
		const { forkSession } = await import("./session-fork.ts");
		return await forkSession(executable, action, found.row, stores);
	}
	const messages = await readMessages(found, stores);
	process.stdout.write(action.json ? sessionJson(found.row, messages) : sessionText(found.row, messages));
	return 0;
}

/** If a work directory is given, includes its sessions even if no index lists them. */
async function listAll(
	{ files, store, kimiCodeHome }: Stores,
	workDir: string | null = null,
): Promise<readonly Found[]> {
	const { sessions } = await store.list(workDir === null ? {} : { workDir });
	const others = await listKimiCodeSessions(files, kimiCodeHome);
	return [
		...sessions.map(({ archivedAt, ...summary }) => ({
			row: { ...summary, store: "agentwire" as const, isArchived: archivedAt !== null },
		})),
		...others.map((session) => ({ row: session, kimiCode: session })),
	];
}

/** Finds the stored id, or the id with or without kimi-code's prefix. */
async function find(id: string, stores: Stores): Promise<Found | null> {
	if (!isSessionId(id)) throw new UsageError(`${JSON.stringify(id)} cannot be the id of a session.`);
	const all = await listAll(stores);
	const same = (one: string) => withoutPrefix(one) ?? one;
	return all.find(({ row }) => row.id === id) ?? all.find(({ row }) => same(row.id) === same(id)) ?? null;
}

async function deleteSession(
	{ yes, json }: Extract<SessionsAction, { name: "delete" }>,
	{ id, workDir, title }: SessionRow,
	{ store }: Stores,
): Promise<number> {
	if (!yes) {
		if (!process.stdin.isTTY)
			throw new UsageError("sessions delete asks for confirmation on a terminal; elsewhere, add --yes.");
		const { ask, close } = openQuestions(never);
		const reply = await ask(`Delete ${id} (${JSON.stringify(title)}) of ${workDir} for good? [y/N] `).finally(close);
		if (!/^y(es)?$/i.test(reply?.trim() ?? "")) {
			process.stderr.write("Nothing was deleted.\n");
			return 1;
		}
	}
	await store.delete(workDir, id);
	process.stdout.write(json ? `${toJsonLine({ deleted: id })}\n` : `Deleted ${id}.\n`);
	return 0;
}

async function readMessages(found: Found, { files, store }: Stores): Promise<readonly ReadMessage[]> {
	if ("kimiCode" in found) return await readKimiCodeMessages(files, found.kimiCode);
	return ((await store.readContext(found.row.workDir, found.row.id)) ?? []).flatMap(toReadMessage);
}

function toReadMessage(row: ContextRow): ReadMessage[] {
	if (row.type !== "message") return [];
	const { role, content, toolCalls = [] } = row.message;
	if (role !== "user" && role !== "assistant") return [];
	const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
	const tools = toolCalls.map((call) => call.function.name);
	return text === "" && tools.length === 0 ? [] : [{ role, text, tools }];
}
