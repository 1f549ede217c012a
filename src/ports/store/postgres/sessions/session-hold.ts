// This process's hold on an open session: it ends for good when another process has taken the session, or may have.
import { createDeferred } from "../../../../base/deferred.ts";
import type { KernelError } from "../../../../base/errors.ts";
import type { Database } from "../database.ts";
import type { HeldSession, ProcessLease, SessionRight } from "../process-lease.ts";
import { readSessionRow } from "./session-row.ts";

export interface HoldOptions extends SessionRight {
	readonly epoch: string;
	readonly database: Database;
	readonly lease: ProcessLease;
}

export class SessionHold implements HeldSession {
	readonly sessionId: string;
	readonly holder: string;
	readonly term: number;
	readonly #options: HoldOptions;
	readonly #lost = createDeferred<KernelError>();
	readonly #over = new AbortController();

	constructor(options: HoldOptions) {
		this.sessionId = options.sessionId;
		this.holder = options.holder;
		this.term = options.term;
		this.#options = options;
	}

	/** Resolves with the reason when nothing can be written any more. */
	get lost(): Promise<KernelError> {
		return this.#lost.promise;
	}

	get over(): AbortSignal {
		return this.#over.signal;
	}

	lose(reason: KernelError): void {
		this.#over.abort(reason);
		this.#lost.resolve(reason);
	}

	/** Finds out why a statement had no effect: ends the hold if another process has, or may have, the session. */
	async examine(written: { readonly exists: boolean; readonly version: number }): Promise<void> {
		const { database, lease, epoch } = this.#options;
		const now = await readSessionRow(database, this.sessionId);
		if (now === null) {
			// A first commit also finds no row if this process's lease has expired.
			if (written.exists) lease.lose(this, "it was deleted.");
			else lease.lapse(this.holder);
		} else if (now.epoch !== epoch || now.term !== this.term || now.holder !== this.holder) {
			lease.lose(this, "another process has taken over the session.");
		} else if (!now.is_held) lease.lapse(this.holder);
		else if (now.version > written.version + 1) lease.lose(this, "somebody else has written it.");
	}
}
