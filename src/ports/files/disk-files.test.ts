import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
	chmod,
	chown,
	lstat,
	mkdir,
	mkdtemp,
	open,
	readdir,
	readFile,
	readlink,
	realpath,
	rename,
	rm,
	stat,
	symlink,
	truncate,
	writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasBubblewrap } from "../../../test/support/executable/bubblewrap.ts";
import { findBubblewrap } from "../processes/containment.ts";
import { createDiskFiles } from "./disk-files.ts";

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
	const all: Buffer[] = [];
	for await (const piece of pieces) all.push(piece);
	return all;
}

/** Root may, and not a file that a test should be able to read. */
const canReadKernelLog = process.getuid?.() === 0 && existsSync("/proc/kmsg");

describe("files on disk", () => {
	const files = createDiskFiles();
	let root: string;

	beforeEach(async () => {
		root = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-files-")));
	});
	afterEach(() => rm(root, { recursive: true, force: true }));

	const at = (name: string): string => path.join(root, name);
	const text = (name: string): Promise<string> => readFile(at(name), "utf8");
	const mode = async (name: string): Promise<number> => (await stat(at(name))).mode & 0o7777;

	describe("reading with admission", () => {
		const refuseSecrets = files.admitting(async (resolved) => {
			if (resolved.endsWith("secret")) throw new Error(`no: ${resolved}`);
		});

		it("checks the target file of a path, whichever way it is read", async () => {
			await mkdir(at("dir"));
			await writeFile(at("dir/secret"), "x");
			await writeFile(at("dir/plain"), "y");
			await symlink("dir", at("to-dir"));
			await symlink("to-dir/secret", at("link"));
			await symlink("to-dir/plain", at("other"));
			for (const name of ["dir/secret", "to-dir/secret", "link"]) {
				const reason = `no: ${at("dir/secret")}`;
				await expect(refuseSecrets.read(at(name))).rejects.toThrow(reason);
				await expect(refuseSecrets.readRange(at(name), 0, 1)).rejects.toThrow(reason);
				await expect(collect(refuseSecrets.readPieces(at(name)))).rejects.toThrow(reason);
				expect((await files.read(at(name)))?.toString()).toBe("x");
			}
			expect((await refuseSecrets.read(at("other")))?.toString()).toBe("y");
			expect(await refuseSecrets.read(at("none"))).toBeNull();
			const neither = refuseSecrets.admitting(async () => Promise.reject(new Error("nor this")));
			await expect(neither.read(at("other"))).rejects.toThrow("nor this");
			await expect(neither.read(at("link"))).rejects.toThrow("no: ");
		});

		it.skipIf(!hasBubblewrap())("refuses a file that another process sees at another path", async () => {
			for (const name of ["private", "public"]) await mkdir(at(name));
			await writeFile(at("private/key"), "x");
			const binds = ["--dev-bind", "/", "/", "--bind", at("private"), at("public"), "--die-with-parent"];
			const other = spawn(
				findBubblewrap(process.env["PATH"]) ?? "",
				[...binds, "sh", "-c", "echo $$; exec sleep 600"],
				{
					stdio: ["ignore", "pipe", "inherit"],
				},
			);
			const [pid] = await once(other.stdout, "data");
			const admitted: string[] = [];
			const watched = files.admitting(async (resolved) => void admitted.push(resolved));
			const seen = `/proc/${String(pid).trim()}/root${at("public/key")}`;
			expect(await readFile(seen, "utf8")).toBe("x");
			await expect(watched.read(seen)).rejects.toThrow("ESTALE");
			expect(new Set(admitted)).toEqual(new Set([at("public/key")]));
			other.kill();
		});

		it("reads a file that is replaced all the time", async () => {
			await files.replace(at("file"), "x");
			let isOver = false;
			const replacing = (async () => {
				while (!isOver) await files.replace(at("file"), "x");
			})();
			for (let count = 0; count < 200; count += 1) {
				expect((await refuseSecrets.read(at("file")))?.toString()).toBe("x");
			}
			isOver = true;
			await replacing;
		});

		it.runIf(process.platform === "linux")("refuses a deleted file", async () => {
			await writeFile(at("gone"), "x");
			const handle = await open(at("gone"));
			await rm(at("gone"));
			await expect(refuseSecrets.read(`/proc/self/fd/${handle.fd}`)).rejects.toMatchObject({ code: "ESTALE" });
			await handle.close();
		});

		it("reads only the file that was checked, however fast links change", async () => {
			await mkdir(at("a"));
			await mkdir(at("b"));
			await writeFile(at("a/file"), "plain");
			await writeFile(at("b/secret"), "not to be told");
			await symlink("secret", at("b/file"));
			await symlink("a", at("way"));
			let isOver = false;
			const changing = (async () => {
				for (let count = 0; !isOver; count += 1) {
					await symlink(count % 2 === 0 ? "b" : "a", at("next"));
					await rename(at("next"), at("way"));
				}
			})();
			const found = new Set<string>();
			for (let count = 0; count < 300; count += 1) {
				const read = refuseSecrets.read(at("way/file"));
				found.add(await read.then(String, (thrown: unknown) => (thrown instanceof Error ? "refused" : "?")));
			}
			isOver = true;
			await changing;
			expect([...found].sort().join()).toMatch(/^(plain|refused|plain,refused)$/);
		});
	});

	it("replaces nothing through a link that appeared meanwhile", async () => {
		await mkdir(at("dir"));
		await writeFile(at("dir/file"), "old");
		await symlink("dir", at("to-dir"));
		await symlink("file", at("dir/link"));
		for (const name of ["to-dir/file", "dir/link"]) {
			await expect(files.replace(at(name), "new", { withoutLinks: true })).rejects.toMatchObject({ code: "ELOOP" });
		}
		expect(await text("dir/file")).toBe("old");
		expect((await readdir(at("dir"))).sort()).toEqual(["file", "link"]);
		await files.replace(at("dir/file"), "new", { withoutLinks: true });
		expect(await text("dir/file")).toBe("new");
		const failed = files.replace(at(`dir/${"x".repeat(300)}`), "new", { withoutLinks: true });
		await expect(failed).rejects.toThrow(at("dir"));
	});

	it("puts nothing where a link in the way leads, not even for a moment", async () => {
		for (const name of ["dir", "other"]) await mkdir(at(name));
		await symlink("other", at("way"));
		let seen: string[] = [];
		async function* pieces(): AsyncGenerator<Uint8Array> {
			seen = await readdir(at("other"));
			yield Buffer.from("new");
		}
		const replaced = files.replaceByPieces(at("way/file"), pieces(), { withoutLinks: true });
		await expect(replaced).rejects.toMatchObject({ code: "ELOOP" });
		expect([seen, await readdir(at("other"))]).toEqual([[], []]);
	});

	it("replaces nothing in another directory while a link is swapped for this one", async () => {
		for (const name of ["a", "b"]) await mkdir(at(name));
		let isOver = false;
		const changing = (async () => {
			while (!isOver) {
				await rename(at("a"), at("aside"));
				await symlink("b", at("a"));
				await rm(at("a"));
				await rename(at("aside"), at("a"));
			}
		})();
		for (let count = 0; count < 300; count += 1) {
			await files.replace(at("a/file"), "new", { withoutLinks: true }).catch(() => undefined);
		}
		isOver = true;
		await changing;
		expect(await readdir(at("b"))).toEqual([]);
	});

	describe("reading", () => {
		it("returns null, or nothing, for a missing file", async () => {
			await writeFile(at("file"), "x");
			for (const missing of [at("none"), at("file/below")]) {
				expect(await files.read(missing)).toBeNull();
				expect(await files.readRange(missing, 0, 5)).toBeNull();
				expect(await files.status(missing)).toBeNull();
				expect(await collect(files.readPieces(missing))).toEqual([]);
			}
			await expect(files.list(at("none"))).rejects.toMatchObject({ code: "ENOENT" });
		});

		it("reads a range up to the end of the file", async () => {
			await writeFile(at("file"), "0123456789");
			expect((await files.readRange(at("file"), 2, 3))?.toString()).toBe("234");
			expect((await files.readRange(at("file"), 8, 30))?.toString()).toBe("89");
			expect((await files.readRange(at("file"), 30, 3))?.length).toBe(0);
		});

		it("reads pieces that join to the whole file", async () => {
			const whole = Buffer.from(Array.from({ length: 200_000 }, (_, n) => n % 251));
			await writeFile(at("file"), whole);
			const pieces = await collect(files.readPieces(at("file")));
			expect(pieces.length).toBeGreaterThan(1);
			expect(Buffer.concat(pieces).equals(whole)).toBe(true);
		});

		it.runIf(process.platform === "linux")(
			"reads no further for a reader that stops, and closes the file",
			async () => {
				await writeFile(at("file"), Buffer.alloc(1_000_000));
				const countOpen = async () => {
					const links = await readdir("/dev/fd");
					const targets = await Promise.all(links.map((name) => readlink(`/dev/fd/${name}`).catch(() => "")));
					return targets.filter((target) => target === at("file")).length;
				};
				let pieces = 0;
				for await (const piece of files.readPieces(at("file"))) {
					pieces += 1;
					expect(piece.length).toBeGreaterThan(0);
					if (pieces === 3) break;
				}
				expect(await countOpen()).toBe(0);
			},
		);

		it.skipIf(process.platform !== "linux")("refuses pipes and devices at once", async () => {
			execFileSync("mkfifo", [at("fifo")]);
			await symlink("/dev/zero", at("endless"));
			for (const special of [at("fifo"), at("endless")]) {
				const refusal = { code: "EINVAL", message: `EINVAL: not a regular file, read '${special}'` };
				await expect(files.read(special)).rejects.toMatchObject(refusal);
				await expect(files.readRange(special, 0, 5)).rejects.toMatchObject(refusal);
				await expect(collect(files.readPieces(special))).rejects.toMatchObject(refusal);
			}
			await symlink("/dev/null", at("masked"));
			expect(await files.read(at("masked"))).toEqual(Buffer.alloc(0));
		});

		it.skipIf(process.platform !== "linux")("reads a file of the kernel whose size is 0", async () => {
			const whole = await files.read("/proc/self/status");
			expect(whole?.toString()).toContain(`Pid:\t${process.pid}`);
			expect(Buffer.concat(await collect(files.readPieces("/proc/self/status"))).toString()).toContain("Pid:");
			expect((await files.readRange("/proc/self/status", 0, 5))?.toString()).toBe("Name:");
		});

		it.skipIf(!canReadKernelLog)("ends at the present end of the kernel's log", async () => {
			expect(await files.read("/proc/kmsg")).toBeInstanceOf(Buffer);
			expect(await collect(files.readPieces("/proc/kmsg"))).toEqual([]);
		});

		it("reads no more of a file than a limit, also where its size is not known", async () => {
			await writeFile(at("four"), "abcd");
			expect((await files.read(at("four"), 4))?.toString()).toBe("abcd");
			await expect(files.read(at("four"), 3)).rejects.toMatchObject({ code: "EFBIG" });
			expect(await files.read(at("none"), 3)).toBeNull();
			expect((await files.read("/dev/null", 0))?.length).toBe(0);
			if (process.platform !== "linux") return;
			await expect(files.read("/proc/self/status", 10)).rejects.toMatchObject({ code: "EFBIG" });
		});

		it.skipIf(process.platform !== "linux")("refuses a file larger than any memory", async () => {
			await writeFile(at("sparse"), "");
			await truncate(at("sparse"), 2 ** 40);
			await expect(files.read(at("sparse"))).rejects.toMatchObject({ code: "EFBIG" });
		});

		it("reports the kind of a file, following links", async () => {
			await mkdir(at("dir"));
			await writeFile(at("file"), "abc", { mode: 0o640 });
			await symlink("dir", at("to-dir"));
			await symlink("nowhere", at("to-nothing"));
			expect((await files.list(root)).sort((one, other) => one.name.localeCompare(other.name))).toEqual([
				{ name: "dir", kind: "directory" },
				{ name: "file", kind: "file" },
				{ name: "to-dir", kind: "directory" },
				{ name: "to-nothing", kind: "other" },
			]);
			expect(await files.status(at("file"))).toMatchObject({ kind: "file", size: 3, mode: 0o640 });
			expect((await files.status(at("to-dir")))?.kind).toBe("directory");
			expect(await files.status(at("to-nothing"))).toBeNull();
		});

		it("resolves links, with a missing tail as spelled", async () => {
			await mkdir(at("dir"));
			await symlink("dir", at("link"));
			await symlink("dir/later", at("to-nothing"));
			expect(await files.resolve(at("link/none/deeper"))).toBe(at("dir/none/deeper"));
			expect(await files.resolve(at("to-nothing/x"))).toBe(at("dir/later/x"));
			expect(await files.resolve(`${at("link")}/../dir`)).toBe(at("dir"));
		});
	});

	describe("replacing", () => {
		it("writes new and existing files, and leaves no temporary files", async () => {
			await files.replace(at("file"), "one");
			expect(await text("file")).toBe("one");
			await files.replace(at("file"), Buffer.from([0, 255]), { sync: true });
			expect((await readFile(at("file"))).equals(Buffer.from([0, 255]))).toBe(true);
			expect(await readdir(root)).toEqual(["file"]);
		});

		it("preserves the mode of the replaced file, or sets the given one", async () => {
			await writeFile(at("file"), "one");
			await chmod(at("file"), 0o751);
			await files.replace(at("file"), "two");
			expect(await mode("file")).toBe(0o751);
			await files.replace(at("file"), "three", { mode: 0o600 });
			expect(await mode("file")).toBe(0o600);
			await files.replace(at("other"), "x");
			expect(await mode("other")).toBe(0o666 & ~process.umask());
		});

		it.runIf(process.getuid?.() === 0)(
			"retains the user and the group of the replaced file, but of no file of its own",
			async () => {
				await writeFile(at("file"), "old");
				await chown(at("file"), 12_345, 12_346);
				await chmod(at("file"), 0o2755);
				await files.replace(at("file"), "new", { withoutLinks: true });
				expect(await stat(at("file"))).toMatchObject({ uid: 12_345, gid: 12_346, mode: 0o102755 });
				await files.replace(at("file"), "new", { mode: 0o640 });
				expect(await stat(at("file"))).toMatchObject({ uid: 0, gid: 0 });
			},
		);

		it.runIf(process.getuid?.() === 0)("gives no other group the rights of the replaced file's", async () => {
			await chown(root, 12_345, 12_345);
			await writeFile(at("file"), "old");
			await chown(at("file"), 12_345, 12_346);
			await chmod(at("file"), 0o664);
			const script = `
				import { createDiskFiles } from ${JSON.stringify(path.resolve("src/ports/files/disk-files.ts"))};
				process.setgroups([]);
				process.setgid(12_345);
				process.setuid(12_345);
				await createDiskFiles().replace(${JSON.stringify(at("file"))}, "new");`;
			execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], { stdio: "pipe" });
			expect(await stat(at("file"))).toMatchObject({ uid: 12_345, gid: 12_345, mode: 0o100644 });
		});

		it("replaces the target of a link, not the link", async () => {
			await mkdir(at("dir"));
			await writeFile(at("dir/file"), "one");
			await symlink("dir/file", at("near"));
			await symlink(at("near"), at("far"));
			await symlink("dir/new", at("dangling"));
			await files.replace(at("far"), "two");
			await files.replace(at("dangling"), "made");
			expect(await text("dir/file")).toBe("two");
			expect(await text("dir/new")).toBe("made");
			for (const link of ["far", "near", "dangling"]) expect((await lstat(at(link))).isSymbolicLink()).toBe(true);
		});

		it("refuses circular links", async () => {
			await symlink("b", at("a"));
			await symlink("a", at("b"));
			await expect(files.replace(at("a"), "x")).rejects.toMatchObject({ code: "ELOOP" });
		});

		it("leaves no temporary files when it fails", async () => {
			await mkdir(at("dir"));
			await writeFile(at("dir/in"), "x");
			await expect(files.replace(at("dir"), "x")).rejects.toMatchObject({ code: "EISDIR" });
			expect(await readdir(root)).toEqual(["dir"]);
			await expect(files.replace(at("none/file"), "x")).rejects.toMatchObject({ code: "ENOENT" });
		});

		it("handles names of the maximum length", async () => {
			const name = "n".repeat(255);
			await files.replace(at(name), "x");
			expect(await text(name)).toBe("x");
		});
	});

	describe("replacing by pieces", () => {
		async function* pieces(...texts: readonly string[]) {
			for (const text of texts) yield Buffer.from(text);
		}
		async function* failing() {
			yield Buffer.from("one");
			throw new Error("no more");
		}

		it("writes them in order, with the given mode", async () => {
			await files.replaceByPieces(at("file"), pieces("one", "", "two"), { mode: 0o600, sync: true });
			expect(await text("file")).toBe("onetwo");
			expect(await mode("file")).toBe(0o600);
			await files.replaceByPieces(at("file"), pieces());
			expect(await text("file")).toBe("");
		});

		it("requests a piece after the one before is written", async () => {
			async function* watched() {
				for (const text of ["one", "two"]) {
					const names = await readdir(root);
					yield Buffer.from(`${text}:${names.length}:${(await stat(at(names[0] ?? ""))).size} `);
				}
			}
			await files.replaceByPieces(at("file"), watched());
			expect(await text("file")).toBe("one:1:0 two:1:8 ");
		});

		it("preserves the old file, without temporary files, when a piece fails", async () => {
			await writeFile(at("file"), "old");
			await expect(files.replaceByPieces(at("file"), failing())).rejects.toThrow("no more");
			expect(await text("file")).toBe("old");
			expect(await readdir(root)).toEqual(["file"]);
		});
	});

	describe("appending", () => {
		it("appends in the order of the calls, and creates the file", async () => {
			const file = await files.openAppend(at("log"));
			await Promise.all(Array.from({ length: 50 }, (_, n) => file.append(`${n}\n`)));
			await file.sync();
			await file.close();
			expect(await text("log")).toBe(Array.from({ length: 50 }, (_, n) => `${n}\n`).join(""));
			const again = await files.openAppend(at("log"));
			await again.append("é\n");
			await again.close();
			expect((await text("log")).endsWith("49\né\n")).toBe(true);
		});

		it("continues after a failed call", async () => {
			const file = await files.openAppend(at("log"));
			await file.close();
			await expect(file.append("x")).rejects.toMatchObject({ code: "EBADF" });
			await expect(file.append("y")).rejects.toMatchObject({ code: "EBADF" });
		});

		it("appends pieces in order, without interleaving", async () => {
			const file = await files.openAppend(at("log"));
			await Promise.all([file.append("a\n"), file.appendPieces(["b", "ä", "c\n"]), file.append("d\n")]);
			await file.close();
			expect(await text("log")).toBe("a\nbäc\nd\n");
		});

		it.each(['append("x".repeat(4000))', 'appendPieces(Array.from({ length: 40 }, () => "x".repeat(100)))'])(
			"truncates a partially written line: %s",
			async (append) => {
				// A size limit on files makes a write partial first, then fail: as a disk that fills up does.
				const program = `
				import { createDiskFiles } from ${JSON.stringify(path.join(import.meta.dirname, "disk-files.ts"))};
				process.on("SIGXFSZ", () => {});
				const file = await createDiskFiles().openAppend(process.argv[2]);
				await file.append("whole\\n");
				const code = await file.${append}.then(() => "none", (error) => error.code);
				await file.append("after\\n");
				await file.close();
				console.log(code);
			`;
				await writeFile(at("program.mts"), program);
				const tsx = path.join(import.meta.dirname, "../../../node_modules/.bin/tsx");
				// In blocks of 1024 bytes (bash) or 512 (other shells): less than the long line either way.
				const command = 'ulimit -f 2; exec "$0" "$1" "$2"';
				const output = execFileSync("sh", ["-c", command, tsx, at("program.mts"), at("log")], {
					encoding: "utf8",
					env: { ...process.env, TSX_DISABLE_CACHE: "1" },
				});
				expect(output.trim()).toBe("EFBIG");
				expect(await text("log")).toBe("whole\nafter\n");
			},
		);
	});

	it("creates a file once", async () => {
		const created = await files.create(at("file"), "one");
		expect(created).toMatchObject({ kind: "file", size: 3 });
		expect(created).toEqual(await files.status(at("file")));
		expect(await files.create(at("file"), "two")).toBeNull();
		expect(await text("file")).toBe("one");
	});

	it.runIf(process.platform === "linux")("terminates when no directory can be created", async () => {
		await expect(files.makeDirectory("/proc/none/such/directory")).rejects.toMatchObject({ code: "ENOENT" });
	});

	it("creates a directory for the owner only when requested, and leaves an existing one unchanged", async () => {
		expect(await files.makeDirectory(at("a/private"), 0o700)).toBe(true);
		expect(await files.makeDirectory(at("a"), 0o700)).toBe(false);
		const modes = await Promise.all(["a", "a/private"].map(async (name) => (await stat(at(name))).mode & 0o777));
		expect(modes).toEqual([0o777 & ~process.umask(), 0o700]);
	});

	it("creates, renames, truncates and removes", async () => {
		await files.makeDirectory(at("a/b"));
		await files.makeDirectory(at("a/b"));
		await writeFile(at("a/b/file"), "012345");
		await files.truncate(at("a/b/file"), 3);
		await files.rename(at("a/b/file"), at("a/moved"));
		expect(await text("a/moved")).toBe("012");
		await files.remove(at("a"));
		await files.remove(at("a"));
		expect(await readdir(root)).toEqual([]);
	});
});
