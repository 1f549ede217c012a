// .gitignore syntax: a name matches at any depth, a path is anchored, a directory covers everything below.
import path from "node:path";
import { foldName } from "../../../ports/files/folded-name.ts";
import { type PatternStep, parseGlobPattern } from "../../patterns/glob-pattern.ts";

export interface PathPattern {
	/** `roots`: relative to each workspace root. */
	readonly anchor: "absolute" | "roots";
	readonly steps: readonly PatternStep[];
	/** `steps` for comparison with a path folded by foldName. */
	readonly foldedSteps: readonly PatternStep[];
}

export type PathPatternResult =
	| { readonly ok: true; readonly pattern: PathPattern }
	| { readonly ok: false; readonly reason: string };

/** `/…` is absolute, `~/…` below the home directory, others relative to the workspace. */
export function parsePathPattern(text: string, home: string): PathPatternResult {
	if (text.startsWith("!")) return { ok: false, reason: "a pattern cannot be negated with `!`; write a second rule" };
	const written = text === "~" || text.startsWith("~/") ? `${home}${text.slice(1)}` : text;
	const isAbsolute = written.startsWith("/");
	const inner = written === "." ? "" : written.replace(/^\.?\/+/, "").replace(/\/+$/, "");
	const anchor = isAbsolute ? "absolute" : "roots";
	if (inner === "") return { ok: true, pattern: { anchor, steps: [], foldedSteps: [] } };
	const parsed = parseGlobPattern(inner);
	if (!parsed.ok) return { ok: false, reason: asClause(parsed.reason) };
	const parsedFolded = parseGlobPattern(foldName(inner));
	if (!parsedFolded.ok) return { ok: false, reason: asClause(parsedFolded.reason) };
	const isAnchored = isAbsolute || text.startsWith("./") || inner.includes("/");
	const toSteps = (steps: readonly PatternStep[]) =>
		withoutTail(isAnchored ? steps : [{ kind: "any-depth" }, ...steps]);
	return {
		ok: true,
		pattern: { anchor, steps: toSteps(parsed.steps), foldedSteps: toSteps(parsedFolded.steps) },
	};
}

function asClause(sentence: string): string {
	return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}

function withoutTail(steps: readonly PatternStep[]): readonly PatternStep[] {
	if (steps.at(-1)?.kind !== "any-depth") return steps;
	return [...steps.slice(0, -1), { kind: "match", matches: () => true }];
}

/** Whether a normalized absolute path, or a directory above it, matches. `roots` are absolute. */
export function matchesPath({ anchor, steps }: PathPattern, absolute: string, roots: readonly string[]): boolean {
	return matchesBelow(anchor, steps, absolute, roots);
}

/** Like matchesPath, for every spelling that a file system may treat as the same name. */
export function matchesAnySpelling(
	{ anchor, foldedSteps }: PathPattern,
	absolute: string,
	roots: readonly string[],
): boolean {
	return matchesBelow(anchor, foldedSteps, foldName(absolute), roots.map(foldName));
}

/** Whether the pattern contains this folded name literally. */
export function namesStep(pattern: PathPattern | null, name: string): boolean {
	return pattern?.foldedSteps.some((step) => step.kind === "name" && step.name === name) === true;
}

function matchesBelow(
	anchor: PathPattern["anchor"],
	steps: readonly PatternStep[],
	absolute: string,
	roots: readonly string[],
): boolean {
	if (anchor === "absolute") return matchesSteps(steps, segmentsOf(absolute));
	return roots.some((root) => {
		const relative = path.relative(root, absolute);
		if (relative === ".." || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)) return false;
		return matchesSteps(steps, segmentsOf(relative));
	});
}

function segmentsOf(text: string): readonly string[] {
	return text.split(path.sep).filter((segment) => segment !== "");
}

/** Advances all possible matches together, so the time is at most the product of both lengths. */
function matchesSteps(steps: readonly PatternStep[], segments: readonly string[]): boolean {
	let states = withSkips(steps, new Set([0]));
	if (states.has(steps.length)) return true;
	for (const segment of segments) {
		const next = new Set<number>();
		for (const state of states) {
			const step = steps[state];
			if (step?.kind === "any-depth") next.add(state);
			else if (step !== undefined && fits(step, segment)) next.add(state + 1);
		}
		states = withSkips(steps, next);
		if (states.has(steps.length)) return true;
	}
	return false;
}

function withSkips(steps: readonly PatternStep[], states: Set<number>): Set<number> {
	for (const state of states) if (steps[state]?.kind === "any-depth") states.add(state + 1);
	return states;
}

function fits(step: Exclude<PatternStep, { kind: "any-depth" }>, segment: string): boolean {
	return step.kind === "name" ? step.name === segment : step.matches(segment);
}

export function literalPath(absolute: string): string {
	return absolute.replace(/[*?[]/g, "[$&]");
}
