// Clients name a prompt by its uuid, which is the key of its turn.
import path from "node:path";
import type * as v from "valibot";
import type { SessionApi } from "../../api/kernel.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { FilePlan, RestoredFiles } from "../../api/values/file-changes.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import type { rewindAnswerSchema, rewindSchema } from "./wire.ts";

type RewindRequest = v.InferOutput<typeof rewindSchema>;
type RewindAnswer = v.InferInput<typeof rewindAnswerSchema>;
type Session = Pick<SessionApi, "events" | "send" | "workDir">;

export class KeyedTurns {
	readonly #session: Session;
	readonly #turns = new Map<string, string>();
	#reading: Promise<void> | null = null;

	constructor(session: Session) {
		this.#session = session;
	}

	take({ body, turnId }: AgentEvent): void {
		if (body.type === "turn.started" && body.key !== undefined && turnId !== null) this.#turns.set(body.key, turnId);
	}

	async find(key: string): Promise<string | null> {
		this.#reading ??= this.#read();
		await this.#reading;
		return this.#turns.get(key) ?? null;
	}

	async #read(): Promise<void> {
		for await (const event of eachOf(this.#session.events())) this.take(event);
	}
}

/** Restores the files, or previews it. Fails if nothing can be restored, because some clients check no further. */
export async function rewindFiles(
	session: Session,
	turns: KeyedTurns,
	{ user_message_id: prompt, dry_run: isDry }: RewindRequest,
): Promise<RewindAnswer> {
	if (isDry !== true) return await restore(session, await turnOf(prompt, turns));
	try {
		const plan = await session.send({ type: "files.plan", before: await turnOf(prompt, turns) });
		const conflicts = plan.files.filter(({ conflict }) => conflict);
		if (conflicts.length > 0) return { canRewind: false, error: conflictText(conflicts.map((file) => file.path)) };
		return toAnswer(plan, { restored: plan.files.map((file) => file.path), left: plan.uncovered }, session.workDir);
	} catch (thrown) {
		return { canRewind: false, error: toKernelError(thrown).message };
	}
}

async function restore(session: Session, before: string): Promise<RewindAnswer> {
	const plan = await session.send({ type: "files.plan", before });
	const done = await session.send({ type: "files.restore", before, conflicts: "stop" });
	if (done.restored.length === 0 && done.left.length > 0) throw new KernelError("invalid-input", leftText(done.left));
	return toAnswer(plan, { ...done, left: [...done.left, ...plan.uncovered] }, session.workDir);
}

async function turnOf(prompt: string, turns: KeyedTurns): Promise<string> {
	const turn = await turns.find(prompt);
	if (turn !== null) return turn;
	throw new KernelError("invalid-input", `No prompt of this session has the uuid ${JSON.stringify(prompt)}.`);
}

function toAnswer(plan: FilePlan, done: Omit<RestoredFiles, "id">, workDir: string): RewindAnswer {
	const absolute = (file: string) => path.resolve(workDir, file);
	const files = plan.files.filter((file) => done.restored.includes(file.path));
	const left = new Map(done.left.map((file) => [file.path, file.reason]));
	return {
		canRewind: true,
		filesChanged: done.restored.map(absolute),
		insertions: files.reduce((sum, { lines }) => sum + (lines?.added ?? 0), 0),
		deletions: files.reduce((sum, { lines }) => sum + (lines?.removed ?? 0), 0),
		notRestored: [...left].map(([file, reason]) => ({ path: absolute(file), reason })),
	};
}

const conflictText = (files: readonly string[]): string =>
	`Nothing can be restored, because these files are not as the session left them: ${files.join(", ")}.`;

function leftText(left: RestoredFiles["left"]): string {
	return `Nothing was restored: ${left.map(({ path: file, reason }) => `${file} (${reason})`).join(", ")}.`;
}
