// The files in memory: like those on disk as far as the store uses them, and honest about what a crash leaves.
import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "./memory-files.ts";

const read = async (files: { read(path: string): Promise<Buffer | null> }, target: string) =>
	(await files.read(target))?.toString() ?? null;

describe("files in memory", () => {
	it("behave as on disk", async () => {
		const files = createMemoryFiles();
		await expect(files.create("/a/b", "x")).rejects.toMatchObject({ code: "ENOENT" });
		await files.makeDirectory("/a");
		expect(await files.create("/a/b", "x")).toEqual(await files.status("/a/b"));
		expect(await files.create("/a/b", "y")).toBeNull();
		const file = await files.openAppend("/a/log");
		await file.append("one\n");
		await file.append("two\n");
		await files.truncate("/a/log", 6);
		expect(await read(files, "/a/log")).toBe("one\ntw");
		expect((await files.readRange("/a/log", 4, 9))?.toString()).toBe("tw");
		await files.rename("/a/log", "/a/old");
		await files.replace("/a/b", "z");
		expect(await files.list("/a")).toEqual([
			{ name: "b", kind: "file" },
			{ name: "old", kind: "file" },
		]);
		expect(await files.status("/a/log")).toBeNull();
		expect(await files.status("/a/old")).toMatchObject({ kind: "file", size: 6 });
		await files.remove("/a");
		expect(await files.read("/a/b")).toBeNull();
	});

	it("keep all after a kill, and what was synced after a power loss", async () => {
		const files = createMemoryFiles();
		await files.makeDirectory("/a");
		await files.syncDirectory("/");
		const file = await files.openAppend("/a/log");
		await file.append("kept");
		await file.sync();
		await file.append(" lost");
		const killed = files.copy();
		expect(
			await read(
				files.afterPowerLoss(() => 0),
				"/a/log",
			),
		).toBeNull();
		await files.syncDirectory("/a");
		await files.replace("/a/synced", "s", { sync: true });
		await files.replace("/a/unsynced", "u");
		const [least, most] = [files.afterPowerLoss(() => 0), files.afterPowerLoss(() => 0.999)];
		await file.append("!");
		expect(await read(killed, "/a/log")).toBe("kept lost");
		expect([await read(least, "/a/log"), await read(most, "/a/log")]).toEqual(["kept", "kept lost"]);
		expect([await read(least, "/a/synced"), await read(least, "/a/unsynced")]).toEqual(["s", null]);
		expect(await read(most, "/a/unsynced")).toBe("u");
	});
});
