import { describe, expect, it } from "vitest";
import { buildSystemCallFilter, type FilterArchitecture, isFilterArchitecture } from "./seccomp-filter.ts";

/** Runs the filter as the kernel does, over the data of one call. */
function judge(filter: Buffer, audit: number, number: number, args: readonly number[] = []): string {
	const data = Buffer.alloc(64);
	data.writeUInt32LE(number >>> 0, 0);
	data.writeUInt32LE(audit >>> 0, 4);
	for (const [index, value] of args.entries()) data.writeUInt32LE(value >>> 0, 16 + index * 8);
	let loaded = 0;
	for (let at = 0; at < filter.length / 8; at += 1) {
		const [code, value] = [filter.readUInt16LE(at * 8), filter.readUInt32LE(at * 8 + 4)];
		const jump = (holds: boolean) => {
			at += filter.readUInt8(at * 8 + (holds ? 2 : 3));
		};
		if (code === 0x20) loaded = data.readUInt32LE(value);
		else if (code === 0x54) loaded = (loaded & value) >>> 0;
		else if (code === 0x15) jump(loaded === value);
		else if (code === 0x35) jump(loaded >= value);
		else if (code === 0x45) jump((loaded & value) !== 0);
		else if (code === 0x06) {
			if (value === 0x7fff0000) return "allowed";
			return value === 0x80000000 ? "killed" : `error ${value & 0xffff}`;
		} else throw new Error(`no instruction: ${code}`);
	}
	throw new Error("the filter has no end");
}

const audits = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const numbers = {
	x64: { read: 0, ioctl: 16, socket: 41, socketpair: 53, clone: 56, ptrace: 101, mount: 165, unshare: 272, bpf: 321 },
	arm64: {
		read: 63,
		ioctl: 29,
		socket: 198,
		socketpair: 199,
		clone: 220,
		ptrace: 117,
		mount: 40,
		unshare: 97,
		bpf: 280,
	},
} as const;
const architectures: readonly FilterArchitecture[] = ["x64", "arm64"];

describe.each(architectures)("the filter for %s", (architecture) => {
	const audit = audits[architecture];
	const calls = numbers[architecture];
	const narrow = buildSystemCallFilter(architecture, "internet");
	const wide = buildSystemCallFilter(architecture, "all");

	it.each([
		["read", calls.read, [], "allowed"],
		["ptrace", calls.ptrace, [], "error 1"],
		["mount", calls.mount, [], "error 1"],
		["bpf", calls.bpf, [], "error 1"],
		["io_uring_setup", 425, [], "error 1"],
		["clone3", 435, [], "error 38"],
		["clone of a thread", calls.clone, [0x3d0f00], "allowed"],
		["clone with a user namespace", calls.clone, [0x10000011], "error 1"],
		["unshare of open files", calls.unshare, [0x400], "allowed"],
		["unshare of the network", calls.unshare, [0x40000000], "error 1"],
		["an ioctl for the size of a terminal", calls.ioctl, [0, 0x5413], "allowed"],
		["TIOCSTI", calls.ioctl, [0, 0x5412], "error 1"],
		["TIOCLINUX", calls.ioctl, [0, 0x541c], "error 1"],
	] as const)("%s is %4$s", (_name, number, args, expected) => {
		for (const filter of [narrow, wide]) expect(judge(filter, audit, number, args)).toBe(expected);
	});

	it.each([
		["IPv4", calls.socket, [2, 1], "allowed"],
		["IPv6", calls.socket, [10, 1], "allowed"],
		["netlink", calls.socket, [16, 3], "error 97"],
		["Unix", calls.socket, [1, 1], "error 97"],
		["vsock", calls.socket, [40, 1], "error 97"],
		["packet", calls.socket, [17, 3], "error 97"],
		["a pair of streams", calls.socketpair, [1, 0x80801], "allowed"],
		["a pair of sequenced packets", calls.socketpair, [1, 5], "allowed"],
		["a pair for datagrams", calls.socketpair, [1, 0x80802], "error 97"],
		["a raw pair", calls.socketpair, [1, 3], "error 97"],
		["another pair", calls.socketpair, [30, 1], "error 97"],
	] as const)("sockets without the machine's network, %s: %4$s", (_name, number, args, expected) => {
		expect(judge(narrow, audit, number, args)).toBe(expected);
		expect(judge(wide, audit, number, args)).toBe("allowed");
	});

	it("refuses calls of other conventions", () => {
		expect(judge(narrow, 0x40000003, 1)).toBe("killed");
		if (architecture === "x64") expect(judge(narrow, audit, 0x40000000)).toBe("error 38");
		else expect(judge(narrow, audits.x64, calls.read)).toBe("killed");
	});
});

describe("architectures", () => {
	it("without known numbers have no filter", () => {
		expect(["x64", "arm64", "ia32", "riscv64"].filter(isFilterArchitecture)).toEqual(["x64", "arm64"]);
	});
});
