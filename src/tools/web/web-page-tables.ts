// Tables of a web page as GFM tables. Tables that only lay out a page become their content.
import type { PageElement } from "./web-page-dom.ts";

/** Columns of a table at most; also what a cell may span. */
const maximumColumns = 100;

/** Remembers the Markdown of the cells, which is made before that of the table around them. */
export type CellTexts = WeakMap<PageElement, string>;

/** The Markdown of a table whose cells were all remembered. */
export function toTable(table: PageElement, cells: CellTexts): string {
	const rows = rowsOf(table);
	const caption = table.querySelectorAll("caption")[0]?.textContent.trim() ?? "";
	const isLayout = table.querySelectorAll("table").length > 0 || rows.every((row) => row.cells.length <= 1);
	const body = isLayout ? toBlocks(rows, cells) : toGrid(rows, cells);
	return [caption, body].filter((part) => part !== "").join("\n\n");
}

interface Row {
	readonly cells: readonly PageElement[];
	readonly isHead: boolean;
}

/** The rows of the table itself, not those of tables in it. */
function rowsOf(table: PageElement): Row[] {
	const byParent = new Map<PageElement, PageElement[]>();
	for (const cell of table.querySelectorAll("td,th")) {
		if (tableOf(cell) !== table || cell.parentNode === null) continue;
		const cells = byParent.get(cell.parentNode);
		if (cells === undefined) byParent.set(cell.parentNode, [cell]);
		else cells.push(cell);
	}
	return [...byParent].map(([parent, cells]) => ({
		cells,
		isHead: parent.parentNode?.nodeName === "THEAD" || cells.every(({ nodeName }) => nodeName === "TH"),
	}));
}

function tableOf(cell: PageElement): PageElement | null {
	let outer = cell.parentNode;
	while (outer !== null && outer.nodeName !== "TABLE") outer = outer.parentNode;
	return outer;
}

function toBlocks(rows: readonly Row[], cells: CellTexts): string {
	return rows
		.flatMap((row) => row.cells.map((cell) => (cells.get(cell) ?? "").trim()))
		.filter((text) => text !== "")
		.join("\n\n");
}

function toGrid(rows: readonly Row[], cells: CellTexts): string {
	const grid = spread(rows, cells);
	const columns = Math.max(...grid.map((row) => row.length));
	const hasHead = rows[0]?.isHead === true;
	const [head, body] = hasHead ? [grid[0] ?? [], grid.slice(1)] : [[], grid];
	const fullHead = [...head, ...Array<string>(columns - head.length).fill("")];
	return [fullHead, fullHead.map(() => "---"), ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** The texts by row and column; what a cell spans beyond its own place is empty. */
function spread(rows: readonly Row[], cells: CellTexts): string[][] {
	/** For each column, how many rows a cell from above still covers. */
	const covered: number[] = [];
	return rows.map((row) => {
		const texts: string[] = [];
		const skipCovered = () => {
			while ((covered[texts.length] ?? 0) > 0) {
				covered[texts.length] = (covered[texts.length] ?? 0) - 1;
				texts.push("");
			}
		};
		for (const cell of row.cells) {
			skipCovered();
			const width = spanOf(cell, "colspan");
			const height = spanOf(cell, "rowspan");
			for (let index = 0; index < width && texts.length < maximumColumns; index += 1) {
				covered[texts.length] = height - 1;
				texts.push(index === 0 ? toCell(cells.get(cell) ?? "") : "");
			}
		}
		skipCovered();
		return texts;
	});
}

function spanOf(cell: PageElement, name: string): number {
	const span = Number(cell.getAttribute(name) ?? 1);
	return Number.isInteger(span) && span >= 1 ? Math.min(span, name === "colspan" ? maximumColumns : 10_000) : 1;
}

/** One line: what has several is broken as HTML does it, and fences around code are left out. */
function toCell(text: string): string {
	return text
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "" && !/^`{3,}\S*$/.test(line))
		.join("<br>")
		.replaceAll("|", "\\|");
}
