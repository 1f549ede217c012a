// Markdown as nodes: headings, lists, quotes, tables, rules, code, emphasis, links. It never makes HTML text, so that whatever a model
// says is shown and nothing of it is run. Images are links: showing one would send a request.
import { Component, type ComponentChildren, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const inlinePattern =
	/(`+)([\s\S]*?[^`])\1(?!`)|\*\*([^*]+)\*\*|__([^_]+)__|\*([^*\s][^*]*)\*|\b_([^_]+)_\b|~~([^~]+)~~|!?\[([^\]]*)\]\(([^)\s]+)(?:\s+"[^"]*")?\)|(https?:\/\/[^\s<>"'`*\]]+)/g;

export function inline(text: string, depth = 0): ComponentChildren {
	const nodes: ComponentChildren[] = [];
	let end = 0;
	for (const match of text.matchAll(inlinePattern)) {
		nodes.push(text.slice(end, match.index));
		end = match.index + match[0].length;
		const [whole, , code, strong, strongToo, em, emToo, struck, label, target, bare] = match;
		const deeper = (inner: string) => (depth > 4 ? inner : inline(inner, depth + 1));
		if (code !== undefined) nodes.push(<code>{code}</code>);
		else if (strong !== undefined || strongToo !== undefined)
			nodes.push(<strong>{deeper(strong ?? strongToo ?? "")}</strong>);
		else if (em !== undefined || emToo !== undefined) nodes.push(<em>{deeper(em ?? emToo ?? "")}</em>);
		else if (struck !== undefined) nodes.push(<s>{deeper(struck)}</s>);
		else if (target !== undefined) nodes.push(<Link address={target}>{label === "" ? target : label}</Link>);
		else if (bare !== undefined) {
			const address = withoutSentence(bare);
			nodes.push(<Link address={address}>{address}</Link>, bare.slice(address.length));
		} else nodes.push(whole);
	}
	nodes.push(text.slice(end));
	return nodes;
}

/** A bare address without the punctuation of the sentence around it; brackets that it opens itself are its own. */
function withoutSentence(address: string): string {
	const count = (mark: string) => address.split(mark).length - 1;
	const isOpened = count("(") >= count(")");
	const shorter = address.replace(isOpened ? /[.,;:!?]+$/ : /[.,;:!?)]$/, "");
	return shorter === address ? address : withoutSentence(shorter);
}

