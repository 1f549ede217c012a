import * as v from "valibot";
import { expect, it } from "vitest";
import { providerParamsSchema } from "./provider-params.ts";

it.each(["temperature", "top_p"])("a %s that no request can have is refused", (name) => {
	const params: unknown = JSON.parse(`{"${name}":1e400}`);
	const { issues } = v.safeParse(providerParamsSchema, params);
	expect(issues?.map((issue) => `${v.getDotPath(issue)} ${issue.message}`)).toEqual([
		`${name} must be a number that a request can have`,
	]);
});

it("a long name of a provider is shown without half a character", () => {
	const { issues } = v.safeParse(providerParamsSchema, { provider_tag: { provider: `x${"😀".repeat(100)}` } });
	expect(issues?.[0]?.message).toContain(`\`provider: x${"😀".repeat(49)}…\``);
});
