import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@mariozechner/pi-tui";

type Style = (text: string) => string;

export interface Theme {
	readonly hasColor: boolean;
	readonly accent: Style;
	readonly dim: Style;
	readonly good: Style;
	readonly bad: Style;
	readonly warn: Style;
	readonly bold: Style;
	readonly person: Style;
	readonly scopes: Readonly<Record<string, Style>>;
	readonly markdown: MarkdownTheme;
	readonly editor: EditorTheme;
	readonly list: SelectListTheme;
}

export function createTheme(hasColor: boolean): Theme {
	const style =
		(open: string, close: string): Style =>
		(text) =>
			hasColor ? `\x1b[${open}m${text}\x1b[${close}m` : text;
	const color = (code: number) => style(String(code), "39");
	const [accent, dim, bold] = [color(36), style("2", "22"), style("1", "22")];
	const italic = style("3", "23");
	const list: SelectListTheme = {
		selectedPrefix: accent,
		selectedText: (text) => bold(accent(text)),
		description: dim,
		scrollInfo: dim,
		noMatch: dim,
	};
	const [keyword, value, name] = [color(35), color(33), color(34)];
	return {
		hasColor,
		accent,
		dim,
		bold,
		good: color(32),
		bad: color(31),
		warn: color(33),
		person: (text) => bold(text),
		scopes: {
			keyword,
			"selector-tag": keyword,
			tag: keyword,
			literal: value,
			number: value,
			string: value,
			regexp: value,
			subst: (text) => text,
			comment: dim,
			title: name,
			name,
			attr: name,
			attribute: name,
			section: name,
			type: accent,
			built_in: accent,
			meta: accent,
		},
		list,
		editor: { borderColor: dim, selectList: list },
		markdown: {
			heading: (text) => bold(accent(text)),
			link: accent,
			linkUrl: dim,
			code: color(33),
			codeBlock: (text) => text,
			codeBlockBorder: dim,
			quote: italic,
			quoteBorder: dim,
			hr: dim,
			listBullet: accent,
			bold,
			italic,
			strikethrough: style("9", "29"),
			underline: style("4", "24"),
		},
	};
}
