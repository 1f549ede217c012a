// Texts whose hidden characters a person has to see, because what they allow is what runs.
import type { JSX } from "preact";
import { hiddenWarning, visibleLine, visiblePieces } from "../src/base/text/visible-text.ts";

/** `isLine`: a line of a file, in which long gaps are common. */
export function Visible({ text, isLine = false }: { text: string; isLine?: boolean }): JSX.Element {
	const pieces = isLine ? visibleLine(text) : visiblePieces(text);
	return <>{pieces.map((piece) => (piece.isEscape ? <span class="escape">{piece.text}</span> : piece.text))}</>;
}

export function HiddenWarning(): JSX.Element {
	return (
		<p class="hidden-warning" role="alert">
			{hiddenWarning}
		</p>
	);
}
