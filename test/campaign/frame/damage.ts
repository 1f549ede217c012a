// What happens to the files of a session between two lives: those that the journal has everything of are damaged, or another
// program goes on with the session as Kimi does.
import { checkContext, readJsonLines } from "./session-files.ts";

/** The files of a session directory. */
export interface DirectoryFiles {
	/** Empty for one that is not there. */
	read(name: string): Promise<Buffer>;
	write(name: string, content: Buffer): Promise<void>;
	remove(name: string): Promise<void>;
}

export const damages = [
	"events torn",
	"events cut to half",
	"events missing",
	"context torn",
	"context cut to half",
	"context missing",
	"state missing",
	"state damaged",
	"all torn",
	"all missing",
	"continued",
] as const;
export type Damage = (typeof damages)[number];

const events = "wire.jsonl";
const context = "context.jsonl";
const state = "state.json";

/** Does it to one session; `round` shows apart what another program said in several of them. */
export async function inflict(damage: Damage, files: DirectoryFiles, round: number): Promise<void> {
	const cut = async (name: string, share: (length: number, lastLine: number) => number): Promise<void> => {
		const bytes = await files.read(name);
		if (bytes.length === 0) return;
		const lastLine = bytes.lastIndexOf(10, bytes.length - 2) + 1;
		await files.write(name, bytes.subarray(0, share(bytes.length, lastLine)));
	};
	const tear = (name: string) => cut(name, (length, lastLine) => Math.floor((length + lastLine) / 2));
	const halve = (name: string) => cut(name, (length) => Math.floor(length / 2));
	switch (damage) {
		case "events torn":
			return tear(events);
		case "events cut to half":
			return halve(events);
		case "events missing":
			return files.remove(events);
		case "context torn":
			return tear(context);
		case "context cut to half":
			return halve(context);
		case "context missing":
			return files.remove(context);
		case "state missing":
			return files.remove(state);
		case "state damaged":
			return halve(state);
		case "all torn":
			await tear(events);
			await tear(context);
			return halve(state);
		case "all missing":
			for (const name of [events, context, state]) await files.remove(name);
			return;
		case "continued":
			return continueAsKimi(files, round);
	}
}

/** A turn of another program, in its words: it appends to what it finds. Only a session that it can go on with has one. */
async function continueAsKimi(files: DirectoryFiles, round: number): Promise<void> {
	const [log, rows] = await Promise.all([files.read(events), files.read(context)]);
	const isWhole = [log, rows].every((bytes) => bytes.length > 0 && bytes.at(-1) === 10);
	if (!isWhole || checkContext(rows).length > 0 || readJsonLines(rows).unreadable > 0) return;
	const text = `said elsewhere ${round}`;
	const record = (time: number, type: string, payload: string) =>
		`{"timestamp": ${1_800_000_000 + round}.${time}, "message": {"type": "${type}", "payload": ${payload}}}\n`;
	const said = [
		record(25, "TurnBegin", `{"user_input": "asked elsewhere ${round}"}`),
		record(5, "StepBegin", '{"n": 1}'),
		record(75, "ContentPart", `{"type": "text", "text": "${text}"}`),
		record(8, "TurnEnd", "{}"),
	];
	await files.write(events, Buffer.concat([log, Buffer.from(said.join(""))]));
	const added = [
		`{"role": "user", "content": "asked elsewhere ${round}"}\n`,
		`{"role": "assistant", "content": [{"type": "text", "text": "${text}"}]}\n`,
		'{"role": "_usage", "token_count": 20}\n',
	];
	await files.write(context, Buffer.concat([rows, Buffer.from(added.join(""))]));
}
