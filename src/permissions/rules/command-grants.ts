import type { Proposal } from "../judge.ts";
import type { JudgePlace } from "./ruling.ts";
import { readScript } from "../shell/read-script.ts";
export async function proposeCommand({ text, cwd }: { text: string; cwd: string }, place: JudgePlace): Promise<Proposal> {
	const { commands } = await readScript(text, { cwd, home: place.home });
	return { kind: "grants", patterns: commands.map(({ command }) => `Shell(${command.text})`) };
}
