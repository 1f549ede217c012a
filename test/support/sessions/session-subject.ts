// A session over doubles: scripted model, fake clock, a store in memory.

import type { Attachment } from "../../../src/api/kernel.ts";
import type { AttachOptions } from "../../../src/api/session-options.ts";
import type { AgentEvent, EventBody, EventType } from "../../../src/api/values/event.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { Model } from "../../../src/core/models/model.ts";
import type { Tool } from "../../../src/core/tools/tool.ts";
import type { InteractionDeadlines } from "../../../src/kernel/interactions/interaction-table.ts";
import { Session } from "../../../src/kernel/session/session.ts";
import type { SessionParts } from "../../../src/kernel/session/session-parts.ts";
import { createFakeClock, type FakeClock } from "../host/campaign-clock.ts";
import { createSessionDouble, type SessionDouble } from "../store/failing-session.ts";
import { heldSession } from "../store/held-session.ts";
import { chosenModel, createQuietParts, plainAttachment } from "./session-doubles.ts";

export interface SessionSubject {
	readonly session: Session;
	readonly double: SessionDouble;
	readonly clock: FakeClock;
	/** A client that reads everything. */
	attach(options?: Partial<AttachOptions>): ClientDouble;
	/** The same for a client with tools, of those the names that are accepted. */
	attachWithTools(tools: AttachOptions["tools"]): Promise<ClientDouble>;
}

export interface ClientDouble {
	readonly attachment: Attachment;
	readonly bodies: EventBody[];
	/** Resolves with the next event of the type that was not yet awaited. */
	next<T extends EventType>(type: T): Promise<Extract<EventBody, { type: T }>>;
	/** Called with each event as it arrives. */
	onEvent: (event: AgentEvent) => void;
}

export async function createSessionSubject(
	model: Model | null,
	tools: readonly Tool[] = [],
	overrides: Partial<SessionParts> & { readonly deadlines?: InteractionDeadlines } = {},
	double?: SessionDouble,
): Promise<SessionSubject> {
	const persisted = double ?? (await createSessionDouble());
	const clock = createFakeClock();
	let ids = 0;
	const session = new Session({
		stored: heldSession(persisted.stored),
		chosen: chosenModel(model),
		...createQuietParts(persisted.stored),
		createTools: async () => tools,
		limits: { maxSteps: 5, maxAttempts: 3 },
		deadlines: { approval: 0, question: 0, "client-tool": 0 },
		yolo: false,
		systemPrompt: async () => "Be brief.",
		clock,
		identifiers: { uuid: () => `ask-${++ids}`, hex: () => `turn-${++ids}` },
		random: () => 0,
		log: silentLog,
		...overrides,
	});
	return {
		session,
		double: persisted,
		clock,
		attach: (options = {}) => watchClient(session.attachPlain({ ...plainAttachment, ...options })),
		attachWithTools: async (declared) => watchClient(await session.attach({ ...plainAttachment, tools: declared })),
	};
}

function watchClient(attachment: Attachment): ClientDouble {
	const bodies: EventBody[] = [];
	let awaited = 0;
	const waiters: (() => void)[] = [];
	const client: ClientDouble = {
		attachment,
		bodies,
		onEvent: () => {},
		async next(type) {
			while (true) {
				const index = bodies.findIndex((body, position) => position >= awaited && body.type === type);
				const found = bodies[index];
				if (found !== undefined && isOfType(found, type)) {
					awaited = index + 1;
					return found;
				}
				await new Promise<void>((resolve) => waiters.push(resolve));
			}
		},
	};
	void (async () => {
		for (const { body } of attachment.snapshot.openInteractions) bodies.push(body);
		for await (const batch of attachment.events) {
			for (const event of batch) {
				bodies.push(event.body);
				client.onEvent(event);
			}
			for (const waiter of waiters.splice(0)) waiter();
		}
	})();
	return client;
}

function isOfType<T extends EventType>(body: EventBody, type: T): body is Extract<EventBody, { type: T }> {
	return body.type === type;
}
