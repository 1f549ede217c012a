import type { Token, tokensByLine } from "../../base/text/code-tokens.ts";
import { visibleText } from "../../base/text/visible-text.ts";
import type { Approval } from "../../client/client.ts";
import { type DisplayLine, displayLines, linesOf } from "./describe.ts";
import type { Theme } from "./theme.ts";

/** Longer texts are not colored. */
const coloredLimit = 50_000;

export class Code {
	readonly #theme: Theme;
	readonly #loaded: () => void;
	#find: typeof tokensByLine | "loading" | null = null;

	/** `loaded` is called once colors can be had. */
	constructor(theme: Theme, loaded: () => void) {
		this.#theme = theme;
		this.#loaded = loaded;
	}

	lines(text: string, language: string): string[] {
		const found = this.#tokens(text, language);
		if (found === null) return linesOf(text);
		return found.map((tokens) => this.#paint(tokens, (plain) => plain));
	}

	get markdown(): Theme["markdown"] {
		return { ...this.#theme.markdown, highlightCode: (text, language = "") => this.lines(text, language) };
	}

	display(display: Approval["display"]): string[] {
		return displayLines(display, (text, language) => this.#tokens(text, language)).map((line) => this.#line(line));
	}

	#line({ sign, text, tokens }: DisplayLine): string {
		const { good, bad, accent } = this.#theme;
		const plain = { "+": good, "-": bad, "@": accent, " ": (each: string) => each }[sign];
		return tokens === null ? plain(`${sign} ${text}`) : plain(`${sign} `) + this.#paint(tokens, plain);
	}

	#paint(tokens: readonly Token[], plain: (text: string) => string): string {
		return tokens
			.map(({ text, scope }) => (this.#theme.scopes[scope] ?? plain)(visibleText(text).replaceAll("\t", "   ")))
			.join("");
	}

	#tokens(text: string, language: string): readonly (readonly Token[])[] | null {
		if (!this.#theme.hasColor || language === "" || text.length > coloredLimit) return null;
		if (typeof this.#find === "function") return this.#find(text, language.toLowerCase());
		if (this.#find === null) {
			this.#find = "loading";
			void import("../../base/text/code-tokens.ts").then((module) => {
				this.#find = module.tokensByLine;
				this.#loaded();
			});
		}
		return null;
	}
}
