// What a session changes is put back byte for byte, or named before anybody confirms; on a real file system. The numbers are
// those of the kinds of changes that programs of this sort have been reported to lose.
import { execFileSync } from "node:child_process";
import {
	chmod,
	link,
	lstat,
	mkdir,
	mkdtemp,
	readFile,
	readlink,
	realpath,
	rename,
	rm,
	stat,
	symlink,
	unlink,
	writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { createProcesses } from "../processes/children.ts";
import { FileHistory, type FileHistorySettings, type HistoryLimits, type PlannedPath } from "./file-history.ts";
import { copyHistory } from "./history-copy.ts";

let base = "";
let work = "";
const at = (...names: string[]) => path.join(work, ...names);
const limits: HistoryLimits = {
	files: 200_000,
	fileBytes: 1024 * 1024,
	storeBytes: 64 * 1024 * 1024,
	patience: 20_000,
	turns: 100,
};

function open(
	changes: Partial<Omit<FileHistorySettings, "limits">> & { limits?: Partial<HistoryLimits>; name?: string } = {},
) {
	const { name = "history", limits: changed = {}, ...others } = changes;
	return new FileHistory({
		directory: path.join(base, name),
		workDir: work,
		roots: () => [work],
		home: path.join(base, "home"),
		excluded: [path.join(base, name)],
		git: {
			environment: { PATH: process.env["PATH"] ?? "", HOME: path.join(base, "home") },
			processes: createProcesses(),
		},
		space: { note: async () => {} },
		hasBackgroundWork: async () => false,
		clock: systemClock,
		log: silentLog,
		...others,
		limits: { ...limits, ...changed },
	});
}

const sh = (script: string, cwd = work) =>
	execFileSync("bash", ["-ec", script], {
		cwd,
		env: {
			PATH: process.env["PATH"],
			HOME: path.join(base, "home"),
			GIT_AUTHOR_NAME: "n",
			GIT_AUTHOR_EMAIL: "e@example",
			GIT_COMMITTER_NAME: "n",
			GIT_COMMITTER_EMAIL: "e@example",
		},
	}).toString();

/** A command of a turn. */
const command = (history: FileHistory, turn: string, script: string) =>
	history.around(turn, { kind: "anything" }, async () => sh(script));
const edit = (history: FileHistory, turn: string, file: string, text: string) =>
	history.around(turn, { kind: "files", paths: [file] }, () => writeFile(file, text));

const everything = async () => null;
const unlessConflict = async ({ isConflict }: PlannedPath) => (isConflict ? "it was changed since" : null);
const back = (history: FileHistory, id: string, leave = unlessConflict) =>
	history.restore("restore-1", { id, at: 0 }, leave);

/** All that is in the work directory but the repository: bytes, links, modes. */
function picture(directory = work): string {
	return execFileSync(
		"bash",
		[
			"-c",
			"find . -name .git -prune -o -printf '%y %m %p %l\\n' | sort; find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 -r sha256sum",
		],
		{ cwd: directory },
	).toString();
}

const repositoryState = () =>
	sh(
		"find .git -type f -print0 | sort -z | xargs -0 sha256sum; git status --porcelain=v2 --ignored; git stash list; git for-each-ref",
	);

beforeEach(async () => {
	base = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-history-")));
	work = path.join(base, "work");
	await mkdir(work);
	await mkdir(path.join(base, "home"));
});

afterEach(async () => {
	execFileSync("chmod", ["-R", "u+rwx", base]);
	await rm(base, { recursive: true, force: true });
});

describe.each(["with git", "without git"])("the file history %s", (kind) => {
	const isGit = kind === "with git";
	beforeEach(() => {
		sh(
			"mkdir -p src; echo one > src/a.txt; printf 'two\\r\\n' > src/b.txt; echo run > run.sh; chmod 755 run.sh; ln -s a.txt src/link; mkdir empty; printf 'dist/\\n.env\\n' > .gitignore; echo KEY=1 > .env",
		);
		if (isGit) sh("git init -q; git add -A; git commit -qm first");
		sh("echo loose > untracked.txt");
	});

	const restoresAfter = async (script: string, prepare = "") => {
		if (prepare !== "") sh(prepare);
		const before = picture();
		const history = open();
		await command(history, "t1", script);
		expect(picture()).not.toBe(before);
		const restored = await back(history, "t1");
		expect(restored.left).toEqual([]);
		expect(picture()).toBe(before);
		// 25: a restore is undone like a turn.
		return { history, before };
	};

	it.each([
		["1 untracked created", "echo new > new.txt; mkdir -p x/y; echo deep > x/y/z"],
		["1 untracked changed", "echo changed > untracked.txt"],
		["1 untracked deleted", "rm untracked.txt"],
		["2 ignored .env changed", "echo KEY=2 > .env"],
		["4 made by a command", "seq 1000 > made.txt"],
		["5 deleted by a command", "rm src/a.txt .gitignore"],
		["5 directory deleted by a command", "rm -r src empty"],
		["6 link to file", "rm src/link; echo now > src/link"],
		["6 file to link", "rm src/a.txt; ln -s /etc/passwd src/a.txt"],
		["6 link elsewhere", "ln -sfn /etc/hostname src/link"],
		["6 directory to link", "mv src elsewhere; ln -s /tmp src"],
		[
			"6 directory to link to files of the same names",
			"mv src elsewhere; mkdir ../other; echo x > ../other/a.txt; ln -s ../other src",
		],
		["6 file to directory", "rm src/a.txt; mkdir src/a.txt; echo in > src/a.txt/in"],
		["7 executable bit", "chmod 644 run.sh; chmod 755 src/a.txt"],
		["7 mode", "chmod 600 src/a.txt; chmod 700 src"],
		["8 empty directory removed", "rmdir empty"],
		["8 empty directory made", "mkdir -p other/empty"],
		["9 CRLF", "sed -i 's/\\r//' src/b.txt; printf 'x\\r\\n' > src/a.txt"],
		["16 names", "printf x > $'new\\nline'; printf y > $'caf\\u00e9'; printf z > $'cafe\\u0301'; printf q > ' -rf'"],
		["16 case-only rename", "mv src/a.txt src/A.TXT"],
		["16 rename", "mv src renamed"],
		["17 read-only file", "chmod 444 src/a.txt; echo x > src/b.txt; chmod 444 src/b.txt"],
		["17 read-only directory", "echo x > src/a.txt; rm src/b.txt; chmod 555 src"],
	])("%s", async (_, script) => {
		const { history, before } = await restoresAfter(script);
		const again = await history.restore("restore-2", { id: "restore-1", at: 0 }, unlessConflict);
		expect(again.left).toEqual([]);
		expect(picture()).not.toBe(before);
	});

	it("17 puts files into a directory that was read-only all the time", async () => {
		await restoresAfter("chmod 755 src; echo x > src/a.txt; chmod 555 src", "chmod 555 src");
	});

	it("3 names ignored directories, and does not look into them", async () => {
		sh("mkdir -p dist; echo built > dist/out.js");
		const history = open();
		await command(history, "t1", "echo other > dist/out.js; echo x > src/a.txt");
		const plan = await history.plan({ id: "t1", at: 0 });
		if (!isGit) expect(plan.paths.map((each) => each.path)).toContain(at("dist/out.js"));
		else expect(plan.uncovered).toEqual([{ path: at("dist"), reason: expect.stringContaining("git ignores") }]);
		await command(history, "t2", "rm -r dist");
		const gone = await history.plan({ id: "t2", at: 0 });
		if (isGit) expect(gone.uncovered.map((each) => each.path)).toEqual([at("dist")]);
	});

	it("3 restores what an edit tool changed in an ignored directory", async () => {
		sh("mkdir -p dist; echo built > dist/out.js");
		const history = open();
		await command(history, "t0", "true");
		await edit(history, "t1", at("dist/out.js"), "edited");
		await edit(history, "t1", at("dist/out.js"), "edited again");
		await back(history, "t1");
		expect(await readFile(at("dist/out.js"), "utf8")).toBe("built\n");
	});

	it("3 leaves what was in a directory that git no longer ignores", async () => {
		sh("mkdir -p dist; echo built > dist/out.js");
		const history = open();
		await command(history, "t1", "echo > .gitignore");
		await command(history, "t1", "echo x > made.txt; mkdir another");
		await command(history, "t1", "echo y > made.txt");
		await back(history, "t1");
		expect(await readFile(at("dist/out.js"), "utf8")).toBe("built\n");
	});

	it("6 never writes through a link that leads out", async () => {
		const outside = path.join(base, "outside");
		await mkdir(outside);
		const history = open();
		await command(history, "t1", "echo changed > src/a.txt");
		sh(`mv src kept; ln -s ${outside} src`);
		const restored = await back(history, "t1", everything);
		expect(await lstat(path.join(outside, "a.txt")).catch(() => null)).toBeNull();
		expect(restored.left.map((each) => each.path)).toContain(at("src/a.txt"));
	});

	it("13 shows what the user changed since as a conflict, and leaves it", async () => {
		const history = open();
		await command(history, "t1", "echo agent > src/a.txt; echo agent > made.txt");
		await writeFile(at("src/a.txt"), "user");
		await writeFile(at("made.txt"), "user");
		const plan = await history.plan({ id: "t1", at: 0 });
		expect(
			plan.paths
				.filter((each) => each.isConflict)
				.map((each) => each.path)
				.toSorted(),
		).toEqual([at("made.txt"), at("src/a.txt")]);
		const restored = await back(history, "t1");
		expect(restored.restored).toEqual([]);
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("user");
		await back(history, "t1", everything);
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("one\n");
		// Undone, the user has theirs again.
		await history.restore("restore-2", { id: "restore-1", at: 0 }, everything);
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("user");
	});

	it("13 keeps what the user changed between two turns, and says so", async () => {
		const history = open();
		await command(history, "t1", "echo agent > src/a.txt");
		await writeFile(at("untracked.txt"), "user");
		await writeFile(at("mine.txt"), "user");
		await command(history, "t2", "echo again > src/b.txt");
		const plan = await history.plan({ id: "t1", at: 0 });
		expect(plan.outside.toSorted()).toEqual([at("mine.txt"), at("untracked.txt")]);
		await back(history, "t1");
		expect(await readFile(at("untracked.txt"), "utf8")).toBe("user");
		expect(await readFile(at("mine.txt"), "utf8")).toBe("user");
	});

	it("13 goes back to what the user had edited before the turn", async () => {
		const history = open();
		await command(history, "t1", "echo agent > src/a.txt");
		await writeFile(at("src/a.txt"), "user");
		await command(history, "t2", "echo agent >> src/a.txt");
		expect((await history.plan({ id: "t1", at: 0 })).paths[0]?.isConflict).toBe(true);
		await back(history, "t2");
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("user");
	});

	it("14 counts what a background command writes later to its turn, and says that it still runs", async () => {
		let runs = false;
		const history = open({ hasBackgroundWork: async () => runs });
		await command(history, "t1", "echo x > src/a.txt");
		runs = true;
		await command(history, "t1", "true");
		sh("echo later > later.txt");
		await command(history, "t2", "echo y > src/b.txt");
		const plan = await history.plan({ id: "t1", at: 0 });
		expect(plan.paths.map((each) => each.path)).toContain(at("later.txt"));
		expect(plan.reasons).toEqual([expect.stringContaining("background")]);
		expect((await history.plan({ id: "t2", at: 0 })).paths.map((each) => each.path)).toEqual([at("src/b.txt")]);
	});

	it("15 keeps two sessions in one directory apart", async () => {
		const one = open({ name: "one" });
		const other = open({ name: "other" });
		await command(one, "t1", "echo one > src/a.txt");
		await command(other, "t1", "echo other > src/b.txt; echo other > other.txt");
		await command(one, "t2", "echo more > more.txt");
		await back(one, "t1");
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("one\n");
		expect(await readFile(at("src/b.txt"), "utf8")).toBe("other\n");
		await back(other, "t1");
		expect(await readFile(at("src/b.txt"), "utf8")).toBe("two\r\n");
	});

	it("18 names a file beyond the size limit", async () => {
		sh("head -c 3000 /dev/zero > big.bin");
		const history = open({ limits: { fileBytes: 2000 } });
		await command(history, "t1", "head -c 3500 /dev/zero > big.bin; echo x > src/a.txt");
		const plan = await history.plan({ id: "t1", at: 0 });
		expect(plan.uncovered).toContainEqual({ path: at("big.bin"), reason: "it is larger than 2000 bytes" });
		expect((await back(history, "t1")).restored).toEqual([at("src/a.txt")]);
	});

	it("19 passes pipes and sockets, and does not wait for them", async () => {
		sh("mkfifo pipe");
		const history = open();
		await command(history, "t1", "mkfifo other; rm pipe; echo x > src/a.txt");
		const plan = await history.plan({ id: "t1", at: 0 });
		expect(plan.uncovered.map((each) => each.path)).toContain(at("pipe"));
		await back(history, "t1");
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("one\n");
	});

	it("20 says so when the store cannot be written", async () => {
		const history = open({ limits: { storeBytes: -1 } });
		await command(history, "t1", "echo x > untracked.txt; echo x > src/a.txt");
		const plan = await history.plan({ id: "t1", at: 0 });
		expect(plan.uncovered.find((each) => each.path === at("untracked.txt"))?.reason).toContain("full");
	});

	it("20 runs the call when nothing can be recorded", async () => {
		await writeFile(path.join(base, "blocked"), "");
		const history = open({ name: "blocked/below" });
		await command(history, "t1", "echo x > src/a.txt");
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("x\n");
		await expect(history.closeTurn("t1")).resolves.toMatchObject({ complete: false });
	});

	it("21 finds what a killed process changed", async () => {
		const before = picture();
		const killed = open();
		void killed.around("t1", { kind: "anything" }, () => {
			sh("echo half > src/a.txt; echo half > made.txt");
			return new Promise<never>(() => {});
		});
		await expect
			.poll(
				() =>
					stat(at("made.txt")).then(
						() => true,
						() => false,
					),
				{ timeout: 20_000 },
			)
			.toBe(true);
		const history = open();
		await back(history, "t1");
		expect(picture()).toBe(before);
	});

	it("23 refuses the home directory and the root", async () => {
		for (const home of [work, path.join(work, "home")]) {
			await mkdir(home, { recursive: true });
			const history = open({ name: path.basename(home) === "work" ? "one" : "two", home });
			await command(history, "t1", "echo x > src/a.txt");
			expect(await history.closeTurn("t1")).toMatchObject({
				complete: false,
				reasons: [expect.stringContaining("home")],
			});
			await edit(history, "t1", at("src/b.txt"), "edited");
			await back(history, "t1");
			expect(await readFile(at("src/b.txt"), "utf8")).toBe("two\r\n");
			sh("echo one > src/a.txt");
		}
	});

	it("24 says so when there are more files than the limit", async () => {
		const history = open({ limits: { files: 3 } });
		await command(history, "t1", "echo x > src/a.txt");
		expect(await history.closeTurn("t1")).toMatchObject({
			complete: false,
			reasons: [expect.stringContaining("more than 3 files")],
		});
	});

	it("25 undoes the undoing of a restore", async () => {
		const history = open();
		const first = picture();
		await command(history, "t1", "echo x > src/a.txt; rm untracked.txt; echo n > n.txt");
		const second = picture();
		await back(history, "t1");
		expect(picture()).toBe(first);
		await history.restore("restore-2", { id: "restore-1", at: 0 }, unlessConflict);
		expect(picture()).toBe(second);
		await history.restore("restore-3", { id: "restore-2", at: 0 }, unlessConflict);
		expect(picture()).toBe(first);
	});

	it("26 is forked into a new directory, and both go back", async () => {
		sh("mkdir -p dist; echo built > dist/out.js");
		const history = open();
		const first = picture();
		await command(history, "t1", "echo 1 > src/a.txt; rm -r empty; ln -s b.txt src/new");
		const second = picture();
		await command(history, "t2", "echo 2 > src/a.txt; rm run.sh; chmod 600 untracked.txt");
		const third = picture();
		const directory = path.join(base, "forked");
		const fork = await history.checkOut({ id: "t2", at: 0 }, { directory, worktree: false, refuse: async () => null });
		expect(fork.left).toEqual(isGit ? [{ path: "dist", reason: expect.stringContaining("git ignores") }] : []);
		if (isGit) sh("mkdir -p forked/dist; cp work/dist/out.js forked/dist", base);
		expect([picture(), picture(directory)]).toEqual([third, second]);
		await fork.writeHistory(path.join(base, "fork-history"));
		const own = open({ name: "fork-history", workDir: directory, roots: () => [directory] });
		await own.around("t3", { kind: "anything" }, async () => sh("echo 3 > src/a.txt", directory));
		expect((await own.restore("r", { id: "t1", at: 0 }, unlessConflict)).left).toEqual([]);
		expect([picture(), picture(directory)]).toEqual([third, first]);
		await back(history, "t1");
		expect([picture(), picture(directory)]).toEqual([first, first]);
		await fork.discard();
		expect(await stat(directory).catch(() => null)).toBeNull();
	});

	it("26 copies nothing where nothing was recorded", async () => {
		await copyHistory(path.join(base, "history"), path.join(base, "fork/history"));
		expect(await stat(path.join(base, "fork")).catch(() => null)).toBeNull();
	});

	it("26 is forked in the same directory, and both go back", async () => {
		await command(open(), "t1", "echo 1 > src/a.txt");
		// The directory of a new session is made with its first event.
		const name = "fork/history";
		await copyHistory(path.join(base, "history"), path.join(base, name));
		await command(open({ name }), "t2", "echo 2 > src/b.txt");
		await back(open(), "t1");
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("one\n");
		expect(await readFile(at("src/b.txt"), "utf8")).toBe("2\n");
		await back(open({ name }), "t1");
		expect(await readFile(at("src/b.txt"), "utf8")).toBe("two\r\n");
	});

	it("26 refuses directories that are in use, and files beyond the limits, and leaves nothing behind", async () => {
		await mkdir(path.join(base, "full"));
		await writeFile(path.join(base, "full/mine"), "mine");
		await writeFile(path.join(base, "file"), "mine");
		const to = (directory: string, changes: Partial<HistoryLimits> = {}) =>
			open({ limits: changes }).checkOut(null, { directory, worktree: false, refuse: async () => null });
		const before = sh("find . -not -path './history*' | sort", base);
		await expect(to(path.join(base, "full"))).rejects.toThrow("is not empty");
		await expect(to(path.join(base, "file"))).rejects.toThrow("is not a directory");
		await expect(to(path.join(work, "src/in"))).rejects.toThrow("inside the work directory");
		await expect(to("relative")).rejects.toThrow("absolute");
		await expect(to(path.join(base, "x/.git/y"))).rejects.toThrow(".git");
		await expect(to(path.join(base, "new"), { storeBytes: 5 })).rejects.toThrow("max_store_bytes");
		await expect(to(path.join(base, "new"), { files: 3 })).rejects.toThrow("max_files");
		expect(sh("find . -not -path './history*' | sort", base)).toBe(before);
		await to(path.join(base, "new"));
		expect(picture(path.join(base, "new"))).toBe(picture());
	});

	it("finds what a command does in a directory whose list it knows, whatever the time that the command gives it", async () => {
		// What was written a moment ago counts as old.
		const history = open({ clock: { ...systemClock, now: () => systemClock.now() + 10_000 } });
		await command(history, "t1", "true");
		const before = picture();
		await command(
			history,
			"t2",
			"touch -r src stamp; echo new > src/new.txt; mv src/b.txt src/c.txt; rm src/link; rmdir empty; touch -r stamp src; rm stamp",
		);
		expect(
			(await history.records())
				.at(-1)
				?.paths.map((each) => path.relative(work, each.path))
				.sort(),
		).toEqual(["empty", "src/b.txt", "src/c.txt", "src/link", "src/new.txt"]);
		await back(history, "t2");
		expect(picture()).toBe(before);
	});

	it("goes back over several turns, also in a later process", async () => {
		const first = picture();
		await command(open(), "t1", "echo 1 > src/a.txt; echo 1 > n.txt");
		const second = picture();
		await edit(open(), "t2", at("src/a.txt"), "2");
		await command(open(), "t3", "echo 3 > src/a.txt; rm n.txt; rm -r empty");
		const history = open();
		await history.restore("r1", { id: "t2", at: 0 }, unlessConflict);
		expect(picture()).toBe(second);
		await open().restore("r2", { id: "t1", at: 0 }, unlessConflict);
		expect(picture()).toBe(first);
	});

	it("forgets the oldest turns, with the contents that only they need", async () => {
		const history = open({ limits: { turns: 2 } });
		for (let n = 1; n <= 5; n += 1) {
			await command(history, `t${n}`, `echo ${n} > src/a.txt`);
			await history.closeTurn(`t${n}`);
		}
		expect((await history.records()).map(({ id }) => id)).toEqual(["t4", "t5"]);
		await history.restore("r", { id: "t4", at: 0 }, unlessConflict);
		expect(await readFile(at("src/a.txt"), "utf8")).toBe("3\n");
	});
});

describe("in a repository", () => {
	beforeEach(() => {
		sh("git init -q; echo one > a.txt; mkdir d; echo two > d/b.txt; git add -A; git commit -qm first");
	});

	it("9 runs no filter and restores bytes that git would convert", async () => {
		sh(
			`git config core.autocrlf true; git config filter.evil.clean 'touch ${base}/ran; cat'; git config filter.evil.smudge 'touch ${base}/ran; cat'; printf '*.txt text eol=crlf filter=evil ident\\n*.lfs filter=lfs\\n' > .gitattributes`,
		);
		sh("printf 'x\\r\\n$Id$\\n' > c.txt; printf 'version https://git-lfs.github.com/spec/v1\\n' > big.lfs");
		const before = picture();
		const history = open();
		await command(history, "t1", "printf 'a\\n' > c.txt; printf real > big.lfs; printf 'z\\r\\n' > a.txt");
		expect((await back(history, "t1")).left).toEqual([]);
		expect(picture()).toBe(before);
		expect(await stat(path.join(base, "ran")).catch(() => null)).toBeNull();
	});

	it("10 covers nested repositories, submodules and linked worktrees, and never their .git", async () => {
		sh("mkdir nested; cd nested; git init -q; echo in > in.txt; git add -A; git commit -qm in");
		sh(`git clone -q . ${base}/other; git -c protocol.file.allow=always submodule --quiet add ${base}/other module`);
		sh(`git worktree add -q ${base}/linked`);
		const history = open({ roots: () => [work, path.join(base, "linked")] });
		const before = [picture(), picture(path.join(base, "linked"))];
		await command(history, "t1", `echo x > nested/in.txt; echo x > module/a.txt; echo x > ${base}/linked/a.txt`);
		const gits = sh("find . -path '*/.git*' -type f -print0 | sort -z | xargs -0 sha256sum");
		expect((await back(history, "t1")).left).toEqual([]);
		expect([picture(), picture(path.join(base, "linked"))]).toEqual(before);
		expect(sh("find . -path '*/.git*' -type f -print0 | sort -z | xargs -0 sha256sum")).toBe(gits);
	});

	it("10 works in a repository without a commit, and in a directory below one", async () => {
		sh("rm -rf .git; git init -q; git add a.txt");
		const history = open({ roots: () => [at("d")] });
		await command(history, "t1", "echo x > d/b.txt");
		await back(history, "t1");
		expect(await readFile(at("d/b.txt"), "utf8")).toBe("two\n");
	});

	it("11 leaves index, stash, refs and configuration as they are", async () => {
		sh("echo staged > a.txt; git stash -q; echo staged > a.txt; git add a.txt; echo dirty > a.txt; echo u > u.txt");
		const before = repositoryState();
		const history = open();
		await command(history, "t1", "echo x > a.txt; rm d/b.txt; echo n > n.txt");
		await history.plan({ id: "t1", at: 0 });
		await back(history, "t1");
		expect(repositoryState()).toBe(before);
	});

	it("26 is forked into a git worktree, which only then writes to .git", async () => {
		sh("echo '*.txt filter=evil' > .gitattributes; git add -A; git commit -qm attributes; echo dirty > a.txt");
		sh(`git config filter.evil.clean 'touch ${base}/ran; cat'; git config filter.evil.smudge 'touch ${base}/ran; cat'`);
		sh(`printf '#!/bin/sh\\ntouch ${base}/ran' > .git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout`);
		const history = open();
		await command(history, "t1", "echo x > d/b.txt");
		const gits = sh("find .git -type f -print0 | sort -z | xargs -0 sha256sum");
		const plain = { directory: path.join(base, "plain"), worktree: false, refuse: async () => null };
		await history.checkOut({ id: "t1", at: 0 }, plain);
		expect(sh("find .git -type f -print0 | sort -z | xargs -0 sha256sum")).toBe(gits);
		const directory = path.join(base, "tree");
		const fork = await history.checkOut({ id: "t1", at: 0 }, { ...plain, directory, worktree: true });
		expect(await readFile(path.join(directory, "d/b.txt"), "utf8")).toBe("two\n");
		expect(await stat(path.join(base, "ran")).catch(() => null)).toBeNull();
		expect(sh("find .git -path .git/worktrees -prune -o -type f -print0 | sort -z | xargs -0 sha256sum")).toBe(gits);
		sh("git config --remove-section filter.evil");
		expect(sh("git status --porcelain", directory)).toBe(" M a.txt\n");
		await fork.discard();
		expect(sh("git worktree list")).not.toContain("tree");
		expect(sh("ls .git")).not.toContain("worktrees");
	});

	it("26 says why there is no worktree", async () => {
		const request = { directory: path.join(base, "tree"), worktree: true, refuse: async () => null };
		const below = open({ name: "below", workDir: at("d"), roots: () => [at("d")] });
		await expect(below.checkOut(null, request)).rejects.toThrow("not the top of its repository");
		sh("rm -rf .git");
		await expect(open({ name: "none" }).checkOut(null, request)).rejects.toThrow("not in a git repository");
		sh("git init -q");
		await expect(open({ name: "empty" }).checkOut(null, request)).rejects.toThrow("no commit");
		expect(await stat(request.directory).catch(() => null)).toBeNull();
	});

	it("12 restores the files, not HEAD, when the agent has moved it", async () => {
		sh("git checkout -qb other; echo other > a.txt; git commit -qam other; git checkout -q -");
		const before = picture();
		const history = open();
		await command(history, "t1", "git checkout -q other; echo more > d/b.txt; git commit -qam more");
		const head = sh("git rev-parse HEAD");
		expect((await back(history, "t1")).left).toEqual([]);
		expect(picture()).toBe(before);
		expect(sh("git rev-parse HEAD")).toBe(head);
	});

	it("22 restores after the user's git has dropped the objects", async () => {
		const history = open();
		await command(history, "t1", "echo x > a.txt; git add a.txt; git commit -q --amend -m x");
		sh("git reflog expire --expire=now --all; git gc -q --prune=now");
		await back(history, "t1");
		expect(await readFile(at("a.txt"), "utf8")).toBe("one\n");
	});

	it("22 names what the user's git dropped before it could be copied", async () => {
		const history = open();
		await command(history, "t1", "true");
		sh("rm -rf .git; git init -q");
		await command(history, "t2", "echo x > a.txt");
		const plan = await history.plan({ id: "t2", at: 0 });
		expect(plan.uncovered).toEqual([{ path: at("a.txt"), reason: expect.stringContaining("repository") }]);
	});

	it("stores only what changed", async () => {
		const history = open();
		await command(history, "t1", "true");
		expect(await stat(path.join(base, "history/objects")).catch(() => null)).toBeNull();
	});
});

it("looks at nothing before a call may change something", async () => {
	const history = open();
	await expect(history.closeTurn("t1")).resolves.toBeNull();
	expect(await stat(path.join(base, "history")).catch(() => null)).toBeNull();
	await edit(history, "t1", at("a.txt"), "x");
	expect((await history.plan({ id: "t1", at: 0 })).paths).toHaveLength(1);
});

it("keeps copies for their owner alone", async () => {
	await writeFile(at(".env"), "KEY=1");
	const history = open();
	await command(history, "t1", "echo KEY=2 > .env");
	const modes = sh(`find ${base}/history -printf '%y %m\\n' | sort -u`);
	expect(modes).toBe("d 700\nf 600\n");
});

it("cuts hard links rather than changing the other file", async () => {
	const other = path.join(base, "other");
	await writeFile(at("a.txt"), "one");
	const history = open();
	await command(history, "t1", "echo x > a.txt");
	await link(at("a.txt"), other);
	await back(history, "t1", everything);
	expect(await readFile(other, "utf8")).toBe("x\n");
	expect(await readFile(at("a.txt"), "utf8")).toBe("one");
	await chmod(other, 0o600);
	await rename(other, `${other}-2`);
	await symlink("x", at("l"));
	expect(await readlink(at("l"))).toBe("x");
	await unlink(at("l"));
});
