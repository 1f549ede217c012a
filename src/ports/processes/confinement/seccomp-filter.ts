// Mounts and namespaces confine files and network; this BPF filter blocks calls that bypass them.

export type FilterArchitecture = "x64" | "arm64";

/** Address families for which a command may open sockets. */
export type SocketFamilies = "all" | "internet";

interface CallNumbers {
	readonly audit: number;
	/** Numbers from here on belong to another ABI of the same machine; null for none. */
	readonly foreignFrom: number | null;
	readonly ioctl: number;
	readonly socket: number;
	readonly socketpair: number;
	readonly clone: number;
	readonly unshare: number;
	/** Calls refused regardless of arguments. */
	readonly refused: Readonly<Record<RefusedCall, number>>;
}

/** The same number on every architecture. */
const newCalls = {
	move_mount: 429,
	open_tree: 428,
	fsopen: 430,
	fsconfig: 431,
	fsmount: 432,
	fspick: 433,
	mount_setattr: 442,
	open_tree_attr: 467,
	quotactl_fd: 443,
	pidfd_getfd: 438,
	io_uring_setup: 425,
	io_uring_enter: 426,
	io_uring_register: 427,
} as const;

type RefusedCall =
	| keyof typeof newCalls
	// Access other processes.
	| "ptrace"
	| "process_vm_readv"
	| "process_vm_writev"
	| "kcmp"
	// Keys are not bound to a namespace.
	| "add_key"
	| "request_key"
	| "keyctl"
	// Change mounts, or open files around them.
	| "mount"
	| "umount2"
	| "pivot_root"
	| "setns"
	| "open_by_handle_at"
	// Large kernel subsystems that tool commands do not need.
	| "bpf"
	| "perf_event_open"
	| "userfaultfd"
	| "kexec_load"
	| "kexec_file_load"
	| "init_module"
	| "finit_module"
	| "delete_module"
	| "reboot"
	| "swapon"
	| "swapoff"
	| "quotactl"
	| "acct"
	| "fanotify_init"
	| "syslog";

const callNumbers: Readonly<Record<FilterArchitecture, CallNumbers>> = {
	x64: {
		audit: 0xc000003e,
		foreignFrom: 0x40000000,
		ioctl: 16,
		socket: 41,
		socketpair: 53,
		clone: 56,
		unshare: 272,
		refused: {
			...newCalls,
			ptrace: 101,
			process_vm_readv: 310,
			process_vm_writev: 311,
			kcmp: 312,
			add_key: 248,
			request_key: 249,
			keyctl: 250,
			mount: 165,
			umount2: 166,
			pivot_root: 155,
			setns: 308,
			open_by_handle_at: 304,
			bpf: 321,
			perf_event_open: 298,
			userfaultfd: 323,
			kexec_load: 246,
			kexec_file_load: 320,
			init_module: 175,
			finit_module: 313,
			delete_module: 176,
			reboot: 169,
			swapon: 167,
			swapoff: 168,
			quotactl: 179,
			acct: 163,
			fanotify_init: 300,
			syslog: 103,
		},
	},
	arm64: {
		audit: 0xc00000b7,
		foreignFrom: null,
		ioctl: 29,
		socket: 198,
		socketpair: 199,
		clone: 220,
		unshare: 97,
		refused: {
			...newCalls,
			ptrace: 117,
			process_vm_readv: 270,
			process_vm_writev: 271,
			kcmp: 272,
			add_key: 217,
			request_key: 218,
			keyctl: 219,
			mount: 40,
			umount2: 39,
			pivot_root: 41,
			setns: 268,
			open_by_handle_at: 265,
			bpf: 280,
			perf_event_open: 241,
			userfaultfd: 282,
			kexec_load: 104,
			kexec_file_load: 294,
			init_module: 105,
			finit_module: 273,
			delete_module: 106,
			reboot: 142,
			swapon: 224,
			swapoff: 225,
			quotactl: 60,
			acct: 89,
			fanotify_init: 262,
			syslog: 116,
		},
	},
};

/** Its flags are in memory, where a filter cannot read them. C libraries fall back to `clone`. */
const clone3 = 435;

/** Insert characters into terminal input. */
const terminalInjection = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c } as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const namespaceFlags = 0x7e020000;

const families = { unix: 1, inet: 2, inet6: 10 } as const;

