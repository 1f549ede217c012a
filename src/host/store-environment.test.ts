import { expect, it } from "vitest";
import type { StoreSettings } from "../settings/config/configuration.ts";
import { withStoreEnvironment } from "./store-environment.ts";

const settings: StoreSettings = {
	type: "disk",
	url: null,
	schema: "agentwire",
	passwordFile: "/settings",
	tls: { mode: null, caFile: null },
	poolSize: 10,
	owner: "",
	needs: [],
};

it("takes the database from the environment, where an empty variable counts as unset", () => {
	const url = "postgresql://db/agents";
	expect(withStoreEnvironment(settings, { AGENTWIRE_STORE_URL: url })).toEqual({ ...settings, type: "postgres", url });
	const file = { AGENTWIRE_STORE_URL: "", AGENTWIRE_STORE_PASSWORD_FILE: "/variable" };
	expect(withStoreEnvironment(settings, file)).toEqual({ ...settings, passwordFile: "/variable" });
	expect(withStoreEnvironment(settings, {})).toEqual(settings);
});
