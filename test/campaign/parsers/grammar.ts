// Random shell scripts by the grammar of bash, and random damage to them.
import { createRandom, type Random } from "../random.ts";
import { type Feature, features, type WordContext, writeArithmetic, writeProgram, writeWord } from "./words.ts";

/** How deep commands may nest. */
const depthLimit = 4;
const delimiters = ["E", "EOF", "A-B", "E1"] as const;
/** Scripts in a hundred that are damaged after they are written. */
const damagePercent = 45;
/** Features in a hundred that a script has. */
const featurePercents = [10, 25, 45, 80] as const;
const damageCharacters = [..."'\"`$(){}[]<>|&;#\\\n \t=!~*?a1-\r\u00a0,:@"] as [string, ...string[]];

/** The script of a number: the same text on every machine. */
export function createScript(seed: number, number: number): string {
	const random = createRandom(Math.imul(seed, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35));
	const share = random.pick(featurePercents);
	const chosen = new Set(features.filter(() => random.chance(share)));
	const text = new ScriptWriter(random, chosen).script();
	return random.chance(damagePercent) ? damage(random, text) : text;
}

function damage(random: Random, text: string): string {
	let characters = [...text];
	for (let count = 1 + random.below(3); count > 0; count -= 1) {
		const at = random.below(characters.length);
		const other = random.below(characters.length);
		const [here = "", there = ""] = [characters[at], characters[other]];
		switch (random.below(5)) {
			case 0:
				characters.splice(at, 1);
				break;
			case 1:
				characters.splice(at, 0, here);
				break;
			case 2:
				characters[at] = there;
				characters[other] = here;
				break;
			case 3:
				characters.splice(at, 0, random.pick(damageCharacters));
				break;
			default:
				characters = characters.slice(0, random.chance(20) ? at : characters.length);
		}
	}
	return characters.join("");
}

/** Text that reaches up to where its here-documents begin: their bodies follow the next end of a line. */
class Frame {
	bodies = "";

	endLine(): string {
		const { bodies } = this;
		this.bodies = "";
		return `\n${bodies}`;
	}
}

class ScriptWriter {
	readonly #random: Random;
	readonly #chosen: ReadonlySet<Feature>;
	#depth = 0;
	#frame = new Frame();

	constructor(random: Random, chosen: ReadonlySet<Feature>) {
		this.#random = random;
		this.#chosen = chosen;
	}

	script(): string {
		const text = this.#list(1 + this.#random.below(3));
		return text + (this.#frame.bodies === "" && this.#random.chance(70) ? "" : this.#frame.endLine());
	}

	readonly #has = (feature: Feature): boolean => this.#chosen.has(feature);

	get #isShallow(): boolean {
		return this.#depth < depthLimit;
	}