/** The socket type without flags. Datagram pairs can send to any address, unlike stream pairs. */
const socketTypeMask = 0xf;
const streamSocket = 1;
const sequencedSocket = 5;

const errors = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** Offsets into the filter data. The low half of these arguments suffices: the kernel reads no more. */
const offsets = { number: 0, architecture: 4, argument0: 16, argument1: 24 } as const;

/** BPF instructions and return values. */
const codes = { load: 0x20, and: 0x54, ifEqual: 0x15, ifAtLeast: 0x35, ifAnyBit: 0x45, end: 0x06 } as const;
const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (error: number): number => 0x00050000 | error;

interface Instruction {
	readonly code: number;
	readonly value: number;
	/** Instructions to skip when the comparison holds, or does not. */
	readonly whenTrue?: number;
	readonly whenFalse?: number;
}

const load = (offset: number): Instruction => ({ code: codes.load, value: offset });
const end = (result: number): Instruction => ({ code: codes.end, value: result });
const unlessEqual = (value: number, skip: number): Instruction => ({ code: codes.ifEqual, value, whenFalse: skip });
const ifEqual = (value: number, skip: number): Instruction => ({ code: codes.ifEqual, value, whenTrue: skip });

/** Runs the block, which must return, for calls with this number. The number stays loaded. */
function forCall(number: number, block: readonly Instruction[]): Instruction[] {
	return [unlessEqual(number, block.length), ...block];
}

function assemble(numbers: CallNumbers, sockets: SocketFamilies): Instruction[] {
	const namespaces = [
		load(offsets.argument0),
		{ code: codes.ifAnyBit, value: namespaceFlags, whenFalse: 1 },
		end(refuse(errors.EPERM)),
		end(allow),
	];
	const internetOnly = [
		load(offsets.argument0),
		ifEqual(families.inet, 2),
		ifEqual(families.inet6, 1),
		end(refuse(errors.EAFNOSUPPORT)),
		end(allow),
	];
	const streamPairsOnly = [
		load(offsets.argument0),
		unlessEqual(families.unix, 4),
		load(offsets.argument1),
		{ code: codes.and, value: socketTypeMask },
		ifEqual(streamSocket, 2),
		ifEqual(sequencedSocket, 1),
		end(refuse(errors.EAFNOSUPPORT)),
		end(allow),
	];
	const foreign =
		numbers.foreignFrom === null
			? []
			: [{ code: codes.ifAtLeast, value: numbers.foreignFrom, whenFalse: 1 }, end(refuse(errors.ENOSYS))];
	return [
		load(offsets.architecture),
		ifEqual(numbers.audit, 1),
		end(killProcess),
		load(offsets.number),
		...foreign,
		...Object.values(numbers.refused).flatMap((number) => forCall(number, [end(refuse(errors.EPERM))])),
		...forCall(clone3, [end(refuse(errors.ENOSYS))]),
		...forCall(numbers.clone, namespaces),
		...forCall(numbers.unshare, namespaces),
		...forCall(numbers.ioctl, [
			load(offsets.argument1),
			ifEqual(terminalInjection.TIOCSTI, 1),
			unlessEqual(terminalInjection.TIOCLINUX, 1),
			end(refuse(errors.EPERM)),
			end(allow),
		]),
		...(sockets === "all"
			? []
			: [...forCall(numbers.socket, internetOnly), ...forCall(numbers.socketpair, streamPairsOnly)]),
		end(allow),
	];
}

/** Whether a filter can be built for this `process.arch`. */
export function isFilterArchitecture(architecture: string): architecture is FilterArchitecture {
	return architecture === "x64" || architecture === "arm64";
}

/** The filter as an array of `struct sock_filter`, for bwrap's `--seccomp`. */
export function buildSystemCallFilter(architecture: FilterArchitecture, sockets: SocketFamilies): Buffer {
	const instructions = assemble(callNumbers[architecture], sockets);
	const bytes = Buffer.alloc(instructions.length * 8);
	for (const [index, { code, value, whenTrue = 0, whenFalse = 0 }] of instructions.entries()) {
		bytes.writeUInt16LE(code, index * 8);
		bytes.writeUInt8(whenTrue, index * 8 + 2);
		bytes.writeUInt8(whenFalse, index * 8 + 3);
		bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
	}
	return bytes;
}
