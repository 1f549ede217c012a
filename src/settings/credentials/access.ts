// Read on every use and renewed before expiry, by one of the processes that share the file.
import path from "node:path";
import { never } from "../../base/abort.ts";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type LockTimes, withLock } from "../../ports/files/path-lock.ts";
import type { Files } from "../../ports/files/port.ts";
import type { PlatformPort } from "./exchange.ts";
import { requestGrant } from "./grant.ts";
import type { Platform } from "./platform.ts";
import { readTokens, type StoredTokens, type Tokens, writeTokens } from "./token-file.ts";

export type AccessAnswer =
	| { readonly ok: true; readonly key: string }
	| { readonly ok: false; readonly reason: string };

export interface AccessSettings extends PlatformPort {
	readonly files: Files;
	readonly log: Log;
	readonly platform: Platform;
	readonly file: string;
}

/** A renewal waits for the platform; another process must not use the same refresh token meanwhile. */
export const renewalTimes: LockTimes = { staleAfter: 60_000, patience: 40_000 };

/** Remaining lifetime in seconds at which any token is renewed. */
const shortRest = 300;
/** Milliseconds between attempts after a failure, while the token is still valid. */
const pauseAfterFailure = 60_000;

/** Whether the token is due for renewal (agent-kernel §2.7). A token with unknown expiry never is. */
export function isDue({ expiresAt, expiresIn }: Tokens, now: number): boolean {
	return expiresAt !== 0 && expiresAt - now / 1000 < Math.max(shortRest, expiresIn / 2);
}

export class Access {
	readonly #settings: AccessSettings;
	readonly #running = new Map<string, Promise<AccessAnswer>>();
	#pausedUntil = 0;
	#dead: { readonly refreshToken: string; readonly reason: string } | null = null;
	/** Tokens that could not be written, and the stored refresh token they replace. */
	#unsaved: { readonly replaced: string; readonly tokens: Tokens } | null = null;

	constructor(settings: AccessSettings) {
		this.#settings = settings;
	}

	/** Returns the stored token, after renewing an expired one if possible. Never rejects. */
	async current(): Promise<AccessAnswer> {
		const { clock } = this.#settings;
		const stored = await this.#load();
		if (stored.kind !== "tokens") return this.#toAbsence(stored);
		const { accessToken, expiresAt } = stored.tokens;
		const hasEnded = expiresAt !== 0 && expiresAt * 1000 <= clock.now();
		if (hasEnded && clock.monotonic() >= this.#pausedUntil) {
			const renewal = await this.renewed(accessToken);
			if (renewal.ok) return renewal;
		}
		// The provider decides whether the token is still valid: the local clock may be wrong.
		return { ok: true, key: accessToken };
	}

	/** A token other than the rejected one. Concurrent requests share one renewal. Never rejects. */
	renewed(refused: string): Promise<AccessAnswer> {
		const known = this.#running.get(refused);
		if (known !== undefined) return known;
		const renewal = this.#exclusively(() => this.#renew(refused)).finally(() => this.#running.delete(refused));
		this.#running.set(refused, renewal);
		return renewal;
	}

