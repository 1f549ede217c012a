import { oneLine } from "../../base/text/sentence.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { compileMatcher } from "../../core/hooks/matchers.ts";
import type { Configuration } from "../../settings/config/configuration.ts";

const shownLength = 200;

/** One sentence per matcher; `source` is the source of the settings. */
export async function describeUnusableMatchers(hooks: Configuration["hooks"], source: string): Promise<string[]> {
	const sentences: string[] = [];
	for (const [index, { matcher, failClosed }] of hooks.entries()) {
		const compiled = await compileMatcher(matcher);
		if (compiled.ok) continue;
		const consequence = failClosed ? "Because of fail_closed, it blocks everything." : "The hook never runs.";
		const shown = oneLine(beginning(matcher, shownLength));
		sentences.push(
			`${source}: hooks[${index}].matcher: \`${shown}\` cannot be used: ${compiled.reason}. ${consequence}`,
		);
	}
	return sentences;
}
