// Random shell scripts that end soon and run programs in every way that bash has, plain and devious.
import { createRandom, type Random } from "../random.ts";
import { stubs } from "./stubs.ts";
import { writeTrick } from "./tricks.ts";
import { type Parts, writeQuoted, writeWrapper } from "./wrappers.ts";

/** How deep commands may nest, texts that another shell reads included. */
const depthLimit = 3;
const words = [
	"x",
	"-rf",
	"a/b",
	"1",
	"''",
	'"a b"',
	"$v",
	'"$v"',
	"*",
	"y=1",
	"--",
	"-",
	"'$(p9)'",
	"\\;",
	"~",
	"a{b,c}",
	"$HOME",
] as const;
const conditions = ["true", "false", ":", "! true", "[ 1 = 1 ]", "[[ a == a ]]", "((1))", "test -n x"] as const;

/** The script of a number: the same text on every machine. */
export function createScript(seed: number, number: number): string {
	const random = createRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca77));
	// Most scripts of nothing but what is devious would be doubted as a whole.
	const writer = new ScriptWriter(random, random.pick([0, 0, 10, 40]));
	return writer.list().replace(/\n+$/, "");
}

class ScriptWriter {
	readonly #random: Random;
	/** Commands in a hundred that are devious. */
	readonly #tricks: number;
	#depth = 0;
	#bodies = "";

	constructor(random: Random, tricks: number) {
		this.#random = random;
		this.#tricks = tricks;
	}

	list(): string {
		const random = this.#random;
		let text = this.#statement();
		while (random.chance(this.#depth === 0 ? 50 : 25)) {
			const separator = random.pick([
				"; ",
				";",
				"\n",
				" && ",
				" || ",
				" | ",
				" & ",
				" |& ",
				"\n\n",
				" && \\\n",
				" # p9\n",
			]);
			text += separator.replace("\n", () => this.#endLine()) + this.#statement();
		}
		return text + (this.#bodies === "" ? "" : this.#endLine());
	}

	#endLine(): string {
		const bodies = this.#bodies;
		this.#bodies = "";
		return `\n${bodies}`;
	}

	/** A list with here-documents of its own. */
	#nested(): string {
		const outer = this.#bodies;
		this.#bodies = "";
		this.#depth += 1;
		const text = this.list();
		this.#depth -= 1;
		this.#bodies = outer;
		return text;
	}

	/** The same where it must end on its line. */
	#closed(): string {
		const text = this.#nested();
		return text.endsWith("\n") ? text : `${text}; `;
	}

