// What a case of the wedge campaign is: something hostile, where it is put, and what shows that it got there.
import type { Random } from "../random.ts";
import type { Life } from "./life.ts";
import type { Answer, Loopback } from "./loopback.ts";
import type { Stage } from "./stage.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** What a case is given. */
export interface World {
	readonly stage: Stage;
	readonly random: Random;
	/** How many bytes or characters the hostile thing should have: a million at most. */
	readonly size: number;
	/** Answers for models, pages and services. */
	readonly loopback: Loopback;
}

/** What goes on while the heart beats. */
export interface Scene {
	/** `rpc` has the heartbeat in a second session; a process of `wire` has but one, and the heartbeat is a small request. */
	readonly dialect?: "rpc" | "wire";
	/** Whether the start of the program is what is tried: it may end instead of answering. */
	readonly isStart?: boolean;
	readonly flags?: readonly string[];
	/** A file of settings in place of the usual one. */
	readonly configFile?: string;
	/** Merged into the settings. */
	readonly settings?: Fields;
	/** Params of the handshake. */
	readonly initialize?: Fields;
	/** Tools of the client, as the text of JSON, declared before the hostile session is made (`rpc` alone). */
	readonly declared?: string;
	/** Further params of the session that does the hostile thing. */
	readonly create?: Fields;
	/** What its model answers to one request after the other; then `done`. */
	readonly answers?: readonly Answer[];
	readonly prompt?: string;
	/** The result for a request of the server's; null for the usual one. */
	readonly reply?: (method: string, params: Fields) => unknown;
	/** Milliseconds after which what was asked for is cancelled, when it is to hang. */
	readonly cancelAfter?: number;
	/** Puts the hostile thing in its place when the session of the heartbeat is there already. */
	readonly place?: () => void;
	/** What is done in place of one prompt. */
	readonly act?: (life: Life) => Promise<void>;
}

export interface Limits {
	/** Milliseconds that a beat may take. */
	readonly beat: number;
	/** Bytes that the process may have in memory at any time. */
	readonly memory: number;
	/** Milliseconds from the end of the input to the end of the process. */
	readonly end: number;
}

export const megabyte = 1024 * 1024;

export const standardLimits: Limits = { beat: 1000, memory: 300 * megabyte, end: 2000 };

export interface Case {
	/** The tool, or the place where the text comes in. */
	readonly area: string;
	readonly name: string;
	/** What the outcome must say: without it the hostile thing did not get where it should. */
	readonly reached: RegExp;
	readonly limits?: Partial<Limits>;
	/** Milliseconds to wait for an answer, where the amount of bytes alone takes longer than usual. */
	readonly patience?: number;
	readonly set: (world: World) => Scene | Promise<Scene>;
}
