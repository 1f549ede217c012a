import { messageOf, PeerGone } from "./errors.ts";

export interface ServerSentEvent {
	readonly name: string;
	readonly data: string;
}

/** Milliseconds without data until a stream counts as lost; the gateway pings every 15 s. */
const silence = 45_000;

/** Ends when the signal aborts. Throws PeerGone when the stream ends before. */
export async function* readServerSentEvents(response: Response, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
	const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
	if (reader === undefined) return;
	let text = "";
	try {
		for (;;) {
			const { done, value } = await inTime(reader.read());
			if (done) break;
			text += value;
			const blocks = text.split("\n\n");
			text = blocks.pop() ?? "";
			for (const block of blocks) {
				const lines = block.split("\n");
				const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
				const data = field("data");
				if (data !== undefined) yield { name: field("event") ?? "message", data };
			}
		}
	} catch (thrown) {
		if (signal.aborted) return;
		throw thrown instanceof PeerGone ? thrown : new PeerGone(`The stream of events was lost: ${messageOf(thrown)}`);
	} finally {
		reader.cancel().catch(() => {});
	}
	if (!signal.aborted) throw new PeerGone("The server ended the stream of events.");
}

async function inTime<T>(work: Promise<T>): Promise<T> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new PeerGone("The server was silent for too long.")), silence);
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}
