// Judges one script: the programs that the product finds in it are those that other parsers find, or it doubts.
import { readScript } from "../../../src/core/permissions/shell/read-script.ts";
import { type Bash, createBash } from "./bash.ts";
import { createPrinter, type Printer } from "./printer.ts";
import { createTreeSitter, type TreeSitter } from "./tree-sitter.ts";

export type Outcome =
	| "doubt"
	| "all agree"
	| "bash decides"
	| "bash alone"
	| "bash refuses"
	| "more than bash"
	| "undecided"
	| "finding";

export interface Judgement {
	readonly outcome: Outcome;
	/** For findings and where bash decides: who says what. */
	readonly words: string;
}

export interface Judge {
	judge(script: string): Promise<Judgement>;
	close(): void;
}

const place = { cwd: "/work", home: "/home/user" } as const;
/** Milliseconds in which a short script must be read, with what is done for other scripts meanwhile. */
const patience = 20_000;

interface Reading {
	readonly programs: Programs;
	readonly isDoubted: boolean;
}

/**
 * The programs that are written in the script. What a wrapper such as `env` runs is left out, as the other parsers
 * know no wrappers.
 */
async function read(script: string): Promise<Reading> {
	const { commands, doubts } = await readScript(script, place);
	return {
		programs: commands.flatMap(({ command: { words } }) => {
			const [program] = words;
			if (program === undefined) return [];
			return [program.kind === "literal" ? program.text : null];
		}),
		isDoubted: doubts.length > 0,
	};
}

type Programs = readonly (string | null)[];

/** Whether all of `some` are among `all`, each as often. */
function isWithin(some: Programs, all: Programs): boolean {
	const left = [...all];
	return some.every((name) => {
		const at = left.indexOf(name);
		if (at >= 0) left.splice(at, 1);
		return at >= 0;
	});
}

/** The same programs, each as often, in one form; the order in which substitutions are counted is a matter of taste. */
const form = (programs: Programs | null): string =>
	programs === null ? "refused" : JSON.stringify(programs.map((name) => name ?? "(not literal)").sort());

export async function createJudge(): Promise<Judge> {
	const judge = new ParserJudge(await createTreeSitter(), await createPrinter(), createBash());
	return { judge: (script) => judge.judge(script), close: () => judge.close() };
}

class ParserJudge {
	readonly #treeSitter: TreeSitter;
	readonly #printer: Printer;
	readonly #bash: Bash;

	constructor(treeSitter: TreeSitter, printer: Printer, bash: Bash) {
		this.#treeSitter = treeSitter;
		this.#printer = printer;
		this.#bash = bash;
	}

	close(): void {
		this.#bash.close();
	}

	async judge(script: string): Promise<Judgement> {
		const started = performance.now();
		let reading: Reading;
		try {
			reading = await read(script);
		} catch (thrown) {
			return { outcome: "finding", words: `reading it failed: ${String(thrown)}` };
		}
		const took = performance.now() - started;
		if (took > patience) return { outcome: "finding", words: `reading it took ${took.toFixed(0)} ms` };
		if (reading.isDoubted) return { outcome: "doubt", words: "" };
		const found = reading.programs;
		const printed = await this.#printer.print(script);
		const opinions = {
			"tree-sitter": form(this.#treeSitter.programsOf(script)),
			"sh-syntax's form": printed === null ? "refused" : form((await read(printed)).programs),
		};
		if (Object.values(opinions).every((opinion) => opinion === form(found))) return { outcome: "all agree", words: "" };
		return this.#letBashDecide(script, found, printed, opinions);
	}

	/**
	 * Other parsers err too: bash is the truth. What it refuses it does not run; what it takes
	 * must, in the form in which it prints it, have the same
	 * programs. Counted apart is where no other parser finds them, in no form of the script, where only bash, whose
	 * form cannot be used, takes it at all, and where the product finds all that bash has and more, with which rules
	 * can only be stricter.
	 */
	async #letBashDecide(
		script: string,
		programs: Programs,
		printed: string | null,
		opinions: Readonly<Record<string, string>>,
	): Promise<Judgement> {
		const found = form(programs);
		const byBash = await this.#bash.print(script);
		const words = (more: Readonly<Record<string, string>>): string =>
			Object.entries({ product: found, ...opinions, ...more })
				.map(([who, what]) => `${who}: ${what}`)
				.join("; ");
		// Nothing runs from the line on that has the fault.
		if (byBash === null) return { outcome: "bash refuses", words: words({ bash: "refused" }) };
		const inBash = (await read(byBash)).programs;
		const inTree = this.#treeSitter.programsOf(byBash);
		const more = {
			"bash's form": form(inBash),
			"bash's form by tree-sitter": form(inTree),
			"sh-syntax's form by tree-sitter": printed === null ? "refused" : form(this.#treeSitter.programsOf(printed)),
		};
		const hasBash = more["bash's form"] === found || more["bash's form by tree-sitter"] === found;
		const others = { ...opinions, "sh-syntax's form by tree-sitter": more["sh-syntax's form by tree-sitter"] };
		const hasOther = Object.values(others).includes(found);
		if (!hasBash && [inBash, inTree].every((each) => each === null || isWithin(each, programs))) {
			return { outcome: "more than bash", words: words(more) };
		}
		// Bash loses separators when it prints a list with a here-document: then its form has fewer programs.
		if (!hasBash && !/<<(?!<)/.test(script.replaceAll("<<<", ""))) return { outcome: "finding", words: words(more) };
		if (hasOther) return { outcome: "bash decides", words: words(more) };
		if (hasBash) return { outcome: "bash alone", words: words(more) };
		const isOpen = Object.values(others).every((opinion) => opinion === "refused") || isWithin(inBash, programs);
		return { outcome: isOpen ? "undecided" : "finding", words: words(more) };
	}
}
