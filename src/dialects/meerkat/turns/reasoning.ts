// Whether the model of a session leaves open what `reasoning` of `provider_params` asks of it.
import type { SessionApi } from "../../../kernel/api.ts";
import { NamedError } from "../errors.ts";
import type { ProviderParams } from "./turn-fields.ts";

/** Throws INVALID_PARAMS for reasoning that the session's model cannot do, or cannot do without. */
export async function checkReasoning(session: SessionApi, params: ProviderParams | null): Promise<void> {
	const wanted = params?.reasoning ?? null;
	if (wanted === null) return;
	const [{ model }, { models }] = await Promise.all([session.snapshot(), session.description()]);
	const option = models.find(({ alias }) => alias === model?.alias);
	// What a model can do that is not in the settings, nobody knows.
	if (option === undefined) return;
	if (wanted === "off" && option.thinking === "always")
		throw refuse(wanted, `the model ${option.alias} always reasons`);
	if (wanted !== "off" && option.thinking === "never") {
		throw refuse(wanted, `the model ${option.alias} never reasons: its capabilities in the settings lack "thinking"`);
	}
}

function refuse(wanted: string, why: string): NamedError {
	return new NamedError("INVALID_PARAMS", `Invalid params: \`provider_params.reasoning\` cannot be ${wanted}: ${why}.`);
}
