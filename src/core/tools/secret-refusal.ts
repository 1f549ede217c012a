import { type ToolReturn, toolError } from "../../api/values/content.ts";
import { isSensitiveFile, type SecretKind, whyNotRead } from "../../ports/files/secret-paths.ts";
import type { ToolEnvironment } from "./tool.ts";
import type { Location } from "./workspace-paths.ts";

const whatToDo: Readonly<Record<SecretKind, string>> = {
	name: "",
	rule: "",
	own: " Ask the user for what you need of it. StrReplaceFile and WriteFile can change it, which the user is asked to approve.",
	process: " Ask the user for what you need of it.",
};

export async function secretKind(
	{ path, resolved }: Pick<Location, "path" | "resolved">,
	{ secrets }: Pick<ToolEnvironment, "secrets">,
): Promise<SecretKind | null> {
	return (await secrets.kindOf(resolved)) ?? (isSensitiveFile(path) ? "name" : null);
}

/** The error for a secret file; null if it is readable. */
export async function findSecret(
	location: Pick<Location, "spelled" | "path" | "resolved">,
	environment: Pick<ToolEnvironment, "secrets">,
): Promise<ToolReturn | null> {
	const kind = await secretKind(location, environment);
	if (kind === null) return null;
	const { spelled, path, resolved } = location;
	const led = isSensitiveFile(path) || path === resolved ? "" : ` leads to \`${resolved}\`, which`;
	return toolError(`\`${spelled}\`${led} ${whyNotRead[kind]}.${whatToDo[kind]}`, "Sensitive file");
}
