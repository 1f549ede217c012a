import path from "node:path";
import { randomIdentifiers } from "../../base/ids.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import type { Files } from "../../ports/files/port.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import type { RealmChoice } from "../arguments/realm.ts";
import { checkFile } from "../paths.ts";

export type SettingsSource = Awaited<ReturnType<typeof toSource>>;

export async function toSource(options: ProgramOptions, place: Place, shareDir: string, files: Files) {
	switch (options.configuration.kind) {
		case "default":
			return { kind: "default", shareDir } as const;
		case "text":
			return options.configuration;
		case "file":
			return {
				kind: "file",
				path: await checkFile("--config-file", options.configuration.path, place, files),
			} as const;
	}
}

export type RealmPlace = NonNullable<ReturnType<typeof toRealmPlace>>;

export function toRealmPlace(choice: RealmChoice | null, place: Place, shareDir: string) {
	if (choice === null) return null;
	const { name, stateRoot, backend, instance } = choice;
	const id = name ?? `realm-${randomIdentifiers.uuid()}`;
	const root = stateRoot === null ? path.join(shareDir, "realms") : toAbsolutePath(stateRoot, place);
	return { id, instance, backend, directory: path.join(root, id) };
}
