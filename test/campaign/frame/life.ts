// What a life of a server is made of, in this process or in one of its own: the parts that clients play in it.

/** The client's end of one connection. */
export interface Channel {
	write(line: string): void;
	/** The next line; null at the end. */
	read(): Promise<string | null>;
}

/** One connection of a life. */
export interface Part {
	/** The answers of the scripted models by their names, one for each request; the first model is the default. */
	readonly models: Readonly<Record<string, readonly string[]>>;
	/** The arguments of an executable that serves it. */
	readonly argv: readonly string[];
	/** Plays the client's side to its end, in this work directory; false when the lines ended before. */
	play(channel: Channel, workDir: string): Promise<boolean>;
}

/** Settings in which every name is a scripted model whose answers are in `fileOf` of its name. */
export function settingsOf(models: Part["models"], fileOf: (name: string) => string, agentwire: object = {}): object {
	const names = Object.keys(models);
	const entries = <T>(make: (name: string) => T): Record<string, T> =>
		Object.fromEntries(names.map((name) => [name, make(name)]));
	return {
		default_model: names[0],
		models: entries((name) => ({ provider: name, model: "scripted_echo", max_context_size: 1_000_000 })),
		providers: entries((name) => ({
			...{ type: "_scripted_echo", base_url: "", api_key: "" },
			env: { KIMI_SCRIPTED_ECHO_SCRIPTS: fileOf(name) },
		})),
		agentwire,
	};
}

export type Fields = Readonly<Record<string, unknown>>;

/** A message of JSON-RPC as a line. */
export function toLine(message: Fields): string {
	return `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
}
