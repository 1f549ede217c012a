// A cassette in memory, with the models of a provider on loopback.
import { systemClock } from "../../../src/base/clock.ts";
import type { CassetteFile } from "../../../src/core/models/cassettes/cassette.ts";
import { type CassetteSettings, createRecordedFetch } from "../../../src/core/models/cassettes/recorded-fetch.ts";
import { plainNetwork } from "../host/network.ts";

export interface MemoryCassette extends CassetteFile {
	text: string;
	readonly reports: string[];
	/** A `fetch` by this cassette. */
	open(mode: CassetteSettings["mode"], more?: Partial<CassetteSettings>): typeof fetch;
	/** The recordings as they are in the file. */
	lines(): unknown[];
}

export function createMemoryCassette(): MemoryCassette {
	const cassette: MemoryCassette = {
		name: "a.jsonl",
		text: "",
		reports: [],
		read: async () => (cassette.text === "" ? null : Buffer.from(cassette.text)),
		async replace(text) {
			cassette.text = text;
		},
		async append(text) {
			cassette.text += text;
		},
		open: (mode, more) =>
			createRecordedFetch({
				file: cassette,
				mode,
				timeScale: 0,
				replacements: [],
				forward: plainNetwork.fetch,
				clock: systemClock,
				report: (text) => cassette.reports.push(text),
				...more,
			}),
		lines: () => cassette.text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])),
	};
	return cassette;
}

/** Fails every request. */
export const noProvider: typeof fetch = async (input) => {
	throw new Error(`A provider was asked: ${String(input)}`);
};
