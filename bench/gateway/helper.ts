// Starts the processes of a measurement that are not measured.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Peer, peerOf } from "./process.ts";

export interface Helper<Incoming extends { readonly kind: string }, Outgoing> {
	readonly child: ChildProcess;
	readonly peer: Peer<Incoming, Outgoing>;
}

/** Starts a file of this folder; the caller ends it. */
export function startHelper<Incoming extends { readonly kind: string }, Outgoing>(
	file: string,
): Helper<Incoming, Outgoing> {
	const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: ["--import", "tsx"] });
	return { child, peer: peerOf<Incoming, Outgoing>(child) };
}
