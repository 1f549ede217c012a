// The loads that the gateway can be measured under, and the words for them: `250x20`.

/** The load: sessions, the streams that share them among each other, and deltas of a session in a second. */
export interface GatewayLoad {
	/** As it is written on the command line. */
	readonly name: string;
	readonly sessions: number;
	readonly streams: number;
	/** Whether every stream carries every session, instead of its share of them. */
	readonly isShared: boolean;
	/** Streams among them that do not read while the answers come. */
	readonly stalled: number;
	readonly rate: number;
	/** Before it is measured: what runs often is compiled by then. */
	readonly warmUp: number;
	readonly seconds: number;
}

/** What is measured when no load is chosen: many sessions, from what is aimed at down to what a machine of two cores can take, and many clients at one session. */
const usualLoads = ["1000x20", "500x20", "250x20", "1000x5", "100x20", "1x20x50"];

/** Streams that sessions share at most. */
const mostStreams = 200;

export const loadForm = "SESSIONSxRATE[xCLIENTS]";

/** What the words for loads mean, for people who read the figures. */
export const loadLegend =
	`A load is ${loadForm}: so many sessions with so many deltas each in a second, read by ${mostStreams} streams at most, ` +
	"one of which is stalled; or with each session read by so many clients, none of which is stalled.";

/** Reads the word for a load. Throws for any other. */
export function readLoad(word: string): GatewayLoad {
	const [sessions = 0, rate = 0, clients] = (/^[1-9]\d*x[1-9]\d*(x[1-9]\d*)?$/.test(word) ? word.split("x") : []).map(
		Number,
	);
	if (sessions === 0) throw new Error(`--load needs ${loadForm}, as in 250x20, not ${JSON.stringify(word)}.`);
	const streams = clients ?? Math.min(mostStreams, sessions);
	// The only stream of a load has to read.
	const stalled = clients === undefined && streams > 1 ? 1 : 0;
	return { name: word, sessions, streams, isShared: clients !== undefined, stalled, rate, warmUp: 5, seconds: 10 };
}

/** The chosen loads; the usual ones when none is chosen. */
export const readLoads = (words: readonly string[]): readonly GatewayLoad[] =>
	(words.length === 0 ? usualLoads : words).map(readLoad);
