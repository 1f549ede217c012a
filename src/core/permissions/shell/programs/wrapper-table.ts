// Wrappers with their options first, followed by the program and its words.
import { type OptionTable, optionTable } from "./options.ts";

export interface WrapperOptions {
	readonly table: OptionTable;
	/** The number of words between the options and the program. */
	readonly positionals?: number;
	/** Options with which it runs no program. */
	readonly endsWithout?: string;
	/** The options with which it only affects time or priority. */
	readonly harmless: string;
	/** Whether the program may be a shell builtin. */
	readonly isInThisShell?: boolean;
}

const wrapper = (options: string, more: Partial<WrapperOptions> = {}): WrapperOptions => ({
	table: optionTable(options),
	harmless: "",
	...more,
});

export const wrapperTable: ReadonlyMap<string, WrapperOptions> = new Map(
	Object.entries({
		timeout: wrapper("-vfp -ks: --foreground --preserve-status --verbose --help --version --kill-after= --signal=", {
			positionals: 1,
			harmless: "v f p k s foreground preserve-status verbose kill-after signal",
		}),
		// `-o` writes a file.
		time: wrapper("-apvqVh -fo: --append --portability --verbose --quiet --help --version --format= --output=", {
			harmless: "p v q portability verbose quiet",
		}),
		nice: wrapper("-n: -# --help --version --adjustment=", { harmless: "n adjustment number" }),
		ionice: wrapper("-thV -cnpPu: --ignore --help --version --class= --classdata= --pid= --pgid= --uid=", {
			endsWithout: "p P u pid pgid uid",
			harmless: "t c n ignore class classdata",
		}),
		nohup: wrapper("--help --version"),
		stdbuf: wrapper("-ioe: --help --version --input= --output= --error=", { harmless: "i o e input output error" }),
		command: wrapper("-pvV", { endsWithout: "v V", isInThisShell: true }),
		builtin: wrapper("", { isInThisShell: true }),
		exec: wrapper("-cl -a:"),
	}),
);
