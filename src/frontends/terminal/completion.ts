// Completes commands, paths, and project files after `@`.
import { type AutocompleteItem, CombinedAutocompleteProvider } from "@mariozechner/pi-tui";

export interface CompletionParts {
	readonly commands: readonly { readonly name: string; readonly description: string }[];
	readonly workDir: string;
	findFiles(query: string): Promise<readonly string[]>;
}

const mostFiles = 20;

export class Completion extends CombinedAutocompleteProvider {
	readonly #findFiles: CompletionParts["findFiles"];

	constructor({ commands, workDir, findFiles }: CompletionParts) {
		super([...commands], workDir);
		this.#findFiles = findFiles;
	}

	override async getSuggestions(
		...[lines, row, column, options]: Parameters<CombinedAutocompleteProvider["getSuggestions"]>
	): ReturnType<CombinedAutocompleteProvider["getSuggestions"]> {
		const query = /(?:^|\s)@(\S*)$/.exec(lines[row]?.slice(0, column) ?? "")?.[1];
		if (query === undefined) return await super.getSuggestions(lines, row, column, options);
		const found = await this.#findFiles(query);
		const items: AutocompleteItem[] = found.slice(0, mostFiles).map((path) => ({ value: `@${path}`, label: path }));
		return items.length === 0 || options.signal.aborted ? null : { items, prefix: `@${query}` };
	}
}
