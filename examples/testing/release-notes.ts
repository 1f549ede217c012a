// The program under test: an agent that may look at a project but change nothing writes its release notes.
import type { Kernel } from "agentwire/client";

export async function writeReleaseNotes(kernel: Kernel, workDir: string): Promise<string> {
	const session = await kernel.open({ workDir, approve: (ask) => ask.reject("Change nothing.") });
	try {
		const { outcome, text, error } = await session.prompt("Write release notes for the last commits.");
		if (outcome !== "finished") throw new Error(`No release notes: ${error?.message ?? outcome}`);
		return text;
	} finally {
		await session.close();
	}
}
