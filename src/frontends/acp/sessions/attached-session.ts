import type { Attachment, SessionApi, SessionHandle } from "../../../api/kernel.ts";
import type { AttachOptions } from "../../../api/session-options.ts";
import type { SessionDescription } from "../../../api/session-state.ts";
import { toSessionMode } from "../../../api/values/session-mode.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { EventPump } from "../../shared/event-pump.ts";
import { Choices } from "./choices.ts";
import type { AttachedClient, ClientSide } from "./client-side.ts";
import { OwnPrompts } from "./own-prompts.ts";
import { SessionView, type ViewParts } from "./session-view.ts";

export class AttachedSession {
	readonly choices: Choices;
	readonly prompts: OwnPrompts;
	view: SessionView;
	readonly #begin = createDeferred<void>();
	/** Resolves when sending the session's events has begun. */
	readonly begun: Promise<void> = this.#begin.promise;
	readonly #pump: EventPump;
	readonly #parts: ViewParts;
	#attachment: Attachment;

	private constructor(
		session: SessionApi,
		attachment: Attachment,
		description: SessionDescription,
		client: AttachedClient,
		{ kernelApi, peer }: ClientSide,
	) {
		const { snapshot } = attachment;
		this.choices = new Choices(session, description, client.capabilities.session.configOptions.boolean, {
			mode: toSessionMode(snapshot),
			model: snapshot.model,
		});
		this.#attachment = attachment;
		this.#pump = new EventPump(session, peer, (event) => this.view.project(event), kernelApi.log);
		this.prompts = new OwnPrompts(session, this.#pump);
		this.#parts = { session, client, choices: this.choices, prompts: this.prompts, peer, clock: kernelApi.clock };
		this.view = new SessionView(this.#parts, snapshot);
	}

	/** Attaches the client. Sends nothing before `begin`. */
	static async attach({ session }: SessionHandle, side: ClientSide): Promise<AttachedSession> {
		const client = side.client();
		const description = await session.send({ type: "session.describe" });
		const attachment = await session.attach(toAttachOptions(client));
		return new AttachedSession(session, attachment, description, client, side);
	}

	/** Reattaches the client without its state; `work` runs between the events of the two attachments. */
	async renew(work: () => Promise<void>): Promise<void> {
		const { session, client } = this.#parts;
		const shown = createDeferred<void>();
		const attach = () => session.attach({ ...toAttachOptions(client), replaces: this.#attachment.id });
		await this.#pump.replace(attach, async (attachment) => {
			const { snapshot } = attachment;
			this.#attachment = attachment;
			this.view = new SessionView(this.#parts, snapshot);
			this.choices.noteMode(toSessionMode(snapshot));
			if (snapshot.model !== null) this.choices.noteModel(snapshot.model);
			await work().then(shown.resolve, shown.reject);
		});
		await shown.promise;
	}

	begin(): void {
		this.#pump.carry(this.#attachment);
		this.#begin.resolve();
	}

	/** Resolves when all current events were sent, so that a request's changes are shown before its answer. */
	shown(): Promise<void> {
		return this.#attachment.drained();
	}

	drained(): Promise<void> {
		return this.#pump.drained();
	}

	detach(): void {
		this.#attachment.close();
	}
}

function toAttachOptions({ capabilities, info }: AttachedClient): AttachOptions {
	return {
		client: info === null ? null : { name: info.name, version: info.version },
		tools: [],
		capabilities: ["questions", "plan-mode"],
		hooks: [],
		wantsProgress: capabilities._meta.terminal_output,
	};
}
