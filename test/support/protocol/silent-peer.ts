// The other side of a connection, which takes everything and answers nothing.
import type { Peer } from "../../../src/ports/rpc/connection.ts";

export const silentPeer: Peer = {
	notify() {},
	notifyLine() {},
	call() {},
	callUnanswered() {},
	isWaiting: () => false,
	withdraw() {},
	ready: async () => {},
	isFull: () => false,
};
