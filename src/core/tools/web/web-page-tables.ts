import type { PageElement } from "./web-page-dom.ts";

/** Maximum table columns, and cell span. */
const maximumColumns = 100;

/** The Markdown of cells, which is written before their table's. */
export type CellTexts = WeakMap<PageElement, string>;

/** The Markdown of a table; all its cells must be stored. */
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
	const columns = grid.reduce((most, row) => Math.max(most, row.length), 0);
	const hasHead = rows[0]?.isHead === true;
	const [head, body] = hasHead ? [grid[0] ?? [], grid.slice(1)] : [[], grid];
	const fullHead = [...head, ...Array<string>(columns - head.length).fill("")];
	return [fullHead, fullHead.map(() => "---"), ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** The texts by row and column; the extra positions of a spanning cell are empty. */
function spread(rows: readonly Row[], cells: CellTexts): string[][] {
	/** For each column, the number of rows still covered by a cell above. */
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

/** One line: line breaks become HTML, and code fences are dropped. */
function toCell(text: string): string {
	return text
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "" && !/^`{3,}\S*$/.test(line))
		.join("<br>")
		.replaceAll("|", "\\|");
}
