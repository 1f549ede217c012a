// Random sequences of edits, commands, changes by the user and background writers: going back gives every byte as it was
// before the turn, or names the path.
import {
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { createProcesses } from "../processes/children.ts";
import { FileHistory } from "./file-history.ts";

const names = ["a", "b", "d/c", "d/e", "d/f/g", "h"];

type Change =
	| { readonly kind: "write"; readonly name: string; readonly text: string }
	| { readonly kind: "remove"; readonly name: string }
	| { readonly kind: "link"; readonly name: string; readonly to: string };

type Step =
	| { readonly by: "edit"; readonly name: string; readonly text: string }
	| { readonly by: "command" | "user" | "background"; readonly changes: readonly Change[] }
	| { readonly by: "turn" };

const name = fc.constantFrom(...names);
const text = fc.constantFrom("", "x", "y\n", "z\r\n");
const change: fc.Arbitrary<Change> = fc.oneof(
	fc.record({ kind: fc.constant("write" as const), name, text }),
	fc.record({ kind: fc.constant("remove" as const), name }),
	fc.record({ kind: fc.constant("link" as const), name, to: fc.constantFrom("a", "/etc/hostname") }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
	fc.record({ by: fc.constant("edit" as const), name, text }),
	fc.record({
		by: fc.constantFrom("command" as const, "user" as const, "background" as const),
		changes: fc.array(change, { minLength: 1, maxLength: 4 }),
	}),
	fc.constant({ by: "turn" as const }),
);

function apply(work: string, { kind, name: file, ...rest }: Change): void {
	const target = path.join(work, file);
	mkdirSync(path.dirname(target), { recursive: true });
	rmSync(target, { recursive: true, force: true });
	if (kind === "write" && "text" in rest) writeFileSync(target, rest.text);
	if (kind === "link" && "to" in rest) symlinkSync(rest.to, target);
}

/** The path and the directories that lead to it. */
function around(target: string, root: string): readonly string[] {
	return target === root ? [] : [target, ...around(path.dirname(target), root)];
}

/** What each path is: a mode and bytes, or the target of a link. */
function picture(root: string): Map<string, string> {
	const found = new Map<string, string>();
	const visit = (directory: string): void => {
		for (const each of readdirSync(directory)) {
			const target = path.join(directory, each);
			const stats = lstatSync(target);
			if (stats.isSymbolicLink()) found.set(target, `link ${readlinkSync(target)}`);
			else if (stats.isFile()) found.set(target, `${stats.mode} ${readFileSync(target, "latin1")}`);
			else {
				found.set(target, `directory ${stats.mode}`);
				visit(target);
			}
		}
	};
	visit(root);
	return found;
}

describe("random sequences", () => {
	it.each(["take", "skip"])("are restored, or named, with conflicts to %s", { timeout: 120_000 }, async (conflicts) => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), async (steps, chosen) => {
				const base = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-random-")));
				const work = path.join(base, "work");
				mkdirSync(work);
				let runsInBackground = false;
				const history = new FileHistory({
					space: { note: async () => {} },
					directory: path.join(base, "history"),
					workDir: work,
					roots: () => [work],
					home: path.join(base, "home"),
					excluded: [],
					limits: { files: 1000, fileBytes: 1e6, storeBytes: 1e9, patience: 60_000, turns: 100 },
					git: { environment: {}, processes: createProcesses() },
					hasBackgroundWork: async () => runsInBackground,
					clock: systemClock,
					log: silentLog,
				});
				try {
					for (const file of ["a", "d/c"]) apply(work, { kind: "write", name: file, text: "old" });
					/** The turns, each as it was before its first call. */
					const before: Map<string, string>[] = [];
					let turns = 0;
					const touched = new Map<string, Set<string | undefined>>();
					const begin = () => {
						before[turns] ??= picture(work);
					};
					for (const each of steps) {
						const turn = `t${turns}`;
						if (each.by !== "user" && each.by !== "turn") begin();
						if (each.by === "turn") turns += 1;
						else if (each.by === "edit") {
							const target = path.join(work, each.name);
							if (lstatSync(target, { throwIfNoEntry: false })?.isFile() === false) continue;
							if (!existsSync(path.dirname(target)) || !lstatSync(path.dirname(target)).isDirectory()) continue;

							await history.around(turn, { kind: "files", paths: [target] }, async () =>
								writeFileSync(target, each.text),
							);
						} else if (each.by === "command") {
							await history.around(turn, { kind: "anything" }, async () => {
								for (const one of each.changes) apply(work, one);
							});
						} else {
							if (each.by === "background") {
								runsInBackground = true;
								await history.around(turn, { kind: "anything" }, async () => {});
							}
							for (const one of each.changes) {
								apply(work, one);
							}
							if (each.by === "user") {
								const left = picture(work);
								const targets = each.changes.flatMap((one) => around(path.join(work, one.name), work));
								for (const target of targets)
									touched.set(target, (touched.get(target) ?? new Set()).add(left.get(target)));
							}
							runsInBackground = false;
						}
					}
					const ids = (await history.records()).map((record) => record.id);
					const id = ids[chosen % Math.max(1, ids.length)];
					if (id === undefined) return;
					const point = { id, at: 0 };
					const plan = await history.plan(point);
					const leave = async ({ isConflict }: { readonly isConflict: boolean }) =>
						isConflict && conflicts === "skip" ? "conflict" : null;
					const { left } = await history.restore("r", point, leave);
					const named = new Set([
						...plan.outside,
						...[...plan.uncovered, ...left, ...plan.paths.filter(({ isConflict }) => isConflict)].map(
							(one) => one.path,
						),
					]);
					const [wanted, now] = [before[Number(id.slice(1))] ?? new Map<string, string>(), picture(work)];
					const wrong: string[] = [];
					for (const target of new Set([...wanted.keys(), ...now.keys()])) {
						if (wanted.get(target) === now.get(target)) continue;
						// As the user left it, whose changes stay.
						if (touched.get(target)?.has(now.get(target)) === true) continue;
						// What is in a directory that is named is named with it.
						const isNamed = [...named].some(
							(one) => one === target || target.startsWith(one + path.sep) || one.startsWith(target + path.sep),
						);
						if (!isNamed) wrong.push(`${target} was ${wanted.get(target)}, is ${now.get(target)}`);
					}
					expect(wrong).toEqual([]);
				} finally {
					await rm(base, { recursive: true, force: true });
				}
			}),
			{ numRuns: 100, seed: 6 },
		);
	});
});
