// Keys of a session's providers and services, from settings or from a sign-in that is renewed during the session.
import { unlessAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { KeySource } from "../../core/models/signed-in-model.ts";
import type { Files } from "../../ports/files/port.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import type { OauthReference } from "../../settings/config/configuration.ts";
import type { Access, AccessAnswer } from "../../settings/credentials/access.ts";
import { type PlatformSettings, toPlatform } from "../../settings/credentials/platform.ts";
import { tokenFileOf } from "../../settings/credentials/token-file.ts";

export interface KeyHolder {
	/** Key to use when signed out; may be empty. */
	readonly apiKey: string;
	readonly oauth: OauthReference | null;
}

export interface SessionKeys {
	/** Starts background renewal. */
	start(): void;
	/** Renews due sign-ins, waiting at most until the signal aborts. Returns undefined without sign-ins. */
	renewDue(signal: AbortSignal): Promise<void> | undefined;
	/** Stops renewing. Waits for a running renewal until the signal aborts. */
	close(signal: AbortSignal): Promise<void>;
}

export interface KeyRing extends SessionKeys {
	/** Returns the key source, or null for a key from the settings. */
	source(holder: KeyHolder): Promise<KeySource | null>;
	/** Returns the current key, or an empty string. Never rejects. */
	keyOf(holder: KeyHolder): Promise<string>;
}

export interface KeyRingSettings {
	readonly files: Files;
	readonly clock: Clock;
	readonly log: Log;
	readonly shareDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly platform: PlatformSettings;
	readonly version: string;
	readonly loginCommand: string;
	readonly fetch: Fetch;
}

/** Milliseconds between two renewal checks. */
const renewalInterval = 60_000;

/** Session keys. Sign-ins are read when a key is first requested. */
export function createKeyRing(settings: KeyRingSettings): KeyRing {
	const { clock, shareDir, loginCommand } = settings;
	const accesses = new Map<string, Promise<Access>>();
	let isRunning = false;
	let withdraw: (() => void) | null = null;

	const open = (file: string): Promise<Access> => {
		const known = accesses.get(file);
		if (known !== undefined) return known;
		const access = loadAccess(settings, file);
		accesses.set(file, access);
		schedule();
		return access;
	};

	const renewAll = async () => {
		for (const access of accesses.values()) await (await access).renewIfDue();
	};

	/** Only sessions with a sign-in have a timer. */
	const schedule = () => {
		if (!isRunning || withdraw !== null || accesses.size === 0) return;
		const look = async () => {
			await renewAll();
			withdraw = null;
			schedule();
		};
		withdraw = clock.after(renewalInterval, () => void look(), true);
	};

	const source = async ({ apiKey, oauth }: KeyHolder): Promise<KeySource | null> => {
		if (oauth === null) return null;
		const file = tokenFileOf(shareDir, oauth.key);
		if (file === null) return unusable(oauth.key, loginCommand);
		const access = await open(file);
		return {
			loginCommand,
			renewed: (refused) => access.renewed(refused),
			async current() {
				const answer = await access.current();
				return answer.ok || apiKey === "" ? answer : { ok: true, key: apiKey };
			},
		};
	};

	return {
		source,
		async keyOf(holder) {
			const answer = await (await source(holder))?.current();
			if (answer === undefined) return holder.apiKey;
			return answer.ok ? answer.key : "";
		},
		start() {
			isRunning = true;
			schedule();
		},
		renewDue: (signal) => (accesses.size === 0 ? undefined : unlessAborted(renewAll(), signal).then(() => undefined)),
		async close(signal) {
			isRunning = false;
			withdraw?.();
			withdraw = null;
			const settled = [...accesses.values()].map(async (access) => (await access).settled());
			await unlessAborted(Promise.all(settled), signal);
		},
	};
}

async function loadAccess(settings: KeyRingSettings, file: string): Promise<Access> {
	const { Access } = await import("../../settings/credentials/access.ts");
	const { environment, platform } = settings;
	return new Access({ ...settings, file, platform: toPlatform(environment, platform) });
}

function unusable(key: string, loginCommand: string): KeySource {
	const answer: AccessAnswer = {
		ok: false,
		reason: `The key ${JSON.stringify(key)} of oauth in the settings does not name a sign-in; it should be "oauth/kimi-code".`,
	};
	return { loginCommand, current: async () => answer, renewed: async () => answer };
}
