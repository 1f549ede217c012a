// Reads the user's repository: which bytes it already stores, and which directories it ignores.

import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { never } from "../../base/abort.ts";
import { type GitPlace, runGit } from "../processes/git/git.ts";

/** Maximum bytes of name lists. */
const listLimit = 256 * 1024 * 1024;
const timeout = 20_000;

export class GitSource {
	readonly #workDir: string;
	readonly #place: GitPlace;

	constructor(workDir: string, place: GitPlace) {
		this.#workDir = workDir;
		this.#place = place;
	}

	/** Blob ids in the repository index; null without a repository or git. */
	async blobs(): Promise<ReadonlySet<string> | null> {
		const list = await this.#run(["ls-files", "-s", "-z"]);
		if (list === null) return null;
		const blobs = new Set<string>();
		for (let at = 0; at < list.length; ) {
			const end = list.indexOf(0, at);
			const mode = list.toString("latin1", at, at + 6);
			if (mode === "100644" || mode === "100755")
				blobs.add(list.toString("latin1", at + 7, list.indexOf(0x20, at + 7)));
			at = (end === -1 ? list.length : end) + 1;
		}
		return blobs;
	}

	/** Fully ignored directories, absolute. */
	async ignored(): Promise<ReadonlySet<string>> {
		const list = await this.#run(["ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z"]);
		const names = list?.toString("utf8").split("\0") ?? [];
		return new Set(
			names.filter((name) => name.endsWith("/")).map((name) => path.join(this.#workDir, name.slice(0, -1))),
		);
	}

	/** Blob contents, without those that the repository no longer has. */
	async contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
		const found = new Map<string, Buffer>();
		if (ids.length === 0) return found;
		const output = await this.#run(["cat-file", "--batch"], { input: `${ids.join("\n")}\n` });
		for (let at = 0; output !== null && at < output.length; ) {
			const end = output.indexOf(0x0a, at);
			if (end === -1) break;
			const [id = "", type, size] = output.toString("latin1", at, end).split(" ");
			at = end + 1;
			if (type !== "blob") continue;
			const length = Number(size);
			const bytes = output.subarray(at, at + length);
			if (bytes.length === length) found.set(id, bytes);
			at += length + 1;
		}
		return found;
	}

	/** Adds an empty worktree of the current commit at the directory. Returns why it failed, or null. */
	async addWorktree(directory: string): Promise<string | null> {
		const top = (await this.#run(["rev-parse", "--show-toplevel"]))?.toString("utf8").trimEnd();
		if (top !== (await realpath(this.#workDir))) {
			return top === undefined
				? `${this.#workDir} is not in a git repository.`
				: `the work directory is not the top of its repository ${top}.`;
		}
		if ((await this.#run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])) === null) {
			return "the repository has no commit yet.";
		}
		const added = await this.#run(["worktree", "add", "--detach", "--no-checkout", directory, "HEAD"]);
		if (added === null) return "`git worktree add` failed.";
		return (await this.#run(["read-tree", "HEAD"], { workDir: directory })) === null ? "`git read-tree` failed." : null;
	}

	async removeWorktree(directory: string): Promise<void> {
		await this.#run(["worktree", "remove", "--force", directory]);
	}

	/** Output of git as bytes; null on failure. */
	async #run(
		words: readonly string[],
		options: { readonly input?: string; readonly workDir?: string } = {},
	): Promise<Buffer | null> {
		const pieces: Buffer[] = [];
		const request = {
			words,
			workDir: this.#workDir,
			timeout,
			outputLimit: 0,
			separateStderr: true,
			...options,
			onOutput(source: "output" | "error", bytes: Buffer) {
				if (source === "output") pieces.push(bytes);
			},
		};
		const outcome = await runGit(request, this.#place, never);
		if (outcome?.ended.kind !== "exited" || outcome.ended.exitCode !== 0 || outcome.outputBytes > listLimit)
			return null;
		return Buffer.concat(pieces);
	}
}

/** Git's id for a file with these bytes; `length` is the id length of the repository. */
export function blobId(bytes: Uint8Array, length: number): string {
	const hash = createHash(length === 64 ? "sha256" : "sha1");
	return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
