import { readWorkerAddress, type WorkerAddress } from "../../../cluster/worker-address.ts";
import { toListenHost } from "../listen-host.ts";
import { splitOwnFlags } from "../own-flags.ts";
import { UsageError } from "../usage-error.ts";

export interface WorkerFlags {
	readonly listen: WorkerAddress;
	/** The address for front ends; null means the listen address. */
	readonly announced: WorkerAddress | null;
	readonly allowsUnencrypted: boolean;
	/** Paths of PEM files, as typed; null means unencrypted connections. */
	readonly tls: { readonly certificate: string; readonly key: string } | null;
	/** The address of the health and metrics endpoints; null means none. */
	readonly operations: WorkerAddress | null;
	readonly tags: readonly string[];
	/** Maximum number of sessions in use; null means the configured limit. */
	readonly capacity: number | null;
	readonly drain: number;
	/** The program that prepares a work directory, as typed; null means none. */
	readonly prepare: string | null;
	readonly json: boolean;
}

const usualDrain = 30;
const tagForm = /^[A-Za-z0-9._:@/-]{1,64}$/;

export const workerFlags = [
	{
		names: ["--listen"],
		value: "HOST:PORT",
		about: "Where gateways reach this worker; port 0 picks a free one. Default: 127.0.0.1:0.",
	},
	{
		names: ["--announce"],
		value: "HOST:PORT",
		about: "The address that gateways use, if it differs from --listen.",
	},
	{ names: ["--tls-cert"], value: "FILE", offers: "files", about: "Encrypt with this certificate, in PEM." },
	{ names: ["--tls-key"], value: "FILE", offers: "files", about: "The key of the certificate, in PEM." },
	{
		names: ["--allow-unencrypted"],
		value: null,
		about: "Required to listen for other machines without a certificate; only for a private network.",
	},
	{
		names: ["--operations"],
		value: "HOST:PORT",
		about:
			"Serve /healthz, /readyz and, with a token from gateway.json, /metrics at this address, over HTTPS with --tls-cert; port 0 picks a free one.",
	},
	{ names: ["--tag"], value: "TAG", about: "A capability that sessions can require; may be repeated." },
	{
		names: ["--sessions"],
		value: "N",
		about: "Maximum number of sessions in use. Default: limits.loaded_sessions.",
	},
	{
		names: ["--drain"],
		value: "SECONDS",
		about: `How long running turns may continue at shutdown. Default: ${usualDrain}.`,
	},
	{
		names: ["--prepare"],
		value: "CMD",
		about:
			"Program, or JSON list of a program and its arguments, that prepares the work directory before a session is created or opened here. It gets the session as JSON on stdin.",
	},
	{ names: ["--json"], value: null, about: "Print one line of JSON when ready." },
] as const;

export function splitWorkerFlags(words: readonly string[]): {
	readonly worker: WorkerFlags;
	readonly others: readonly string[];
} {
	const { has, last, all, others } = splitOwnFlags(words, workerFlags);
	const certificate = last("--tls-cert");
	const key = last("--tls-key");
	if ((certificate === null) !== (key === null)) {
		throw new UsageError("Give --tls-cert and --tls-key together.");
	}
	const tags = all("--tag");
	const odd = tags.find((tag) => !tagForm.test(tag));
	if (odd !== undefined) {
		throw new UsageError(`--tag ${odd}: a tag has up to 64 letters, digits and . _ : @ / - and no spaces.`);
	}
	const announced = last("--announce");
	const operations = last("--operations");
	return {
		worker: {
			listen: toListenAddress("--listen", last("--listen") ?? "127.0.0.1:0"),
			announced: announced === null ? null : toAddress("--announce", announced),
			allowsUnencrypted: has("--allow-unencrypted"),
			tls: certificate === null || key === null ? null : { certificate, key },
			operations: operations === null ? null : toListenAddress("--operations", operations),
			tags: [...new Set(tags)],
			capacity: has("--sessions") ? toCount("--sessions", last("--sessions"), 1, 1_000_000) : null,
			drain: has("--drain") ? toCount("--drain", last("--drain"), 0, 86_400) : usualDrain,
			prepare: last("--prepare"),
			json: has("--json"),
		},
		others,
	};
}

function toAddress(flag: string, text: string): WorkerAddress {
	const address = readWorkerAddress(text);
	if (address === null) throw new UsageError(`${flag} must be HOST:PORT, with [brackets] around an IPv6 address.`);
	return address;
}

function toListenAddress(flag: string, text: string): WorkerAddress {
	const address = toAddress(flag, text);
	return { ...address, host: toListenHost(address.host) };
}

function toCount(flag: string, text: string | null, least: number, most: number): number {
	const count = text !== null && /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
	if (count >= least && count <= most) return count;
	throw new UsageError(`${flag} must be a whole number from ${least} to ${most}.`);
}