function Link({ address, children }: { address: string; children: ComponentChildren }): JSX.Element {
	// Anything but the web, such as a script, stays text.
	if (!/^https?:\/\//i.test(address)) return <span>{children}</span>;
	return (
		<a href={address} target="_blank" rel="noopener noreferrer">
			{children}
		</a>
	);
}

const listItem = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

/** The page is drawn again with each piece of text: what did not change is not parsed again. */
export class Markdown extends Component<{ text: string }> {
	override shouldComponentUpdate(next: { text: string }): boolean {
		return next.text !== this.props.text;
	}
	override render(): JSX.Element {
		return <div class="markdown">{blocks(this.props.text.split("\n"), 0)}</div>;
	}
}

function blocks(lines: readonly string[], depth: number): ComponentChildren[] {
	const nodes: ComponentChildren[] = [];
	let at = 0;
	const takeWhile = (fits: (line: string) => boolean): string[] => {
		const from = at;
		while (at < lines.length && fits(lines[at] ?? "")) at += 1;
		return lines.slice(from, at);
	};
	while (at < lines.length) {
		const line = lines[at] ?? "";
		const [, fence, language] = /^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line) ?? [];
		const [, hashes, title] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [];
		if (fence !== undefined) {
			at += 1;
			const code = takeWhile((each) => !each.trim().startsWith(fence));
			at += 1;
			nodes.push(<Code language={language ?? ""} text={code.join("\n")} />);
		} else if (line.trim() === "") at += 1;
		else if (hashes !== undefined) {
			const Tag = hashes.length <= 2 ? "h3" : "h4";
			nodes.push(<Tag dir="auto">{inline(title ?? "")}</Tag>);
			at += 1;
		} else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
			nodes.push(<hr />);
			at += 1;
		} else if (/^\s{0,3}>/.test(line) && depth < 8) {
			const inner = takeWhile((each) => /^\s{0,3}>/.test(each)).map((each) => each.replace(/^\s{0,3}> ?/, ""));
			nodes.push(<blockquote dir="auto">{blocks(inner, depth + 1)}</blockquote>);
		} else if (listItem.test(line) && depth < 8) nodes.push(list());
		else if (line.includes("|") && /^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$/.test(lines[at + 1] ?? "")) nodes.push(table());
		else {
			const first = at;
			const words = takeWhile(
				(each) =>
					at === first || (each.trim() !== "" && !/^(#{1,6}\s|\s{0,3}(```|~~~|>))/.test(each) && !listItem.test(each)),
			);
			nodes.push(<p dir="auto">{inline(words.join("\n"))}</p>);
		}
	}
	return nodes;

	function list(): JSX.Element {
		const [, indent = "", mark = "-"] = listItem.exec(lines[at] ?? "") ?? [];
		const items: ComponentChildren[] = [];
		while (at < lines.length) {
			const [, own, , first] = listItem.exec(lines[at] ?? "") ?? [];
			if (own === undefined || own.length > indent.length + 1) break;
			if (own.length < indent.length) break;
			at += 1;
			const inner = takeWhile((each) => /^\s{2,}\S/.test(each) && each.search(/\S/) > indent.length);
			const [, box, rest] = /^\[([ xX])\]\s+(.*)$/.exec(first ?? "") ?? [];
			const cut = Math.min(...inner.map((each) => each.search(/\S/)));
			items.push(
				<li dir="auto" class={box === undefined ? undefined : "task"}>
					{box === undefined ? null : <span aria-hidden="true">{box === " " ? "☐ " : "☑ "}</span>}
					{inline(rest ?? first ?? "")}
					{inner.length === 0
						? null
						: blocks(
								inner.map((each) => each.slice(cut)),
								depth + 1,
							)}
				</li>,
			);
		}
		return /\d/.test(mark) ? <ol start={Number.parseInt(mark, 10)}>{items}</ol> : <ul>{items}</ul>;
	}

	function table(): JSX.Element {
		const cells = (each: string) =>
			each
				.trim()
				.replace(/^\||\|$/g, "")
				.split(/(?<!\\)\|/)
				.map((cell) => cell.trim().replaceAll("\\|", "|"));
		const head = cells(lines[at] ?? "");
		const aligns = cells(lines[at + 1] ?? "").map((rule) =>
			/^:-*:$/.test(rule) ? "center" : rule.endsWith(":") ? "end" : "start",
		);
		const style = (column: number) => ({ textAlign: aligns[column] ?? "start" });
		at += 2;
		const rows = takeWhile((each) => each.includes("|")).map(cells);
		return (
			<div class="table" tabIndex={0} role="region" aria-label="Table">
				<table>
					<thead>
						<tr>
							{head.map((cell, column) => (
								<th dir="auto" style={style(column)}>
									{inline(cell)}
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						{rows.map((row) => (
							<tr>
								{row.map((cell, column) => (
									<td dir="auto" style={style(column)}>
										{inline(cell)}
									</td>
								))}
							</tr>
						))}
					</tbody>
				</table>
			</div>
		);
	}
}

export function Code({ language, text }: { language: string; text: string }): JSX.Element {
	const [wraps, setWraps] = useState(false);
	const [isCopied, setCopied] = useState(false);
	const [shown, setShown] = useState<ComponentChildren>(null);
	useEffect(() => {
		let isCurrent = true;
		setShown(null);
		if (language !== "" && text.length < 50_000) {
			void import("./highlighting.tsx").then(({ highlight }) => {
				if (isCurrent) setShown(highlight(text, language));
			});
		}
		return () => {
			isCurrent = false;
		};
	}, [language, text]);
	const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
	return (
		<div class="code">
			<div class="code-bar">
				<span>{language === "" ? "text" : language}</span>
				<button type="button" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
					Wrap
				</button>
				{/* Pages without HTTPS that come from another machine have no clipboard. */}
				{isSecureContext && (
					<button type="button" onClick={copy}>
						{isCopied ? "Copied" : "Copy"}
					</button>
				)}
			</div>
			<pre class={wraps ? "wraps" : ""} tabIndex={0}>
				<code>{shown ?? text}</code>
			</pre>
		</div>
	);
}
