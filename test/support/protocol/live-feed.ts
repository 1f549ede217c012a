// The feed of a client that has everything so far: it reads nothing back.
import { EventFeed } from "../../../src/kernel/clients/event-feed.ts";

export function createLiveFeed(): EventFeed {
	async function* read() {}
	return new EventFeed({
		flow: "blocking",
		after: 0,
		source: { read, delivered: () => 0, left: () => 0 },
		wantsProgress: true,
	});
}
