// Puts a session fixture into a share directory of its own, placeholders replaced.
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const fixturesDirectory = path.join(import.meta.dirname, "../../fixtures/sessions");

/** The names of all fixtures. */
export async function listFixtures(): Promise<string[]> {
	return (await readdir(fixturesDirectory)).sort();
}

export interface PlacedSession {
	readonly shareDir: string;
	readonly workDir: string;
	readonly id: string;
	readonly directory: string;
	/** Removes the temporary folder. */
	remove(): Promise<void>;
}

async function replacePlaceholders(directory: string, home: string, workDir: string): Promise<void> {
	for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
		if (!entry.isFile()) continue;
		const file = path.join(entry.parentPath, entry.name);
		// Latin-1 keeps every byte as it is; the placeholders and paths are ASCII.
		const content = await readFile(file, "latin1");
		await writeFile(file, content.replaceAll("<WORK_DIR>", workDir).replaceAll("<HOME>", home), "latin1");
	}
}

/** Copies a fixture to a temporary home. The work dir exists and is empty. */
export async function placeFixture(name: string): Promise<PlacedSession> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-fixture-"));
	const home = path.join(root, "home");
	const workDir = path.join(root, "work");
	const shareDir = path.join(home, ".kimi");
	const index: { work_dirs: { last_session_id: string }[] } = JSON.parse(
		await readFile(path.join(fixturesDirectory, name, "kimi.json"), "utf8"),
	);
	const id = index.work_dirs[0]?.last_session_id;
	if (id === undefined) throw new Error(`The fixture ${name} names no session.`);
	const directory = path.join(shareDir, "sessions", createHash("md5").update(workDir).digest("hex"), id);
	await mkdir(workDir, { recursive: true });
	await cp(path.join(fixturesDirectory, name), directory, { recursive: true });
	await replacePlaceholders(directory, home, workDir);
	await cp(path.join(directory, "kimi.json"), path.join(shareDir, "kimi.json"));
	await rm(path.join(directory, "kimi.json"));
	return { shareDir, workDir, id, directory, remove: () => rm(root, { recursive: true, force: true }) };
}
