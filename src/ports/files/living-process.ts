// A process id is valid in one namespace of one boot and may be reused, so it is stored with its origin.
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import * as v from "valibot";
import { systemErrorCode } from "../../base/errors.ts";

/** Absent fields cannot be determined, for example on systems without `/proc`. */
const originSchema = v.object({
	host: v.string(),
	machine: v.optional(v.string()),
	boot: v.optional(v.string()),
	namespace: v.optional(v.string()),
	/** Start time of the process in ticks since boot: distinguishes it from a later process with the same id. */
	started: v.optional(v.string()),
});

export type ProcessOrigin = v.InferOutput<typeof originSchema>;

/** A process by its id; an id without an origin, as stored by old versions, counts as one of this machine. */
export interface StoredProcess {
	readonly pid: number;
	readonly origin?: ProcessOrigin | undefined;
}

export const processIdSchema = v.pipe(v.number(), v.integer(), v.minValue(1));

/** An unreadable origin counts as none. */
export const storedOriginSchema = v.fallback(v.optional(originSchema), undefined);

/** "elsewhere" means that the process cannot be checked from here. */
export type Liveness = "alive" | "ended" | "elsewhere";

/** The machine's root namespace has this number in every Linux; containers have others. */
const machineNamespace = "pid:[4026531836]";

let own: ProcessOrigin | null = null;

export function ownOrigin(): ProcessOrigin {
	own ??= readOrigin();
	return own;
}

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

/** For people: the id, and its origin if different from here. */
export function describeProcess({ pid, origin }: StoredProcess): string {
	return origin === undefined || isSamePlace(origin, ownOrigin()) ? String(pid) : `${pid} on ${origin.host}`;
}

/** Distinguishes id namespaces in file names; short, and stable across reboots. */
export function placeName({ machine = "", host, namespace = "" }: ProcessOrigin = ownOrigin()): string {
	return digest(`${machine} ${host} ${namespace}`).slice(0, 8);
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (thrown) {
		// Another user's process may not be signaled, but it exists.
		return systemErrorCode(thrown) !== "ESRCH";
	}
}

function isSamePlace(one: ProcessOrigin, other: ProcessOrigin): boolean {
	if (one.boot !== other.boot || one.namespace !== other.namespace) return false;
	// A machine's name may change while it runs.
	return (one.boot !== undefined && one.namespace !== undefined) || one.host === other.host;
}

/** Unknown in a container: a later one may have the same name on another machine. */
function isEarlierBoot(origin: ProcessOrigin, here: ProcessOrigin): boolean {
	const { machine, boot, namespace, host } = origin;
	if (boot === undefined || here.boot === undefined || boot === here.boot) return false;
	if (namespace !== machineNamespace || here.namespace !== machineNamespace) return false;
	return machine !== undefined && machine === here.machine && host === here.host;
}

/** Whether the living process with this id has another origin, or is a zombie. */
function isAnother(pid: number, { started }: ProcessOrigin, here: ProcessOrigin): boolean {
	if (started === undefined || here.started === undefined) return false;
	if (pid === process.pid && here === own) return started !== here.started;
	const found = readStart(pid);
	return found !== null && (found.hasEnded || found.started !== started);
}

function readOrigin(): ProcessOrigin {
	const boot = readText("/proc/sys/kernel/random/boot_id");
	const namespace = readOrNull(() => readlinkSync("/proc/self/ns/pid"));
	const machine = readText("/etc/machine-id");
	// If `/proc` shows another namespace, as without its own mount, its ids are not ours.
	const showsOwn = readOrNull(() => readlinkSync("/proc/self")) === String(process.pid);
	const started = showsOwn ? readStart(process.pid)?.started : undefined;
	return {
		host: hostname(),
		// Other processes must not see the number itself: programs treat it as a secret.
		...(machine === null ? {} : { machine: digest(machine).slice(0, 16) }),
		...(boot === null ? {} : { boot }),
		...(namespace === null ? {} : { namespace }),
		...(started === undefined ? {} : { started }),
	};
}

function readStart(pid: number): { readonly started: string; readonly hasEnded: boolean } | null {
	const status = readText(`/proc/${pid}/stat`);
	// The program name, in parentheses, may contain anything; the fields follow it.
	const fields = status?.slice(status.lastIndexOf(")") + 2).split(" ") ?? [];
	const [state = "", started] = [fields[0], fields[19]];
	return started === undefined ? null : { started, hasEnded: "ZX".includes(state) };
}

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
