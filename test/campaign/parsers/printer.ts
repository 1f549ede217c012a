// A second parser, of mvdan/sh by sh-syntax. It gives no tree of the commands, but it prints the script in a form of its own:
// what it understood differently, it prints differently.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { getProcessor } from "sh-syntax";

declare global {
	// As much of it as this file uses; the types of Node name it and no more.
	namespace WebAssembly {
		interface Instance {
			readonly exports: Readonly<Record<string, unknown>>;
		}
		type Imports = Readonly<Record<string, unknown>>;
		function compile(bytes: Uint8Array): Promise<Module>;
		function instantiate(program: Module, imports: Imports): Promise<Instance>;
		class RuntimeError extends Error {}
	}
}

export interface Printer {
	/** The script in the parser's own form; null when it refuses the script. */
	print(script: string): Promise<string | null>;
}

/** Characters that one instance of the program may read: its memory is not to be collected, at which it fails. */
const instanceLimit = 12_000;

export async function createPrinter(): Promise<Printer> {
	const require = createRequire(import.meta.url);
	const program = await WebAssembly.compile(readFileSync(require.resolve("sh-syntax/main.wasm")));
	let instance: WebAssembly.Instance | null = null;
	let characters = 0;
	const processor = getProcessor(async (imports: WebAssembly.Imports) => {
		if (instance !== null) return { exports: { ...instance.exports, _start: () => undefined } };
		characters = 0;
		instance = await WebAssembly.instantiate(program, imports);
		return instance;
	});
	return {
		async print(script) {
			// It takes no text for none given.
			if (script === "") return "";
			characters += script.length + 100;
			if (characters > instanceLimit) instance = null;
			try {
				const printed = await processor(script, { print: true, keepComments: false });
				return typeof printed === "string" ? printed : null;
			} catch (thrown) {
				if (thrown instanceof WebAssembly.RuntimeError) instance = null;
				return null;
			}
		},
	};
}
