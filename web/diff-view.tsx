// Changes of files: unified or side by side, the words that changed marked, large ones folded.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { DisplayBlock } from "../src/api/values/content.ts";
import {
	changedPart,
	countLines,
	type DiffLine,
	diffLines,
	hunks,
	type LinePair,
	pairs,
} from "../src/base/text/line-diff.ts";
import { hidesContent, hidesText } from "../src/base/text/visible-text.ts";
import type { Token } from "./highlighting.tsx";
import { workDir } from "./store.ts";
import { withinProject } from "./tool-words.ts";
import { HiddenWarning, Visible } from "./visible.tsx";

const storageKey = "agentwire.diff";
const wide = matchMedia("(min-width: 1100px)");
const isWide = signal(wide.matches);
wide.addEventListener("change", () => {
	isWide.value = wide.matches;
});
/** What was chosen; null for what fits the width. */
const choice = signal<string | null>(localStorage.getItem(storageKey));

const isSplit = () => (choice.value === null ? isWide.value : choice.value === "split");

/** Shows all changes the other way, in this browser from now on. */
export function switchDiffs(): void {
	choice.value = isSplit() ? "unified" : "split";
	localStorage.setItem(storageKey, choice.value);
}

const signs = { same: " ", added: "+", removed: "−" } as const;

interface DiffProps {
	readonly block: DisplayBlock;
	/** What the call does and how it went, where the change is all that a card shows. */
	readonly verb?: JSX.Element;
	readonly state?: JSX.Element;
}

export function Diff({ block, verb, state }: DiffProps): JSX.Element | null {
	const [opened, setOpened] = useState(false);
	// The page is drawn again with each piece of text, and a block does not change.
	const lines = useMemo(
		() =>
			block.type === "diff" && "old_text" in block
				? diffLines(block.old_text, block.new_text, block.old_start, block.new_start)
				: [],
		[block],
	);
	const parts = useMemo(() => hunks(lines), [lines]);
	const hides = useMemo(
		() =>
			block.type === "diff" &&
			"old_text" in block &&
			(hidesText(block.path) || [block.old_text, block.new_text].some(hidesContent)),
		[block],
	);
	const colors = useColors(block, hides);
	if (block.type !== "diff" || !("old_text" in block)) return null;
	const { added, removed } = countLines(lines);
	const isLarge = parts.reduce((sum, part) => sum + part.length, 0) > 80;
	// With one side alone the other would be empty.
	const split = isSplit() && added > 0 && removed > 0;
	const Top = verb === undefined ? "div" : "header";
	return (
		<div class={`diff ${split ? "split" : ""}`}>
			<Top class="path">
				<span>
					{verb === undefined ? null : <>{verb} </>}
					<span class="mono" title={block.path}>
						<Visible text={withinProject(block.path, workDir.value)} />
					</span>{" "}
					<span class="plus">+{added}</span> <span class="minus">−{removed}</span>
				</span>
				{added > 0 && removed > 0 ? (
					<button type="button" class="plain" onClick={switchDiffs}>
						{split ? "Unified" : "Side by side"}
					</button>
				) : null}
				{state}
			</Top>
			{hides ? <HiddenWarning /> : null}
			{(isLarge && !opened ? parts.slice(0, 1) : parts).map((part, index) => (
				<div key={index} class="hunk" tabIndex={0} role="region" aria-label={`Change of ${block.path}`}>
					<table>
						<tbody>
							{rowsOf(pairs(part).slice(0, isLarge && !opened ? foldedPairs : Number.POSITIVE_INFINITY), split, colors)}
						</tbody>
					</table>
				</div>
			))}
			{isLarge ? (
				<button type="button" class="more" aria-expanded={opened} onClick={() => setOpened(!opened)}>
					{opened ? "Fold" : `Show the whole change (${parts.length} ${parts.length === 1 ? "part" : "parts"})`}
				</button>
			) : null}
		</div>
	);
}

/** Of a large change, what is shown before it is opened: both sides of so many lines. */
const foldedPairs = 20;

