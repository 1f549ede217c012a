// Workers and front ends of several versions share a store: a worker announces its protocol version, and requests need an equal one.
import { KernelError } from "../base/errors.ts";
import { remoteVersion } from "../remote/remote-version.ts";
import { endingData } from "./ending.ts";

// A tag, so that the tables stay the same and no worker takes work it cannot serve. Users cannot set it, because it contains spaces.
const tagPrefix = "remote version ";

interface Announced {
	readonly id: string;
	readonly remoteVersion: number | null;
	readonly isEnding: boolean;
}

export const versionTag = `${tagPrefix}${remoteVersion}`;

/** Splits stored tags into operator tags and the version, which may be null. */
export function readTags(stored: readonly string[]): {
	readonly tags: readonly string[];
	readonly remoteVersion: number | null;
} {
	const version = stored.find((tag) => tag.startsWith(tagPrefix));
	return {
		tags: stored.filter((tag) => tag !== version),
		remoteVersion: version === undefined ? null : Number(version.slice(tagPrefix.length)),
	};
}

/** Whether it announced another version. Without an announcement, connecting reveals it. */
export function announcesOther({ remoteVersion: theirs }: Pick<Announced, "remoteVersion">): boolean {
	return theirs !== null && theirs !== remoteVersion;
}

export function otherVersion({ id, remoteVersion: theirs, isEnding }: Announced): KernelError {
	const versions = `The worker ${id} speaks ${theirs === null ? "another version" : `version ${theirs}`} of the protocol between gateways and workers, and this gateway version ${remoteVersion}.`;
	const advice = isEnding
		? "It is ending: try again when it has ended, another worker then takes over its sessions."
		: "Start a worker of this gateway's version, then end that one with SIGTERM: its sessions are taken over (docs/guides/scale.md, Upgrading).";
	return new KernelError("unsupported", `${versions} ${advice}`, {
		data: { worker: id, remoteVersion: theirs, neededVersion: remoteVersion, ...(isEnding ? endingData : {}) },
	});
}
