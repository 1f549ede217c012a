// Whether the process whose id is in a file still runs. An id counts in one namespace of one boot of one machine, and a
// later process may have it again: whoever stores an id stores with it where it counts, its origin. Of a process
// elsewhere, in another container or on another machine that shares the file, nothing can be known from here.
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import * as v from "valibot";
import { systemErrorCode } from "../../base/errors.ts";

/** What cannot be found out, as on systems without `/proc`, is absent. */
const originSchema = v.object({
	/** The name of the machine, or of the container. */
	host: v.string(),
	/** Distinguishes machines of one name. */
	machine: v.optional(v.string()),
	/** Of the machine, whatever containers run on it. */
	boot: v.optional(v.string()),
	/** In which process ids are given. */
	namespace: v.optional(v.string()),
	/** When the process was started, in ticks since the boot: distinguishes it from others that have its id later. */
	started: v.optional(v.string()),
});

export type ProcessOrigin = v.InferOutput<typeof originSchema>;

/** A process by its id; without an origin as versions stored it that knew none: it counts as one of this machine. */
export interface StoredProcess {
	readonly pid: number;
	readonly origin?: ProcessOrigin | undefined;
}

export const processIdSchema = v.pipe(v.number(), v.integer(), v.minValue(1));

/** In a stored object; an origin that cannot be read is none. */
export const storedOriginSchema = v.fallback(v.optional(originSchema), undefined);

/** "elsewhere" is a process of which nothing can be known from here. */
export type Liveness = "alive" | "ended" | "elsewhere";

/** The namespace of a machine itself has this number in every Linux; those of containers have others. */
const machineNamespace = "pid:[4026531836]";

let own: ProcessOrigin | null = null;

/** That of this process: read on first use, and once. */
export function ownOrigin(): ProcessOrigin {
	own ??= readOrigin();
	return own;
}

/** This process, to be stored. */
export function ownProcess(): { readonly pid: number; readonly origin: ProcessOrigin } {
	return { pid: process.pid, origin: ownOrigin() };
}

export function livenessOf({ pid, origin }: StoredProcess, here: ProcessOrigin = ownOrigin()): Liveness {
	if (origin === undefined) return isAlive(pid) ? "alive" : "ended";
	if (!isSamePlace(origin, here)) return isEarlierBoot(origin, here) ? "ended" : "elsewhere";
	return isAlive(pid) && !isAnother(pid, origin, here) ? "alive" : "ended";
}

export function isThisProcess({ pid, origin }: StoredProcess): boolean {
	return pid === process.pid && livenessOf({ pid, origin }) === "alive";
}

/** For people: the id, and where it counts unless that is here. */
export function describeProcess({ pid, origin }: StoredProcess): string {
	return origin === undefined || isSamePlace(origin, ownOrigin()) ? String(pid) : `${pid} on ${origin.host}`;
}

/** Distinguishes the places where ids count, in names of files; short, and the same after the next boot of the machine. */
export function placeName({ machine = "", host, namespace = "" }: ProcessOrigin = ownOrigin()): string {
	return digest(`${machine} ${host} ${namespace}`).slice(0, 8);
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (thrown) {
		// A process of another user may not be signalled, but it exists.
		return systemErrorCode(thrown) !== "ESRCH";
	}
}

/** Whether ids count in the same place. */
function isSamePlace(one: ProcessOrigin, other: ProcessOrigin): boolean {
	if (one.boot !== other.boot || one.namespace !== other.namespace) return false;
	// A machine may get another name while it runs.
	return (one.boot !== undefined && one.namespace !== undefined) || one.host === other.host;
}

/**
 * Whether it is this machine, before it was last booted. In a container that cannot be known: the next one may have its
 * name and run on another machine.
 */
function isEarlierBoot(origin: ProcessOrigin, here: ProcessOrigin): boolean {
	const { machine, boot, namespace, host } = origin;
	if (boot === undefined || here.boot === undefined || boot === here.boot) return false;
	if (namespace !== machineNamespace || here.namespace !== machineNamespace) return false;
	return machine !== undefined && machine === here.machine && host === here.host;
}

/** Whether the living process of this id is not the one of this origin, or has ended and nobody has noticed. */
function isAnother(pid: number, { started }: ProcessOrigin, here: ProcessOrigin): boolean {
	if (started === undefined || here.started === undefined) return false;
	const found = readStart(pid);
	return found !== null && (found.hasEnded || found.started !== started);
}

function readOrigin(): ProcessOrigin {
	const boot = readText("/proc/sys/kernel/random/boot_id");
	const namespace = readOrNull(() => readlinkSync("/proc/self/ns/pid"));
	const machine = readText("/etc/machine-id");
	// Where it shows the processes of another namespace, as without a mount of its own, ids there are not those of here.
	const showsOwn = readOrNull(() => readlinkSync("/proc/self")) === String(process.pid);
	const started = showsOwn ? readStart(process.pid)?.started : undefined;
	return {
		host: hostname(),
		// Others must not see the number itself: programs take it for a secret.
		...(machine === null ? {} : { machine: digest(machine).slice(0, 16) }),
		...(boot === null ? {} : { boot }),
		...(namespace === null ? {} : { namespace }),
		...(started === undefined ? {} : { started }),
	};
}

function readStart(pid: number): { readonly started: string; readonly hasEnded: boolean } | null {
	const status = readText(`/proc/${pid}/stat`);
	// The name of the program, in parentheses, may contain anything; the fields come after it.
	const fields = status?.slice(status.lastIndexOf(")") + 2).split(" ") ?? [];
	const [state = "", started] = [fields[0], fields[19]];
	return started === undefined ? null : { started, hasEnded: "ZX".includes(state) };
}

/** Null for a file that cannot be read, or is empty. */
function readText(file: string): string | null {
	const text = readOrNull(() => readFileSync(file, "latin1").trim());
	return text === "" ? null : text;
}

function readOrNull<T>(read: () => T): T | null {
	try {
		return read();
	} catch {
		return null;
	}
}

function digest(text: string): string {
	return createHash("sha256").update(`agentwire ${text}`).digest("hex");
}