	#statement(): string {
		const random = this.#random;
		if (this.#depth >= depthLimit) return this.#simple();
		if (random.chance(this.#tricks)) return writeTrick(random);
		if (random.chance(55)) return this.#simple();
		if (random.chance(50)) return this.#compound();
		this.#depth += 1;
		const text = writeWrapper(this.#parts());
		this.#depth -= 1;
		return text;
	}

	#program(): string {
		const random = this.#random;
		const name = random.pick(stubs);
		if (random.chance(75)) return name;
		const first = name.slice(0, 1);
		const rest = name.slice(1);
		const code = first.charCodeAt(0);
		return random.pick([
			`'${name}'`,
			`"${name}"`,
			`${first}''${rest}`,
			`${first}""${rest}`,
			`\\${name}`,
			`${first}\\${rest}`,
			`$'\\x${code.toString(16)}'${rest}`,
			`$'\\${code.toString(8).padStart(3, "0")}${rest}'`,
			`$'\\u00${code.toString(16)}'"${rest}"`,
			`$"${name}"`,
			`${first}\\\n${rest}`,
			`"${first}\\\n"${rest}`,
			`/usr/bin/${name}`,
			`/bin/${name}`,
		]);
	}

	#word(): string {
		const random = this.#random;
		if (this.#depth >= depthLimit || random.chance(80)) return random.pick(words);
		return random.pick<() => string>([
			() => `$(${this.#nested()})`,
			() => `"$(${this.#nested()})"`,
			() =>
				`\`${this.#nested()
					.replaceAll(/[\\`$]/g, "\\$&")
					.replaceAll("\\$", "$")}\``,
			() => `<(${this.#nested()})`,
			() => `>(${this.#nested()})`,
			() => `\${u:-$(${this.#nested()})}`,
			() => `"\${u:=$(${this.#nested()})}"`,
			() => `\${HOME#$(${this.#nested()})}`,
			() => `\${HOME/$(${this.#nested()})/x}`,
			() => `$(($(${this.#nested()})1))`,
			() => `$[$(${this.#nested()})1]`,
			() => `\${n[$(${this.#nested()})0]}`,
			() => `{a,$(${this.#nested()})}`,
			() => `$"$(${this.#nested()})"`,
		])();
	}

	#words(): string {
		let text = "";
		while (this.#random.chance(50)) text += ` ${this.#word()}`;
		return text;
	}

	#redirect(): string {
		const random = this.#random;
		if (random.chance(75)) return "";
		return random.pick<() => string>([
			() => " >f",
			() => " 2>&1",
			() => " </dev/null",
			() => " &>>f",
			() =>
				` ${random.pick([">|f", ">&f", "<>f", "&>f", ">>f", ">a/f", ">~/f", "1>f", "2>/tmp/f", ">'f'", ">f''f", ">../work/f", "2>f", ">& f", "{fd}<>f", ">$'\\x66'"])}`,
			() => ` <<<${this.#word()}`,
			() => ` >${this.#word()}`,
			() => " {fd}>f",
			() => this.#hereDocument(this.#depth < depthLimit ? () => `$(${this.#nested()})` : () => "$v", random.chance(60)),
		])();
	}

	#hereDocument(body: () => string, expands: boolean): string {
		const random = this.#random;
		const delimiter = random.pick(["E", "EOF", "X"]);
		const text = body();
		this.#bodies += `${text}\n${delimiter}\n`;
		return ` <<${expands ? delimiter : random.pick([`'${delimiter}'`, `\\${delimiter}`, `"${delimiter}"`])}`;
	}

	#simple(): string {
		const random = this.#random;
		const before = random.chance(12) ? `v=${this.#word()} ` : "";
		const first = random.chance(8) ? `${this.#redirect().trim()} ` : "";
		if (/<</.test(first)) return `${first}${this.#program()}`;
		return `${before}${first}${this.#program()}${this.#words()}${this.#redirect()}`;
	}

	#compound(): string {
		const random = this.#random;
		const body = () => this.#closed();
		const condition = () => (random.chance(60) ? `${random.pick(conditions)}; ` : body());
		return random.pick<() => string>([
			() => `{ ${body()}}`,
			() => `(${this.#nested()})`,
			() => `if ${condition()}then ${body()}else ${body()}fi`,
			() => `if ${condition()}then ${body()}elif ${condition()}then ${body()}fi`,
			() => `for v in ${this.#word()} z; do ${body()}done`,
			() => `for ((i=0;i<2;i++)); do ${body()}done`,
			() => `while ${body()}do ${body()}break; done`,
			() => `until ${body()}do break; done`,
			() =>
				`case ${this.#word()} in ${random.pick(["x", "(x", "*", "a|b", "$(p8)"])}) ${this.#nested()};; *) ${this.#nested()};; esac`,
			() => `case x in x) ${this.#nested()};& y) ${this.#nested()};;& *) ${this.#nested()}; esac`,
			() => `f() { ${body()}}; f${this.#words()}`,
			() => `function f { ${body()}}${this.#redirect()}; f`,
			() => `f() (${this.#nested()}); f`,
			() => `select v in ${this.#word()}; do ${body()}break; done </dev/null`,
			() => `! ${this.#statement()}`,
			() => `time ${this.#statement()}`,
			() => `time -p ${this.#statement()}`,
			() => `coproc { ${body()}}`,
			() => `coproc N { ${body()}}`,
			() => `[[ -n ${this.#word()} && $(${this.#nested()}) == ${this.#word()} ]]`,
			() => `(( $(${this.#nested()})1 ))`,
			() => `v=(${this.#word()} ${this.#word()})`,
			() => `v[$(${this.#nested()})0]=1`,
			() => `local_name=$(${this.#nested()}) ${this.#simple()}`,
			() => `export v=${this.#word()}`,
			() => `declare w=$(${this.#nested()})`,
			() => `echo ${this.#word()} ${this.#word()}`,
			() => `${this.#move()}${random.pick(["; ", " && ", " || ", "\n", " | ", " & "])}${this.#statement()}`,
			() => `${this.#move()}${random.pick(["; ", " && "])}${this.#simple()} >f`,
			() => `(${this.#move()}; ${this.#nested()}); ${this.#statement()}`,
			() => `f() { ${this.#move()}; ${body()}}; ${this.#simple()}; f; ${this.#simple()}`,
			() => `for v in 1 2; do ${this.#simple()}; ${this.#move()}; done; ${this.#simple()}`,
			() => `if ${this.#move()}; then ${body()}else ${body()}fi; ${this.#simple()}`,
			() => `while ${this.#simple()}; ${this.#move()}; do ${this.#simple()}; break; done`,
			() => `case x in ${random.pick(["x", "y"])}) ${this.#move()};; esac; ${this.#simple()}`,
			() => `{ ${this.#move()}; ${body()}}${random.pick(["", " >f", " | cat", " &"])}; ${this.#simple()}`,
			() => `v=$(${this.#move()}; ${this.#nested()}) ${this.#simple()}`,
			() => `${random.pick(["true", "false"])} ${random.pick(["&&", "||"])} ${this.#move()}; ${this.#simple()}`,
			() =>
				`${random.pick(["eval", "command eval", "bash -c", "sh -c", "trap"])} ${writeQuoted(random, this.#move())}${random.pick(["", " EXIT"])}; ${this.#simple()}`,
			() => `coproc ${this.#move()}; time ${this.#move()}; ! ${this.#move()}; ${this.#simple()}`,
		])();
	}

	/** Goes to another directory, or does not. */
	#move(): string {
		const random = this.#random;
		return random
			.pick(["cd ", "cd ", "cd ", "pushd ", "cd -P ", "cd -- ", "command cd ", "builtin cd ", "CDPATH=a cd ", "popd "])
			.concat(
				random.pick([
					"a",
					"a/b",
					"..",
					"/tmp",
					"nowhere",
					"-",
					"~",
					"$v",
					"''",
					"a/../a",
					"./a",
					"a b",
					"b",
					"/",
					".",
					"+1",
					'"$HOME"',
					"a >f",
					"a/b/..",
					"",
				]),
			);
	}

	#parts(): Parts {
		return {
			random: this.#random,
			word: () => this.#word(),
			inner: () => `${this.#program()}${this.#words()}`,
			words: () => this.#words(),
			simple: () => this.#simple(),
			nested: () => this.#nested(),
			hereDocument: (body, expands) => this.#hereDocument(body, expands),
		};
	}
}
