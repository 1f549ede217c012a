// Hooks: commands of the settings, and subscriptions of clients.
import type { HookEvent } from "./hook-event.ts";

interface HookBase {
	readonly event: HookEvent;
	/** A regular expression in Python syntax, searched in the target. Empty matches all; an invalid one never matches. */
	readonly matcher: string;
	/** Seconds. */
	readonly timeout: number;
}

/** A shell command hook from the settings. */
export interface CommandHook extends HookBase {
	readonly kind: "command";
	readonly command: string;
	/** Whether a crash, timeout or invalid matcher blocks instead of allowing. */
	readonly failClosed: boolean;
}

export interface ClientHook extends HookBase {
	readonly kind: "client";
	/** The client, once it is attached. */
	readonly clientId?: string;
	/** The client's own name for the subscription. */
	readonly subscriptionId: string;
}

export type Hook = CommandHook | ClientHook;
