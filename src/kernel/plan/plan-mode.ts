import path from "node:path";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { KernelError } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import { enterReminder, fullReminder, shortReminder } from "../../core/definitions/plan-reminders.ts";
import type { Files } from "../../ports/files/port.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";
import type { Reminders } from "../turn/reminders.ts";
import { planSlug } from "./plan-slug.ts";

export interface PlanModeSettings {
	readonly stored: StoredSession;
	readonly files: Files;
	readonly identifiers: Identifiers;
	readonly shareDir: string;
	readonly home: string;
	/** Whether the session starts in plan mode regardless of its state. */
	readonly startsOn: boolean;
	readonly isSupported: boolean;
}

/** Assistant messages between two reminders, and how often a full reminder is sent. */
const messagesBetween = 5;
const fullEvery = 5;
const slugAttempts = 20;

/** Maximum bytes of a plan that can be shown and approved. */
const shownLimit = 256 * 1024;

export class PlanMode implements Reminders {
	readonly #settings: PlanModeSettings;
	readonly #switches = createKeyedQueue();
	#remindersGiven = 0;
	#lastReminderAt = 0;
	#isReentered = false;
	#directory: string;
	/** Plan name when the state has none. */
	#spareSlug: string | null = null;
	#onSwitched = () => {};

	constructor(settings: PlanModeSettings) {
		this.#settings = settings;
		this.#directory = this.#directories()[0];
	}

	onSwitched(listener: () => void): void {
		this.#onSwitched = listener;
	}

	get isOn(): boolean {
		return this.#settings.stored.state().planMode;
	}

	/** Plan file; null while plan mode is off. */
	get file(): string | null {
		const { stored, identifiers } = this.#settings;
		const { planMode, planSlug: named } = stored.state();
		if (!planMode) return null;
		// A file always exists: without one, edits would not be refused.
		if (named === null) this.#spareSlug ??= planSlug(identifiers);
		return path.join(this.#directory, `${named ?? this.#spareSlug}.md`);
	}

	/** Restores plan mode, or enables it if configured and supported. A plan without a name gets a new one. */
	async start(): Promise<void> {
		const { stored } = this.#settings;
		if (this.isOn && stored.state().planSlug === null) {
			await stored.commit({ state: { planSlug: await this.#chooseSlug() } }, { whenClaimed: true });
		}
		const found = this.isOn ? await this.read().catch(() => null) : null;
		if (found !== null) this.#directory = path.dirname(found.file);
		if (this.#settings.startsOn && this.allows(true) && !this.isOn) await this.set(true, false);
	}

	/** An agent without the tools cannot enter plan mode, but may leave it. */
	allows(enabled: boolean): boolean {
		return this.#settings.isSupported || (this.isOn && !enabled);
	}

	refusal(enabled: boolean): KernelError | null {
		return this.allows(enabled) ? null : new KernelError("unsupported", "Plan mode is not supported");
	}

	check(enabled: boolean): void {
		const refusal = this.refusal(enabled);
		if (refusal !== null) throw refusal;
	}

	/** Entering chooses a plan name; leaving drops it. Serialized; `onSet` runs before the next call. */
	set(enabled: boolean, isManual: boolean, onSet: () => void = () => {}): Promise<void> {
		return this.#switches.run("", async () => {
			this.check(enabled);
			await this.#switchTo(enabled, isManual);
			onSet();
		});
	}

	async #switchTo(enabled: boolean, isManual: boolean): Promise<void> {
		const { stored, identifiers } = this.#settings;
		if (enabled === this.isOn) return;
		this.#remindersGiven = 0;
		this.#isReentered = enabled && isManual;
		this.#directory = this.#directories()[0];
		const state = enabled
			? { planMode: true, planSessionId: identifiers.hex(32), planSlug: await this.#chooseSlug() }
			: { planMode: false, planSessionId: null, planSlug: null };
		// Sync: the change is reported right away.
		await stored.commit({ state }, { sync: true, whenClaimed: true });
		this.#onSwitched();
	}

	async read(): Promise<{ readonly file: string; readonly text: string } | null> {
		const { files } = this.#settings;
		for (const file of this.#candidates()) {
			const bytes = (await files.readRange(file, 0, shownLimit + 1)) ?? Buffer.alloc(0);
			const text = bytes.subarray(0, shownLimit).toString("utf8");
			const rest = bytes.length > shownLimit ? `\n\n[The rest of the plan is in ${file}.]` : "";
			if (text.trim() !== "") return { file, text: text + rest };
		}
		return null;
	}

	/** The plan state for a copy of this session: a separate plan with the same text. */
	async copy(): Promise<Partial<SessionState>> {
		const { files, identifiers } = this.#settings;
		if (!this.isOn) return {};
		const [planSlug, found] = [await this.#chooseSlug(), await this.read()];
		if (found !== null) {
			const [directory] = this.#directories();
			await files.makeDirectory(directory);
			await files.replace(path.join(directory, `${planSlug}.md`), (await files.read(found.file)) ?? "");
		}
		return { planMode: true, planSessionId: identifiers.hex(32), planSlug };
	}

	/** Removes the plan from every directory that may contain it. */
	async clear(): Promise<void> {
		for (const file of this.#candidates()) await this.#settings.files.remove(file);
	}

	rearm(): void {
		this.#remindersGiven = 0;
	}

	/** The reminder due at this step, if any: full at first and periodically, short in between. */
	async due(messages: readonly HistoryEntry[]): Promise<readonly string[]> {
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
		const { files, identifiers } = this.#settings;
		const isTaken = async (slug: string) => {
			const found = await Promise.all(
				this.#directories().map((each) => files.status(path.join(each, `${slug}.md`)).catch(() => null)),
			);
			return found.some((status) => status !== null);
		};
		for (let attempt = 0; attempt < slugAttempts; attempt += 1) {
			const slug = planSlug(identifiers);
			if (!(await isTaken(slug))) return slug;
		}
		return `${planSlug(identifiers)}-${identifiers.hex(6)}`;
	}

	/** Plan directories: in the share directory, and the fixed one of the reference implementation. */
	#directories(): readonly [string, string] {
		const { shareDir, home } = this.#settings;
		return [path.join(shareDir, "plans"), path.join(home, ".kimi", "plans")];
	}

	#candidates(): readonly string[] {
		const { file } = this;
		if (file === null) return [];
		const others = this.#directories().map((directory) => path.join(directory, path.basename(file)));
		return [...new Set([file, ...others])];
	}
}
