// What earlier releases are held to, below test/baselines.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { FreeComparison } from "../../../src/testing/transcripts/comparison.ts";
import { parseTranscript, type Transcript } from "../../../src/testing/transcripts/format.ts";
import { freedoms, wording } from "../../../src/testing/transcripts/freedom.ts";
import type { ToComparison } from "./transcript-play.ts";

const test = path.join(import.meta.dirname, "../..");
const baselines = path.join(test, "baselines");

export function listReleases(): string[] {
	return readdirSync(baselines, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

const sumOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);

/** Each golden transcript and session fixture, relative to `test`, with its checksum. */
export function checksums(): (readonly [file: string, sum: string])[] {
	return ["transcripts", "fixtures/sessions"].flatMap((folder) =>
		readdirSync(path.join(test, folder), { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile() && !/\.(?:test\.ts|md)$/.test(entry.name))
			.map((entry) => path.relative(test, path.join(entry.parentPath, entry.name)))
			.sort()
			.map((file) => [file, sumOf(path.join(test, file))] as const),
	);
}

export interface Held {
	/** Transcripts that have changed since, as they were, and those of kept sessions. */
	readonly transcripts: readonly Transcript[];
	/** What was changed without being kept as it was, or kept differently. */
	readonly lost: readonly string[];
}

export function readRelease(release: string): Held {
	const directory = path.join(baselines, release);
	const recorded = readLines(path.join(directory, "checksums.txt"));
	const retired = existsSync(path.join(directory, "retired.txt")) ? readLines(path.join(directory, "retired.txt")) : [];
	const isRetired = (file: string) => retired.some((line) => line.startsWith(`${file}: `));
	const changed = recorded
		.map((line) => [line.slice(17), line.slice(0, 16)] as const)
		.filter(([file, sum]) => !hasSum(path.join(test, file), sum) && !isRetired(file));
	const isKept = ([file, sum]: readonly [string, string]) =>
		file.startsWith("transcripts/") && hasSum(path.join(directory, "kept", file), sum);
	const read = (name: string, file: string) => parseTranscript(name, readFileSync(path.join(directory, file), "utf8"));
	return {
		transcripts: [
			...changed.filter(isKept).map(([file]) => read(file.slice("transcripts/".length, -4), `kept/${file}`)),
			...readdirSync(path.join(directory, "sessions")).map((file) => read(`kimi/${file}`, `sessions/${file}`)),
		],
		lost: changed.filter((entry) => !isKept(entry)).map(([file]) => file),
	};
}

function readLines(file: string): string[] {
	return readFileSync(file, "utf8").trimEnd().split("\n");
}

function hasSum(file: string, sum: string): boolean {
	return existsSync(file) && sumOf(file) === sum;
}

const dialectOf = {
	session: freedoms.wire,
	meerkat: freedoms.meerkat,
	acp: freedoms.acp,
	"acp-v2": freedoms.acp,
	claude: freedoms.claude,
	codex: freedoms.codex,
	"codex-exec": freedoms["codex-exec"],
	gateway: freedoms.gateway,
};

/** What a release may change: it may add messages and members, and word texts for people differently. */
export function asPromised({ name, server, conversations }: Transcript): ToComparison {
	const dialect = name.startsWith("legacy/") ? freedoms.legacy : dialectOf[server];
	const text = JSON.stringify(conversations);
	const isKnown = (message: string) => text.includes(`\\"${message.split(" ")[0]}\\"`);
	return (bindings) =>
		new FreeComparison(bindings, {
			...dialect,
			members: new Set(wording),
			isOptional: (message) => message !== "" && !isKnown(message),
		});
}
