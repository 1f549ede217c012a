// Turns a command's permissions into bwrap mounts and a system call filter.
import { randomBytes } from "node:crypto";
import {
	accessSync,
	lstatSync,
	readdirSync,
	readFileSync,
	realpathSync,
	renameSync,
	statSync,
	unlinkSync,
} from "node:fs";
import path from "node:path";
import { errorText } from "../../../base/errors.ts";
import type { Confinement } from "../port.ts";
import { claimPlaceholder, isPlaceholder, type PlaceholderKind, releasePlaceholders } from "./placeholders.ts";
import { findReplaceableLink, isWithin, statusOf } from "./replaceable-links.ts";
import { buildSystemCallFilter, isFilterArchitecture } from "./seccomp-filter.ts";

/** Loopback port of the proxy for commands with network kind `proxy`. Nothing else listens there. */
export const confinedProxyPort = 3128;

type MountKind = "writable" | "scratch" | "readOnly" | "visible" | "hidden" | "pin";

export interface ConfinedStart {
	readonly arguments: readonly string[];
	/** System call filter, for the descriptor named in the arguments. */
	readonly filter: Buffer;
	/** Descriptors that a child would inherit and the command must not get. */
	readonly inherited: readonly number[];
	/** The identity to be mounted at each path. */
	readonly mounted: ReadonlyMap<string, string>;
	/** Files and directories that exist only while the command runs. */
	readonly placeholders: readonly string[];
	/** Call it when the command has ended; `isSealed` says whether none of its processes can remain. */
	release(isSealed: boolean): void;
}

export type PreparedConfinement =
	| { readonly ok: true; readonly start: ConfinedStart }
	| { readonly ok: false; readonly reason: string };

class Impossible extends Error {}

function replaceable(link: string, consequence: string): Impossible {
	return new Impossible(
		`${link} is a link in a writable directory, which a command could replace, and so ${consequence}; put what the link leads to in its place`,
	);
}

/** Returns the path with all links resolved, or null if missing. */
function resolved(file: string): string | null {
	try {
		if (statSync(file, { throwIfNoEntry: false }) === undefined) return null;
		const real = realpathSync.native(file);
		// For an open pipe, such as `<(command)` in a shell, Bun returns a name that is not a path.
		return path.isAbsolute(real) ? real : null;
	} catch {
		return null;
	}
}

/** bwrap provides these itself. */
const isSystem = (file: string) => isWithin(file, "/proc") || isWithin(file, "/dev");

const depthOf = (file: string) => (file === "/" ? 0 : file.split("/").length - 1);

class MountPlan {
	readonly #kinds = new Map<string, MountKind>();

	set(file: string, kind: MountKind): void {
		if (!isSystem(file)) this.#kinds.set(file, kind);
	}

	has(file: string): boolean {
		return this.#kinds.has(file);
	}

	nearest(file: string): { readonly file: string; readonly kind: MountKind } | null {
		for (let at = file; ; at = path.dirname(at)) {
			const kind = this.#kinds.get(at);
			if (kind !== undefined) return { file: at, kind };
			if (at === "/") return null;
		}
	}

	isWritable(file: string): boolean {
		const kind = this.nearest(file)?.kind;
		return kind === "writable" || kind === "pin";
	}

