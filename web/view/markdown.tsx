// Markdown as elements of the page; never as HTML text.
import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { type Inline, type MarkdownBlock, parseMarkdown } from "../text/markdown.ts";

export function Markdown({ text }: { readonly text: string }) {
	return <div class="markdown">{parseMarkdown(text).map(toElement)}</div>;
}

function toElement(block: MarkdownBlock, index: number): ComponentChildren {
	switch (block.kind) {
		case "heading":
			return (
				<p key={index} class={`heading level-${block.level}`} role="heading" aria-level={Math.min(6, block.level + 2)}>
					{block.content.map(toInline)}
				</p>
			);
		case "paragraph":
			return <p key={index}>{block.content.map(toInline)}</p>;
		case "code":
			return <Code key={index} language={block.language} text={block.text} />;
		case "list": {
			const items = block.items.map((item, at) => <li key={at}>{item.map(toItemPart)}</li>);
			return block.start === null ? (
				<ul key={index}>{items}</ul>
			) : (
				<ol key={index} start={block.start}>
					{items}
				</ol>
			);
		}
		case "quote":
			return <blockquote key={index}>{block.content.map(toElement)}</blockquote>;
		case "table":
			return (
				<div key={index} class="table" role="region" aria-label="Table" tabIndex={0}>
					<table>
						<thead>
							<tr>
								{block.head.map((cell, at) => (
									<th key={at}>{cell.map(toInline)}</th>
								))}
							</tr>
						</thead>
						<tbody>
							{block.rows.map((row, at) => (
								<tr key={at}>
									{row.map((cell, column) => (
										<td key={column}>{cell.map(toInline)}</td>
									))}
								</tr>
							))}
						</tbody>
					</table>
				</div>
			);
		case "rule":
			return <hr key={index} />;
	}
}

/** The paragraph of an item needs no element of its own. */
function toItemPart(block: MarkdownBlock, index: number): ComponentChildren {
	return block.kind === "paragraph" ? (
		<Fragment key={index}>{block.content.map(toInline)}</Fragment>
	) : (
		toElement(block, index)
	);
}

function toInline(inline: Inline, index: number): ComponentChildren {
	switch (inline.kind) {
		case "text":
			return inline.text;
		case "code":
			return <code key={index}>{inline.text}</code>;
		case "strong":
			return <strong key={index}>{inline.content.map(toInline)}</strong>;
		case "emphasis":
			return <em key={index}>{inline.content.map(toInline)}</em>;
		case "deleted":
			return <del key={index}>{inline.content.map(toInline)}</del>;
		case "link":
			return (
				<a key={index} href={inline.address} target="_blank" rel="noopener noreferrer">
					{inline.content.map(toInline)}
				</a>
			);
	}
}

export function Code({ language, text }: { readonly language: string; readonly text: string }) {
	const [wraps, setWraps] = useState(false);
	const [isCopied, setCopied] = useState(false);
	const copy = async () => {
		await navigator.clipboard.writeText(text);
		setCopied(true);
		setTimeout(() => setCopied(false), 1500);
	};
	return (
		<div class="code">
			<div class="code-head">
				<span>{language || "text"}</span>
				<button type="button" onClick={() => setWraps(!wraps)} aria-pressed={wraps}>
					Wrap
				</button>
				<button type="button" onClick={() => void copy()}>
					{isCopied ? "Copied" : "Copy"}
				</button>
			</div>
			<pre class={wraps ? "wraps" : ""} tabIndex={0}>
				<code>{text}</code>
			</pre>
		</div>
	);
}
