// Whether a stored process runs: what is known of it depends on where its id counts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { describeProcess, livenessOf, ownOrigin, ownProcess, type ProcessOrigin, placeName } from "./living-process.ts";

/** More than any system gives out. */
const deadPid = 2 ** 30;

const machine: ProcessOrigin = {
	host: "desk",
	machine: "0123456789abcdef",
	boot: "one",
	namespace: "pid:[4026531836]",
};
const container: ProcessOrigin = { ...machine, host: "web-1", namespace: "pid:[4026532500]" };
const pid = process.pid;

describe("the liveness of a stored process", () => {
	it.each([
		["a process without an origin that lives", { pid }, machine, "alive"],
		["one without an origin that does not", { pid: deadPid }, container, "ended"],
		["one of the same place that lives", { pid, origin: machine }, machine, "alive"],
		["one of the same place that does not", { pid: deadPid, origin: machine }, machine, "ended"],
		["one of the same place that has another name now", { pid, origin: machine }, { ...machine, host: "x" }, "alive"],
		["one of the machine, seen from a container", { pid: deadPid, origin: machine }, container, "elsewhere"],
		["one of a container, seen from the machine", { pid, origin: container }, machine, "elsewhere"],
		["one of this machine before its last boot", { pid, origin: machine }, { ...machine, boot: "two" }, "ended"],
		[
			"one of another machine of the same name",
			{ pid, origin: machine },
			{ ...machine, boot: "two", machine: "fedcba9876543210" },
			"elsewhere",
		],
		[
			"one of a container of the same name, maybe on another machine",
			{ pid, origin: container },
			{ ...container, boot: "two" },
			"elsewhere",
		],
		["one of the same name on systems without more", { pid, origin: { host: "mac" } }, { host: "mac" }, "alive"],
		["one of another name there", { pid: deadPid, origin: { host: "mac" } }, { host: "other" }, "elsewhere"],
		["one of a system without more, seen from Linux", { pid, origin: { host: "desk" } }, machine, "elsewhere"],
	] as const)("%s", (_, stored, here, expected) => {
		expect(livenessOf(stored, here)).toBe(expected);
	});

	it("is that of this process, which is alive, and of nobody who has its id in another namespace", () => {
		expect(livenessOf(ownProcess())).toBe("alive");
		expect(ownOrigin()).toBe(ownOrigin());
		expect(describeProcess(ownProcess())).toBe(String(pid));
		expect(describeProcess({ pid: 7, origin: { host: "web-2", namespace: "pid:[1]" } })).toBe("7 on web-2");
	});

	it.runIf(process.platform === "linux")("is ended for a process whose id another one has since", () => {
		const { started } = ownOrigin();
		expect(started).toMatch(/^\d+$/);
		expect(livenessOf({ pid, origin: { ...ownOrigin(), started: `${Number(started) - 1}` } })).toBe("ended");
	});

	it("is ended for a process that was killed", async () => {
		const child = spawn("sleep", ["60"]);
		await once(child, "spawn");
		const stored = { pid: child.pid ?? 0, origin: { ...ownOrigin(), started: undefined } };
		expect(livenessOf(stored)).toBe("alive");
		child.kill("SIGKILL");
		await once(child, "exit");
		expect(livenessOf(stored)).toBe("ended");
	});
});

describe("the name of a place where process ids count", () => {
	it("differs between containers and machines, and not between boots", () => {
		const places = [machine, container, { ...machine, machine: "fedcba9876543210" }, { ...machine, host: "x" }];
		expect(new Set(places.map((place) => placeName(place))).size).toBe(4);
		expect(placeName({ ...machine, boot: "two", started: "5" })).toBe(placeName(machine));
		expect(placeName()).toMatch(/^[0-9a-f]{8}$/);
	});
});
