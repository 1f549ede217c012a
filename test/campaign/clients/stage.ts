// The session of a round: a scripted model, tools that need approvals and questions, a store in memory or on disk.

import { silentLog } from "../../../src/base/log.ts";
import { Session } from "../../../src/kernel/session/session.ts";
import { createDiskStore } from "../../../src/ports/store/disk/disk-store.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore, StoredSession } from "../../../src/ports/store/session-store.ts";
import { createFakeClock, type FakeClock } from "../../support/host/campaign-clock.ts";
import { createGatedModel, type GatedModel } from "../../support/models/campaign-model.ts";
import { nextTurn } from "../../support/sessions/campaign-server.ts";
import { createCountingTools, createTalkingTools } from "../../support/sessions/campaign-tools.ts";
import { chosenModel, createQuietParts } from "../../support/sessions/session-doubles.ts";
import { heldSession } from "../../support/store/held-session.ts";
import { createMemoryFiles } from "../../support/store/memory-files.ts";

export interface StageSettings {
	readonly store: "memory" | "disk";
	/** Turns of the event loop that every write takes. */
	readonly latency: number;
	/** Seconds until an approval or a question is settled without an answer; 0 for never. */
	readonly deadline: number;
}

export interface Stage {
	readonly session: Session;
	readonly clock: FakeClock;
	readonly gate: GatedModel;
	/** Counts what happens inside. */
	activity(): number;
	close(): Promise<void>;
}

const workDir = "/home/me/project";
const sessionId = "5ac1e9f4-0000-4000-8000-000000000001";

async function createStore(kind: StageSettings["store"], clock: FakeClock): Promise<SessionStore> {
	if (kind === "memory") return createMemoryStore();
	const files = createMemoryFiles();
	for (const directory of ["/share", workDir]) await files.makeDirectory(directory);
	return createDiskStore({ files, shareDir: "/share", log: silentLog, clock, protocolVersion: "1.10" });
}

export async function createStage({ store, latency, deadline }: StageSettings): Promise<Stage> {
	const clock = createFakeClock();
	const gate = createGatedModel();
	let activity = 0;
	const stored = await (await createStore(store, clock)).openOrCreate(workDir, sessionId);
	const watched: StoredSession = {
		...stored,
		async commit(batch, options) {
			activity += 1;
			for (let turn = 0; turn < latency; turn += 1) await nextTurn();
			const numbered = await stored.commit(batch, options);
			activity += 1;
			return numbered;
		},
	};
	let ids = 0;
	const nextId = (): string => {
		ids += 1;
		return `id-${ids}`;
	};
	const files = createMemoryFiles();
	const session = new Session({
		stored: heldSession(watched),
		chosen: chosenModel(gate.model),
		...createQuietParts(watched),
		createTools: async (operations) => [
			...createCountingTools(clock, false, () => {
				activity += 1;
			}),
			...createTalkingTools(operations, files),
		],
		limits: { maxSteps: 6, maxAttempts: 1 },
		deadlines: { approval: deadline, question: deadline, "client-tool": deadline },
		yolo: false,
		systemPrompt: async () => "Be brief.",
		clock,
		identifiers: { uuid: nextId, hex: nextId },
		random: () => 0.5,
		log: silentLog,
	});
	return {
		session,
		clock,
		gate,
		activity: () => activity + gate.activity(),
		close: () => session.close(AbortSignal.timeout(1000)),
	};
}
