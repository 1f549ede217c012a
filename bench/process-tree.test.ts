import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { killTree, processTree } from "./process-tree.ts";

it.runIf(process.platform === "linux")("finds and ends what a wrapper has started", async () => {
	const wrapper = spawn("sh", ["-c", "sleep 1000 & echo $!; wait"], { stdio: ["ignore", "pipe", "ignore"] });
	const closed = once(wrapper, "close");
	const [started] = await once(wrapper.stdout.setEncoding("utf8"), "data");
	expect(processTree(wrapper.pid ?? 0)).toEqual([wrapper.pid, Number(started)]);
	killTree(wrapper);
	// The pipe is closed once nobody has it open for writing.
	await closed;
});

it("finds nothing but itself of a process that is gone", async () => {
	const child = spawn(process.execPath, ["-e", "0"], { stdio: "ignore" });
	await once(child, "exit");
	expect(processTree(child.pid ?? 0)).toEqual([child.pid]);
	killTree(child);
});