	#context(): WordContext {
		return {
			random: this.#random,
			has: this.#has,
			nested: () => this.#substitution(),
			isShallow: this.#isShallow,
		};
	}

	/** Commands within a substitution have here-documents of their own. */
	#substitution(): string {
		const outer = this.#frame;
		this.#frame = new Frame();
		this.#depth += 1;
		const text = this.#list(this.#random.chance(75) ? 1 : 2);
		this.#depth -= 1;
		const rest = this.#frame.bodies === "" || this.#random.chance(5) ? "" : this.#frame.endLine();
		this.#frame = outer;
		return text + rest;
	}

	#list(count: number): string {
		let text = this.#statement();
		for (let index = 1; index < count; index += 1) text += this.#separator() + this.#statement();
		if (this.#random.chance(8)) text += this.#random.pick([";", " &", "; ", " "]);
		return text;
	}

	#separator(): string {
		const random = this.#random;
		if (this.#has("comments") && random.chance(25))
			return `${random.pick([" ", ";", "\t"])}# p8 ${random.pick(["x", "'", '"', "\\", "$(", "`", ")"])}${this.#frame.endLine()}`;
		if (this.#has("lists") && random.chance(50)) {
			return random
				.pick([" && ", "||", " & ", "&&", " &&\n", "|| \\\n", "&"])
				.replace("\n", () => this.#frame.endLine());
		}
		if (this.#has("carriage returns") && random.chance(10)) return `\r${this.#frame.endLine()}`;
		if (this.#has("odd blanks") && random.chance(10)) return random.pick(["\u00a0", ";\u3000", "\u0085", "\u2028"]);
		return random.chance(50) ? random.pick(["; ", ";", " ; "]) : this.#frame.endLine();
	}

	#end(): string {
		return this.#random.chance(60) ? "; " : this.#frame.endLine();
	}

	#statement(): string {
		const random = this.#random;
		let text = this.#command();
		if (this.#has("pipelines")) {
			while (random.chance(30)) {
				const pipe = random.pick([" | ", "|", " |& ", "|\n", " | \\\n"]);
				text += pipe.replace(/\n$/, () => (pipe.includes("\\") ? "\n" : this.#frame.endLine())) + this.#command();
			}
		}
		if (this.#has("time and negation") && random.chance(30)) {
			text = random.pick(["! ", "time ", "time -p ", "! time ", "time ! ", "! ! ", "time -- ", "!"]) + text;
		}
		if (this.#has("coprocesses") && random.chance(15)) text = random.pick(["coproc ", "coproc N "]) + text;
		return text;
	}

	#command(): string {
		if (!this.#isShallow || this.#random.chance(65)) return this.#simple();
		this.#depth += 1;
		const text = this.#compound();
		this.#depth -= 1;
		return text;
	}

	#simple(): string {
		const random = this.#random;
		const parts: string[] = [];
		if (this.#has("assignments")) while (random.chance(30)) parts.push(this.#assignment());
		if (random.chance(10)) parts.push(...this.#redirects());
		if (parts.length === 0 || random.chance(75)) parts.push(writeProgram(this.#context()));
		for (let count = random.below(4); count > 0; count -= 1) {
			parts.push(...this.#redirects(), writeWord(this.#context()));
		}
		parts.push(...this.#redirects());
		const blank = (): string => {
			if (this.#has("line continuations") && random.chance(10)) return " \\\n";
			return random.pick([" ", " ", " ", "  ", "\t"]);
		};
		let text = parts[0] ?? "";
		for (const part of parts.slice(1)) text += blank() + part;
		return text;
	}

	#assignment(): string {
		const random = this.#random;
		const name = random.pick(["x", "y", "LANG", "PATH", "x_1"]);
		if (this.#has("arrays") && random.chance(35)) {
			const entry = () => (random.chance(30) ? `[${writeWord(this.#context())}]=` : "") + writeWord(this.#context());
			const entries = Array.from({ length: random.below(4) }, entry).join(random.pick([" ", "\n", "  "]));
			return random.chance(70) ? `${name}=(${entries})` : `${name}[${writeArithmetic(this.#context())}]=1`;
		}
		return `${name}${random.pick(["=", "=", "+="])}${random.chance(85) ? writeWord(this.#context()) : ""}`;
	}

	#redirects(): string[] {
		const random = this.#random;
		const list: string[] = [];
		const descriptor = (): string => random.pick(["", "", "", "2", "3", "{fd}"]);
		if (this.#has("redirections") && random.chance(20)) {
			const blank = random.pick(["", " "]);
			list.push(
				random.chance(25)
					? descriptor() + random.pick([">&2", "<&-", ">&-", ">&1", "<&3", ">&$x", "<&1-"])
					: `${descriptor()}${random.pick(["<", ">", ">>", "<>", ">|", "&>", "&>>", ">&"])}${blank}${writeWord(this.#context())}`,
			);
		}
		if (this.#has("here-strings") && random.chance(15))
			list.push(`<<<${random.pick(["", " "])}${writeWord(this.#context())}`);
		if (this.#has("here-documents") && random.chance(20)) list.push(this.#hereDocument());
		return list;
	}

	#hereDocument(): string {
		const random = this.#random;
		const delimiter = random.pick(delimiters);
		const isStripped = random.chance(30);
		const quoted = random.chance(40);
		const spelling = quoted
			? random.pick([
					`'${delimiter}'`,
					`"${delimiter}"`,
					`\\${delimiter}`,
					`${delimiter.slice(0, 1)}''${delimiter.slice(1)}`,
				])
			: delimiter;
		const indent = isStripped ? random.pick(["", "\t", "\t\t"]) : "";
		let body = "";
		while (random.chance(60)) {
			const line =
				random.chance(50) && !quoted
					? writeWord(this.#context())
					: random.pick(["text", "p7 x", "$(p6 x", "'", '"', "`", "\\", "E ", " E", "$x", ")", "}"]);
			body += `${indent}${line}\n`;
		}
		const end = this.#has("unterminated") && random.chance(30) ? "" : `${indent}${delimiter}\n`;
		this.#frame.bodies += body + end;
		return `${random.pick(["", "", "3"])}<<${isStripped ? "-" : ""}${random.pick(["", " "])}${spelling}`;
	}

	#compound(): string {
		const random = this.#random;
		const ways: (() => string)[] = [() => this.#simple()];
		const body = () => this.#list(1 + random.below(2));
		const tail = () => (random.chance(15) ? ` ${this.#redirects().join(" ")}` : "");
		if (this.#has("compound commands")) {
			ways.push(
				() => `{ ${body()}${this.#end()}}${tail()}`,
				() => `(${random.pick(["", " "])}${body()})${tail()}`,
				() => {
					const other = random.chance(40) ? `else ${body()}${this.#end()}` : "";
					const more = random.chance(20) ? `elif ${body()}${this.#end()}then ${body()}${this.#end()}` : "";
					return `if ${body()}${this.#end()}then ${body()}${this.#end()}${more}${other}fi${tail()}`;
				},
			);
		}
		if (this.#has("loops")) {
			ways.push(
				() => `${random.pick(["while", "until"])} ${body()}${this.#end()}do ${body()}${this.#end()}done${tail()}`,
				() => {
					const words = Array.from({ length: random.below(3) }, () => writeWord(this.#context())).join(" ");
					const over = random.chance(80) ? ` in ${words}` : "";
					return `${random.pick(["for", "for", "select"])} x${over}${this.#end()}do ${body()}${this.#end()}done${tail()}`;
				},
				() => `for ((${writeArithmetic(this.#context())};x<1; x++))${this.#end()}do ${body()}${this.#end()}done`,
			);
		}
		if (this.#has("cases")) {
			ways.push(() => {
				let items = "";
				do {
					const open = random.pick(["", "("]);
					const more = random.chance(30) ? `|${random.pick([" ", ""])}${writeWord(this.#context())}` : "";
					const end = random.pick([";;", ";&", ";;&", " ;;"]);
					items += `${open}${writeWord(this.#context())}${more}) ${random.chance(85) ? body() : ""}${end}${random.pick([" ", "\n"]).replace("\n", () => this.#frame.endLine())}`;
				} while (random.chance(40));
				return `case ${writeWord(this.#context())} in ${items}esac${tail()}`;
			});
		}
		if (this.#has("functions")) {
			ways.push(() => {
				const head = random.pick(["f() ", "f () ", "function f ", "function f() ", "f()\n", "f-g() ", "rm() "]);
				return `${head}${random.pick([() => `{ ${body()}${this.#end()}}`, () => `(${body()})`])()}${tail()}`;
			});
		}
		if (this.#has("tests")) {
			const test = () => random.pick(["-f", "-n", "-v", "!", ""]).concat(" ", writeWord(this.#context()));
			const binary = () =>
				`${writeWord(this.#context())} ${random.pick(["==", "=~", "!=", "-eq", "<", "-nt"])} ${writeWord(this.#context())}`;
			ways.push(
				() =>
					`[[ ${random.pick([test, binary])()}${random.chance(30) ? random.pick([" && ", " || "]) + binary() : ""} ]]`,
			);
			ways.push(() => `[ ${test()} ]`);
		}
		if (this.#has("arithmetic")) ways.push(() => `((${writeArithmetic(this.#context())}))`);
		return random.pick(ways as [() => string, ...(() => string)[]])();
	}
}
