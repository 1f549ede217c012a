// Colors of code, loaded once there is some.
import type { ComponentChildren } from "preact";
import { tokensByLine } from "../src/base/text/code-tokens.ts";

export { type Token, tokensByLine } from "../src/base/text/code-tokens.ts";

export function highlight(text: string, language: string): ComponentChildren {
	return (
		tokensByLine(text, language)?.map((tokens, index) => [
			index === 0 ? "" : "\n",
			...tokens.map((token) =>
				token.scope === "" ? token.text : <span class={`hl-${token.scope}`}>{token.text}</span>,
			),
		]) ?? text
	);
}
