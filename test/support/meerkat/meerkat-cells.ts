// What the golden transcripts of Meerkat RPC have to cover: its methods, events, errors and requests, in both eras.
import { errorNumbers } from "../../../src/frontends/meerkat/errors.ts";
import { meerkatProtocol } from "../../../src/frontends/meerkat/protocol.ts";

/** What nothing leads to in a conversation alone, and what has the same number in both tables. */
const unreachable: ReadonlySet<string> = new Set(["SESSION_NOT_RUNNING", "CAPABILITY_UNAVAILABLE", "INTERNAL_ERROR"]);
const ofTheEnvelope: ReadonlySet<string> = new Set(["PARSE_ERROR", "INVALID_REQUEST"]);

/** What only fields of the contract lead to. */
const ofTheContract: ReadonlySet<string> = new Set(["SKILL_NOT_FOUND"]);

/** There a turn waits for the one before it; a session is busy only with a turn of another client. */
const ofOtherClients: ReadonlySet<string> = new Set(["SESSION_BUSY"]);

/** Every cell as `kind cell`. */
export function meerkatCells(methods: readonly string[]): readonly string[] {
	const errors = Object.keys(errorNumbers).filter((name) => !unreachable.has(name));
	return [
		// Asking for capabilities is what ends the first era.
		...methods.filter((name) => name !== "capabilities/get").map((name) => `meerkat-method ${name}/seed`),
		...methods.map((name) => `meerkat-method ${name}/contract`),
		...Object.keys(meerkatProtocol.events).map((type) => `meerkat-event ${type}`),
		...errors.filter((name) => !ofTheContract.has(name)).map((name) => `meerkat-error ${name}/seed`),
		...errors
			.filter((name) => !ofTheEnvelope.has(name) && !ofOtherClients.has(name))
			.map((name) => `meerkat-error ${name}/contract`),
		...Object.keys(meerkatProtocol.requests).map((name) => `meerkat-request ${name}`),
	];
}
