// `sessions fork`: continues a copy of a session, or of its beginning, in the same directory or in a copy of its files.
import path from "node:path";
import { KernelError } from "../../base/errors.ts";
import { toJsonLine } from "../../base/json.ts";
import { shellWord } from "../../base/text/quoting.ts";
import { toAbsolutePath } from "../../host/place.ts";
import { readTurns, turnLines } from "../../kernel/rewind/turn-places.ts";
import type { Files } from "../../ports/files/port.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import type { ForkAction } from "../arguments/options/sessions-options.ts";
import { onOneLine, withoutControls } from "../printable-text.ts";
import type { SessionRow } from "./session-table.ts";
import type { Stores } from "./sessions.ts";

export async function forkSession(
	executable: string,
	{ before, files, json }: ForkAction,
	{ id, workDir }: SessionRow,
	{ files: disk, store, place, openHost }: Stores,
): Promise<number> {
	const options = {
		...(before === null ? {} : { before: await findTurn(before, id, workDir, store) }),
		...(files === null
			? {}
			: {
					files: {
						directory: files.into === null ? await besides(workDir, disk) : toAbsolutePath(files.into, place),
						worktree: files.worktree,
					},
				}),
	};
	const host = await openHost();
	try {
		const { id: forkId, left, reasons } = await host.sessions.fork(id, options);
		const directory = (await store.workDirOf(forkId)) ?? workDir;
		if (json) {
			process.stdout.write(`${toJsonLine({ forked: id, id: forkId, work_dir: directory, left, reasons })}\n`);
			return 0;
		}
		const command = `${path.basename(executable)} -w ${shellWord(directory)} -r ${forkId}`;
		const lines = [
			`Forked ${id} as ${forkId} in ${directory}.`,
			...left.map(({ path: name, reason }) => `Not copied: ${onOneLine(name, 300)}: ${reason}`),
			...reasons.map((reason) => `The files may differ: ${reason}`),
			`Continue it: ${command}`,
		];
		process.stdout.write(`${withoutControls(lines.join("\n"))}\n`);
		return 0;
	} finally {
		await host.close();
	}
}

async function findTurn(named: string, id: string, workDir: string, store: SessionStore): Promise<string> {
	const view = await store.view(workDir, id);
	const turns = view === null ? [] : await readTurns(view.events());
	const turn = turns.find((each) => each.id === named) ?? turns[/^\d+$/.test(named) ? Number(named) - 1 : -1];
	if (turn !== undefined) return turn.id;
	const known = turns.length === 0 ? "It has none." : `Its turns:\n${turnLines(turns).join("\n")}`;
	throw new KernelError(
		"invalid-input",
		`The session ${id} has no turn ${JSON.stringify(named)}. ${withoutControls(known)}`,
	);
}

async function besides(workDir: string, files: Files): Promise<string> {
	for (let number = 1; ; number += 1) {
		const directory = `${workDir}-fork${number === 1 ? "" : `-${number}`}`;
		if ((await files.status(directory)) === null) return directory;
	}
}