	/** Renews a token when half its lifetime, or five minutes, remains. Never rejects. */
	async renewIfDue(): Promise<void> {
		if (this.#unsaved !== null) {
			await this.#exclusively(async () => {
				await this.#load();
				if (this.#unsaved !== null) await this.#persist(this.#unsaved.tokens, this.#unsaved.replaced);
			});
		}
		if (this.#settings.clock.monotonic() < this.#pausedUntil) return;
		const stored = await this.#load();
		if (stored.kind !== "tokens" || !isDue(stored.tokens, this.#settings.clock.now())) return;
		if (stored.tokens.refreshToken === "" || stored.tokens.refreshToken === this.#dead?.refreshToken) return;
		await this.renewed(stored.tokens.accessToken);
	}

	async settled(): Promise<void> {
		while (this.#running.size > 0) await Promise.all(this.#running.values());
	}

	async #load(): Promise<StoredTokens> {
		const { files, file } = this.#settings;
		const stored = await readTokens(files, file);
		if (this.#unsaved === null) return stored;
		const isReplaced = stored.kind === "tokens" && stored.tokens.refreshToken === this.#unsaved.replaced;
		if (isReplaced || stored.kind === "damaged") {
			return { kind: "tokens", tokens: this.#unsaved.tokens };
		}
		// Another process has signed in or out.
		this.#unsaved = null;
		return stored;
	}

	/** Uses the tokens even if they cannot be written: the platform accepts no others from now on. */
	async #persist(tokens: Tokens, replaced: string): Promise<void> {
		const { files, file, log } = this.#settings;
		try {
			await writeTokens(files, file, tokens);
			this.#unsaved = null;
		} catch (thrown) {
			this.#unsaved = { replaced, tokens };
			const reason = errorText(thrown);
			log.error("A renewed sign-in could not be stored; this will be retried.", { path: file, reason });
		}
	}

	#exclusively<T>(work: () => Promise<T>): Promise<T> {
		return withLock(this.#settings, this.#settings.file, work, renewalTimes);
	}

	async #renew(old: string): Promise<AccessAnswer> {
		const { clock, file, log, platform } = this.#settings;
		const stored = await this.#load();
		if (stored.kind !== "tokens") return this.#toAbsence(stored);
		const { accessToken, refreshToken } = stored.tokens;
		if (accessToken !== old) return { ok: true, key: accessToken };
		if (refreshToken === "") return { ok: false, reason: "The sign-in cannot be renewed." };
		if (this.#dead?.refreshToken === refreshToken) return { ok: false, reason: this.#dead.reason };
		const proof = { type: "refresh_token", name: "refresh_token", value: refreshToken } as const;
		const grant = await requestGrant(this.#settings, platform, proof, never);
		if (grant.kind === "granted") {
			// A platform that returns no new refresh token still accepts the old one.
			await this.#persist({ ...grant.tokens, refreshToken: grant.tokens.refreshToken || refreshToken }, refreshToken);
			log.info("A sign-in was renewed.", { path: file });
			return { ok: true, key: grant.tokens.accessToken };
		}
		log.warn("A sign-in could not be renewed.", { path: file, reason: grant.reason });
		if (grant.kind === "failed") {
			this.#pausedUntil = clock.monotonic() + pauseAfterFailure;
			return { ok: false, reason: `The sign-in could not be renewed: ${grant.reason}.` };
		}
		// A program that does not use our lock may have renewed it meanwhile.
		const since = await this.#load();
		if (since.kind === "tokens" && since.tokens.accessToken !== old) return { ok: true, key: since.tokens.accessToken };
		this.#dead = { refreshToken, reason: `The sign-in is not renewed any more: ${grant.reason}.` };
		return { ok: false, reason: this.#dead.reason };
	}

	#toAbsence(stored: Exclude<StoredTokens, { kind: "tokens" }>): AccessAnswer {
		if (stored.kind === "absent") return { ok: false, reason: "Nobody is signed in." };
		return { ok: false, reason: `The sign-in stored in ${this.#settings.file} cannot be used: ${stored.reason}.` };
	}
}

export async function persistTokens(
	port: Pick<AccessSettings, "files" | "clock" | "file">,
	tokens: Tokens,
): Promise<void> {
	const { files, file } = port;
	await files.makeDirectory(path.dirname(file), 0o700);
	await withLock(port, file, () => writeTokens(files, file, tokens), renewalTimes);
}

/** Removes the tokens, after any renewal in progress, which would write them again. */
export async function removeTokens(port: Pick<AccessSettings, "files" | "clock" | "file">): Promise<boolean> {
	const { files, file } = port;
	if ((await files.status(file)) === null) return false;
	await withLock(port, file, () => files.remove(file), renewalTimes);
	return true;
}
