// Plan mode of one session: whether it is on, where its plan is written, and the reminders the model gets of it.
import path from "node:path";
import type { Identifiers } from "../base/ids.ts";
import { createKeyedQueue } from "../base/keyed-queue.ts";
import { enterReminder, fullReminder, shortReminder } from "../definitions/plan-reminders.ts";
import type { ConversationMessage } from "../events/conversation.ts";
import type { Files } from "../files/port.ts";
import type { StoredSession } from "../store/session-store.ts";
import { planSlug } from "./plan-slug.ts";
import type { Reminders } from "./reminders.ts";

export interface PlanModeSettings {
	readonly stored: StoredSession;
	readonly files: Files;
	readonly identifiers: Identifiers;
	readonly shareDir: string;
	readonly home: string;
	/** Whether a session starts in plan mode, whatever its state says. */
	readonly startsOn: boolean;
}

/** Assistant messages between two reminders, and the reminders of which one is full. */
const messagesBetween = 5;
const fullEvery = 5;
const slugAttempts = 20;

export class PlanMode implements Reminders {
	readonly #settings: PlanModeSettings;
	readonly #switches = createKeyedQueue();
	#remindersGiven = 0;
	#lastReminderAt = 0;
	#isReentered = false;

	constructor(settings: PlanModeSettings) {
		this.#settings = settings;
	}

	get isOn(): boolean {
		return this.#settings.stored.state().planMode;
	}

	/** The plan's file; null while plan mode is off. */
	get file(): string | null {
		const { planMode, planSlug: slug } = this.#settings.stored.state();
		return planMode && slug !== null ? path.join(this.#settings.shareDir, "plans", `${slug}.md`) : null;
	}

	/** Turns plan mode on at the start, when the settings or the command line say so. */
	async start(): Promise<void> {
		if (this.#settings.startsOn && !this.isOn) await this.set(true, false);
	}

	/**
	 * Switches and keeps the state; a plan's name is chosen when it goes on and dropped when it goes off. Switches follow
	 * one another in the order of the calls; `onSet` is called before the next one begins, also when nothing changed.
	 */
	set(enabled: boolean, isManual: boolean, onSet: () => void = () => {}): Promise<void> {
		return this.#switches.run("", async () => {
			await this.#switchTo(enabled, isManual);
			onSet();
		});
	}

	async #switchTo(enabled: boolean, isManual: boolean): Promise<void> {
		const { stored, identifiers } = this.#settings;
		if (enabled === this.isOn) return;
		this.#remindersGiven = 0;
		this.#isReentered = enabled && isManual;
		await stored.updateState(
			enabled
				? { planMode: true, planSessionId: identifiers.hex(32), planSlug: await this.#chooseSlug() }
				: { planMode: false, planSessionId: null, planSlug: null },
		);
	}

	/** The plan's text; null when there is none, or nothing in it. The place of older versions is read as well. */
	async read(): Promise<{ readonly file: string; readonly text: string } | null> {
		const { files, home } = this.#settings;
		const current = this.file;
		if (current === null) return null;
		for (const file of [current, path.join(home, ".kimi", "plans", path.basename(current))]) {
			const text = (await files.read(file))?.toString("utf8") ?? "";
			if (text.trim() !== "") return { file, text };
		}
		return null;
	}

	/** What was told of it is not in the context any more. */
	rearm(): void {
		this.#remindersGiven = 0;
	}

	/** The reminder due at this step: full at first and now and then, short in between, none otherwise. */
	async due(messages: readonly ConversationMessage[]): Promise<readonly string[]> {
		const { file } = this;
		if (file === null) return [];
		const spoken = messages.filter(({ role }) => role === "assistant").length;
		if (this.#remindersGiven > 0 && spoken - this.#lastReminderAt < messagesBetween) return [];
		const hasPlan = (await this.#settings.files.status(file)) !== null;
		const isFull = this.#remindersGiven % fullEvery === 0;
		const isReentry = this.#isReentered && hasPlan;
		this.#isReentered = false;
		this.#remindersGiven += 1;
		this.#lastReminderAt = spoken;
		if (isReentry) return [enterReminder(file)];
		return [isFull ? fullReminder(file, hasPlan) : shortReminder(file)];
	}

	async #chooseSlug(): Promise<string> {
		const { files, shareDir, identifiers } = this.#settings;
		for (let attempt = 0; attempt < slugAttempts; attempt += 1) {
			const slug = planSlug(identifiers);
			if ((await files.status(path.join(shareDir, "plans", `${slug}.md`))) === null) return slug;
		}
		return `${planSlug(identifiers)}-${identifiers.hex(6)}`;
	}
}
