// What a start was given besides files, as the name of its remembered answer: equal starts have equal names.
import path from "node:path";

/** What an answer can depend on. */
export interface StartFacts {
	readonly executable: string;
	readonly argv: readonly string[];
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly currentDir: string;
	/** The program and its runtime. */
	readonly program: string;
}

/** The facts of this process. */
export function startFacts(executable: string, argv: readonly string[], program: string): StartFacts {
	return { executable, argv, environment: process.env, currentDir: currentPlace(), program };
}

/** A directory that was removed has no name. */
function currentPlace(): string {
	try {
		return process.cwd();
	} catch {
		return "";
	}
}

/** An id that can be used as it is; which session it names changes nothing in the answer. */
const plainId = /^[A-Za-z0-9][\w-]{0,99}$/;
const sessionFlag = "--session";

/** A name of 16 hexadecimal digits. The environment may have keys in it, of which nothing can be read from the name. */
export function toStartKey({ executable, argv, environment, currentDir, program }: StartFacts): string {
	const words = argv.map((word, index) => (argv[index - 1] === sessionFlag && plainId.test(word) ? "" : word));
	return digest(JSON.stringify([executable, words, currentDir, program, environment]));
}

/** The directory of the remembered answers. */
export function toAnswersDirectory(cacheHome: string): string {
	return path.join(cacheHome, "agentwire", "answers");
}

/** Two sums of 32 bits: `node:crypto` takes longer to load than all else that the first answer takes. */
function digest(text: string): string {
	let one = 0x2545f491;
	let other = 0x9e3779b1;
	for (let index = 0; index < text.length; index += 1) {
		const code = text.charCodeAt(index);
		one = Math.imul(one ^ code, 0x01000193);
		other = Math.imul(other + code, 0x5bd1e995) ^ (other >>> 13);
	}
	return [one, other].map((sum) => toHex(Math.imul(sum ^ (sum >>> 16), 0x7feb352d))).join("");
}

function toHex(sum: number): string {
	return ((sum ^ (sum >>> 15)) >>> 0).toString(16).padStart(8, "0");
}