const rowsOf = (lines: readonly LinePair[], split: boolean, colors: Colors) =>
	split ? lines.map((pair) => <Pair pair={pair} colors={colors} />) : unified(lines, colors);

/** The tokens of a line; null where none are known. */
type Colors = (line: DiffLine) => readonly Token[] | null;

const colorless: Colors = () => null;
/** Characters of a side up to which it is colored. */
const coloredLimit = 100_000;

/** The colors of both sides, once what finds them is loaded. */
function useColors(block: DisplayBlock, hides: boolean): Colors {
	const [colors, setColors] = useState<Colors>(() => colorless);
	useEffect(() => {
		setColors(() => colorless);
		if (block.type !== "diff" || !("old_text" in block) || hides) return;
		const { path, old_text, new_text, old_start = 1, new_start = 1 } = block;
		if (old_text.length + new_text.length > coloredLimit) return;
		let isCurrent = true;
		const language = path.split(".").at(-1) ?? "";
		void import("./highlighting.tsx").then(({ tokensByLine }) => {
			const [before, after] = [tokensByLine(old_text, language), tokensByLine(new_text, language)];
			if (!isCurrent || before === null || after === null) return;
			setColors(
				() => (line: DiffLine) =>
					(line.fresh === null ? before[(line.old ?? 0) - old_start] : after[line.fresh - new_start]) ?? null,
			);
		});
		return () => {
			isCurrent = false;
		};
	}, [block, hides]);
	return colors;
}

/** The removed lines before the added ones, each with what of it is different from the other side. */
function unified(lines: readonly LinePair[], colors: Colors): JSX.Element[] {
	const rows: JSX.Element[] = [];
	const row = (line: DiffLine, other: DiffLine | null) => (
		<tr class={line.kind}>
			<td class="number">{line.old ?? ""}</td>
			<td class="number">{line.fresh ?? ""}</td>
			<td class="sign">{signs[line.kind]}</td>
			<td class="text">{marked(line, other, colors)}</td>
		</tr>
	);
	let waiting: LinePair[] = [];
	const flush = () => {
		for (const { left, right } of waiting) if (left !== null) rows.push(row(left, right));
		for (const { left, right } of waiting) if (right !== null) rows.push(row(right, left));
		waiting = [];
	};
	for (const pair of lines) {
		if (pair.left?.kind !== "same") {
			waiting.push(pair);
			continue;
		}
		flush();
		rows.push(row(pair.left, null));
	}
	flush();
	return rows;
}

function Pair({ pair, colors }: { pair: LinePair; colors: Colors }): JSX.Element {
	const { left, right } = pair;
	return (
		<tr>
			<td class={`number ${left?.kind ?? "none"}`}>{left?.old ?? ""}</td>
			<td class={`text ${left?.kind ?? "none"}`}>{left === null ? "" : marked(left, right, colors)}</td>
			<td class={`number ${right?.kind ?? "none"}`}>{right?.fresh ?? ""}</td>
			<td class={`text ${right?.kind ?? "none"}`}>{right === null ? "" : marked(right, left, colors)}</td>
		</tr>
	);
}

function marked(line: DiffLine, other: DiffLine | null, colors: Colors): ComponentChildren {
	const part = line.kind === "same" || other === null ? null : changedPart(line.text, other.text);
	const known = colors(line);
	const tokens = known === null || textOf(known) !== line.text ? [{ text: line.text, scope: "" }] : known;
	if (part === null) return colored(tokens, 0, line.text.length);
	return [
		colored(tokens, 0, part.start),
		<mark>{colored(tokens, part.start, part.end)}</mark>,
		colored(tokens, part.end, line.text.length),
	];
}

const textOf = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join("");

/** The part of a line between two places, in its colors. */
function colored(tokens: readonly Token[], start: number, end: number): ComponentChildren {
	let at = 0;
	return tokens.map(({ text, scope }) => {
		const shown = text.slice(Math.max(0, start - at), Math.max(0, end - at));
		at += text.length;
		if (shown === "") return null;
		const visible = <Visible text={shown} isLine />;
		return scope === "" ? visible : <span class={`hl-${scope}`}>{visible}</span>;
	});
}
