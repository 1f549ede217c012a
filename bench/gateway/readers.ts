// The clients of the gateway's measurement, in a process of their own.
import { inParallel } from "../parallel.ts";
import { percentile } from "../report.ts";
import { openStream } from "./measured-stream.ts";
import type { ReadersReport, ReadersRequest } from "./measurement.ts";
import { childOf } from "./process.ts";

/** Streams that are opened at once. */
const atOnce = 20;

const parent = childOf<ReadersRequest, ReadersReport>();
const { port, token, shares, stalled, count, unmeasured } = await parent.next("open");
const streams = await inParallel(shares.length, atOnce, (n) =>
	openStream({ port, token }, shares[n] ?? [], unmeasured),
);
const [idle, reading] = [streams.slice(0, stalled), streams.slice(stalled)];
for (const stream of idle) stream.pause();
parent.send({ kind: "open" });
await parent.next("finish");
// Those that read have the end of every turn; then the others read.
await Promise.all(reading.map((stream) => stream.ended()));
for (const stream of idle) stream.resume();
await Promise.all(idle.map((stream) => stream.ended()));
const times = reading.flatMap((stream) => stream.times);
parent.send({
	kind: "result",
	deltas: times.length,
	median: percentile(times, 0.5),
	p99: percentile(times, 0.99),
	faults: [
		...reading.flatMap((stream) => stream.faults(count, true)),
		...idle.flatMap((stream) => stream.faults(count, false)),
	],
});
