import { toJsonLine } from "../../base/json.ts";
import { onOneLine, withoutControls } from "../printable-text.ts";

export interface SessionRow {
	readonly id: string;
	/** The owning program: agentwire (shared with kimi-cli), or kimi-code. */
	readonly store: "agentwire" | "kimi-code";
	/** Empty if unknown. */
	readonly workDir: string;
	readonly title: string;
	readonly updatedAt: number;
	readonly isArchived: boolean;
}

export interface ReadMessage {
	readonly role: "user" | "assistant";
	readonly text: string;
	readonly tools: readonly string[];
}

const titleWidth = 50;

export function toRowJson({ id, store, workDir, title, updatedAt, isArchived }: SessionRow) {
	return { id, store, work_dir: workDir, title, updated_at: toTime(updatedAt), archived: isArchived };
}

const toTime = (milliseconds: number): string | null =>
	Number.isNaN(new Date(milliseconds).getTime()) ? null : new Date(milliseconds).toISOString();

export const rowsJson = (rows: readonly SessionRow[]): string => `${toJsonLine({ sessions: rows.map(toRowJson) })}\n`;

export function rowsText(rows: readonly SessionRow[]): string {
	if (rows.length === 0) return "There are no sessions.\n";
	const cells = rows.map((row) => [
		toTime(row.updatedAt)?.slice(0, 16).replace("T", " ") ?? "",
		onOneLine(row.id, 60),
		`${onOneLine(row.title, titleWidth)}${row.isArchived ? " (archived)" : ""}`,
		onOneLine(row.store === "kimi-code" ? `${row.workDir} (kimi-code)` : row.workDir, 200),
	]);
	const table = [["USED (UTC)", "ID", "TITLE", "DIRECTORY"], ...cells];
	const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
	return table.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`).join("");
}

export const sessionJson = (row: SessionRow, messages: readonly ReadMessage[]): string =>
	`${toJsonLine({ ...toRowJson(row), messages })}\n`;

export function sessionText(row: SessionRow, messages: readonly ReadMessage[]): string {
	const about = [
		`${onOneLine(row.title, 200)}`,
		`  id         ${row.id}`,
		`  directory  ${onOneLine(row.workDir, 300)}`,
		`  last used  ${toTime(row.updatedAt) ?? ""}`,
		...(row.store === "kimi-code" ? ["  store      kimi-code (read-only)"] : []),
	];
	const said = messages.map(({ role, text, tools }) => {
		const calls = tools.length === 0 ? [] : [`[calls ${tools.map((name) => onOneLine(name, 60)).join(", ")}]`];
		return [`--- ${role}`, ...(text === "" ? [] : [withoutControls(text).trimEnd()]), ...calls].join("\n");
	});
	return `${[about.join("\n"), ...said].join("\n\n")}\n`;
}
