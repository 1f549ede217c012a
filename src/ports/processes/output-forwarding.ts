import { StringDecoder } from "node:string_decoder";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { OutputCapture, OutputSource } from "./output-capture.ts";
import type { RunRequest } from "./port.ts";
import { createWriteQueue } from "./write-queue.ts";

/** A failing sink is abandoned and logged; the child continues and its output is dropped. Does not close the sink. */
export function createOutputForwarding({ sink, limit }: NonNullable<RunRequest["outputTo"]>, log: Log): OutputCapture {
	const decoders: Record<OutputSource, StringDecoder> = {
		output: new StringDecoder("utf8"),
		error: new StringDecoder("utf8"),
	};
	let total = 0;
	const writing = createWriteQueue((thrown) => log.warn("Output could not be stored", { cause: errorText(thrown) }));
	const append = (text: string): Promise<void> | null =>
		writing.hasFailed || text === "" ? null : writing.run(() => sink.append(text));

	return {
		push(source, bytes) {
			const room = Math.max(0, limit - total);
			total += bytes.length;
			return append(decoders[source].write(bytes.subarray(0, room)));
		},
		async finish() {
			for (const decoder of Object.values(decoders)) await append(decoder.end());
			if (total > limit) await append(`\n[output beyond ${limit} bytes was not stored]\n`);
			// Waits for pending writes.
			await writing.run(async () => {});
			return { output: "", errorOutput: "", outputBytes: total, truncated: total > limit, spilledTo: null };
		},
	};
}