	/** Parents first. */
	entries(): (readonly [string, MountKind])[] {
		return [...this.#kinds].sort(([a], [b]) => depthOf(a) - depthOf(b));
	}
}

function pathsDown(from: string, to: string): string[] {
	const found: string[] = [];
	for (let at = to; at !== from && at !== "/"; at = path.dirname(at)) found.unshift(at);
	return found;
}

/** A protected path and the writable directory above it, both resolved; null when it is not writable. */
function locate(
	file: string,
	roots: ReadonlyMap<string, string>,
	resolve: (file: string) => string | null,
): { root: string; file: string } | null {
	const known = resolve(path.dirname(file));
	const candidates = [file, ...(known === null ? [] : [path.join(known, path.basename(file))])];
	let best: { root: string; file: string } | null = null;
	for (const [spelled, root] of roots) {
		for (const candidate of candidates) {
			for (const prefix of [spelled, root]) {
				if (!isWithin(candidate, prefix)) continue;
				const inside = path.join(root, path.relative(prefix, candidate));
				if (best === null || root.length > best.root.length) best = { root, file: inside };
			}
		}
	}
	return best;
}

/** A missing path gets a placeholder. Links below a writable directory could be replaced, so they are refused. */
function protect(plan: MountPlan, file: string, root: string, kind: PlaceholderKind, placeholders: string[]): void {
	for (const at of file === root ? [root] : pathsDown(root, file)) {
		const status = statusOf(at);
		if (status?.isSymbolicLink() === true) {
			throw replaceable(at, `${file} cannot be protected`);
		}
		if (status === null || isPlaceholder(at)) {
			if (claimPlaceholder(at, at === file ? kind : "directory")) {
				placeholders.push(at);
				plan.set(at, "readOnly");
			}
			return;
		}
		if (at === file || !status.isDirectory()) {
			plan.set(at, "readOnly");
			return;
		}
		if (!plan.has(at)) plan.set(at, "pin");
		else if (!plan.isWritable(at)) return;
	}
}

const closeOnExec = 0o2000000;
let inherited: readonly number[] | null = null;

/** Descriptors that this process inherited, except stdin, stdout and stderr. Node sets close-on-exec on those it opens. */
function inheritedDescriptors(above: number): readonly number[] {
	inherited ??= readdirSync("/proc/self/fd")
		.map(Number)
		.filter((descriptor) => {
			try {
				const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
				return descriptor > 2 && (Number.parseInt(flags, 8) & closeOnExec) === 0;
			} catch {
				return false;
			}
		});
	const left = inherited.filter((descriptor) => descriptor > above);
	if (left.some((descriptor) => descriptor > 9)) {
		try {
			accessSync("/bin/bash");
		} catch {
			throw new Impossible(`descriptors ${left.join(", ")} of this process cannot be closed without /bin/bash`);
		}
	}
	return left;
}

function planMounts(confinement: Confinement, placeholders: string[]): MountPlan {
	const plan = new MountPlan();
	const roots = new Map<string, string>();
	for (const directory of confinement.writable) {
		const root = resolved(directory);
		if (root === null) continue;
		roots.set(path.resolve(directory), root);
		plan.set(root, "writable");
	}
	for (const directory of confinement.scratch) {
		const place = resolved(directory);
		if (place !== null) plan.set(place, "scratch");
	}
	const places = [...roots.values()];
	const refuseLink = (file: string, what: string): void => {
		const link = findReplaceableLink(path.resolve(file), places);
		if (link !== null) throw replaceable(link, `${file} cannot be ${what}`);
	};
	for (const directory of roots.keys()) refuseLink(directory, "made writable");
	for (const file of confinement.visible) {
		const place = resolved(file);
		// A command could have created the link to read hidden files.
		if (place !== null && findReplaceableLink(path.resolve(file), places) === null) plan.set(place, "visible");
	}
	for (const file of confinement.hidden) {
		const place = resolved(file);
		// Another command's placeholder hides nothing, and this command may need to protect it too.
		if (place === null || isPlaceholder(place)) continue;
		refuseLink(file, "hidden");
		plan.set(place, "hidden");
	}
	// Many protected paths share a parent.
	const known = new Map<string, string | null>();
	const resolveOnce = (file: string): string | null => {
		const earlier = known.get(file);
		if (earlier !== undefined) return earlier;
		const found = resolved(file);
		known.set(file, found);
		return found;
	};
	const asFiles = new Set(confinement.missingAsFiles);
	for (const file of confinement.readOnly) {
		const place = locate(path.resolve(file), roots, resolveOnce);
		if (place === null || isSystem(place.file)) continue;
		const { kind } = plan.nearest(place.file) ?? {};
		if (kind !== "writable" && kind !== "pin") continue;
		protect(plan, place.file, place.root, asFiles.has(file) ? "file" : "directory", placeholders);
	}
	// Parents of mounts below a writable directory must not be renamed, or others could replace them.
	for (const [file] of plan.entries()) {
		const above = file === "/" ? null : plan.nearest(path.dirname(file));
		if (above === null || (above.kind !== "writable" && above.kind !== "pin")) continue;
		for (const parent of pathsDown(above.file, path.dirname(file))) plan.set(parent, "pin");
	}
	return plan;
}

function toArguments(plan: MountPlan): string[] {
	const mounts: string[] = [];
	const sealed: string[] = [];
	for (const [file, kind] of plan.entries()) {
		if (file === "/") continue;
		switch (kind) {
			case "writable":
			case "pin":
				mounts.push("--bind", file, file);
				break;
			case "readOnly":
			case "visible":
				mounts.push("--ro-bind", file, file);
				break;
			case "scratch":
				mounts.push("--perms", "1777", "--tmpfs", file);
				break;
			case "hidden":
				if (statusOf(file)?.isDirectory() === true) {
					mounts.push("--tmpfs", file);
					// Last, because mounts below it need directories in it.
					sealed.push("--remount-ro", file);
				} else mounts.push("--ro-bind", "/dev/null", file);
				break;
		}
	}
	const root = plan.nearest("/")?.kind === "writable" ? "--bind" : "--ro-bind";
	// A root command can change kernel settings below /proc without capabilities.
	return [root, "/", "/", "--dev", "/dev", "--proc", "/proc", ...mounts, ...sealed, "--remount-ro", "/proc"];
}

/** Identifies a file, directory or link uniquely; null if missing. */
function identityOf(file: string): string | null {
	try {
		const status = lstatSync(file, { bigint: true, throwIfNoEntry: false });
		return status === undefined || status.isSymbolicLink() ? null : `${status.dev}:${status.ino}`;
	} catch {
		return null;
	}
}

/** bwrap follows links when mounting, so the resulting mounts are compared with these identities. */
function identitiesOf(plan: MountPlan, placeholders: readonly string[]): ReadonlyMap<string, string> {
	const identities = new Map<string, string>();
	for (const [file, kind] of plan.entries()) {
		// Placeholders are created and removed by other commands too; every command has them mounted.
		if (kind === "hidden" || kind === "scratch" || file === "/" || placeholders.includes(file)) continue;
		const identity = identityOf(file);
		if (identity === null) throw new Impossible(`${file} ${replacedMeanwhile}`);
		identities.set(file, identity);
	}
	return identities;
}

/** Follows the path of a file replaced during a start. The start may be repeated. */
export const replacedMeanwhile = "was replaced while the command was being started";

/** Null when there is none, or when the system hides that view, as with a privileged bwrap. */
export function findReplaced({ mounted }: ConfinedStart, init: number): string | null {
	if (resolved(`/proc/${init}/root/`) === null) return null;
	for (const [file, identity] of mounted) if (identityOf(`/proc/${init}/root${file}`) !== identity) return file;
	return null;
}

/** Directories are renamed: emptying one may take long, and running commands could insert links. */
function removeCreated(file: string): void {
	try {
		if (statusOf(file)?.isDirectory() === true) renameSync(file, `${file}.${randomBytes(6).toString("hex")}`);
		else unlinkSync(file);
	} catch {
		// It was not created, or a parent is not a directory.
	}
}

/** Prepares the start of a confined command. bwrap reads the filter from `filterDescriptor`. */
export function prepareConfinement(confinement: Confinement, filterDescriptor: number): PreparedConfinement {
	const { arch, platform } = process;
	if (platform !== "linux" || !isFilterArchitecture(arch)) {
		return { ok: false, reason: `there is no filter of system calls for ${platform} on ${arch}` };
	}
	const placeholders: string[] = [];
	const absent = confinement.removed.filter((file) => statusOf(file) === null);
	const isHost = confinement.network.kind === "host";
	// The proxy channel follows the filter.
	const highestDescriptor = confinement.network.kind === "proxy" ? filterDescriptor + 1 : filterDescriptor;
	try {
		const plan = planMounts(confinement, placeholders);
		return {
			ok: true,
			start: {
				arguments: [
					...toArguments(plan),
					// The filter blocks further namespaces, even if bwrap is too old for --disable-userns.
					...["--unshare-user", "--unshare-pid", "--unshare-ipc"],
					...(isHost ? [] : ["--unshare-net"]),
					...["--cap-drop", "ALL"],
					...["--seccomp", String(filterDescriptor)],
				],
				filter: buildSystemCallFilter(arch, isHost ? "all" : "internet"),
				inherited: inheritedDescriptors(highestDescriptor),
				mounted: identitiesOf(plan, placeholders),
				placeholders,
				release(isSealed) {
					for (const file of absent) removeCreated(file);
					releasePlaceholders(placeholders, isSealed);
				},
			},
		};
	} catch (thrown) {
		releasePlaceholders(placeholders, true);
		return { ok: false, reason: errorText(thrown) };
	}
}

/** Variables that give programs such as curl, npm and pip another proxy, or hosts that bypass it. */
const otherProxy = /(?:^|_)(?:no_?proxy|(?:https?|ftp|all|socks|rsync)_?proxy|proxy)$/i;

/** The environment of a confined command, without variables that bypass the proxy. */
export function withProxy(
	environment: Readonly<Record<string, string>>,
	confinement: Confinement,
): Readonly<Record<string, string>> {
	if (confinement.network.kind !== "proxy") return environment;
	const others = Object.entries(environment).filter(([name]) => !otherProxy.test(name));
	return { ...Object.fromEntries(others), ...proxyVariables(confinement) };
}

/** Variables that direct programs to the proxy. Many lack SOCKS support; the same port serves both. */
export function proxyVariables({ network }: Confinement): Record<string, string> {
	if (network.kind !== "proxy") return {};
	const proxy = `http://127.0.0.1:${confinedProxyPort}`;
	const none = "localhost,127.0.0.1,::1";
	const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: none };
	const lower = Object.entries(upper).map(([name, value]) => [name.toLowerCase(), value]);
	return { ...upper, ...Object.fromEntries(lower) };
}
