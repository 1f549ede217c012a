import { expect, it } from "vitest";
import { describeRuntime } from "./runtime.ts";

it("names Bun, which reports a version of Node as well", () => {
	expect(describeRuntime({ node: "26.3.0", bun: "1.4.5" })).toEqual({ name: "bun", version: "1.4.5" });
	expect(describeRuntime({ node: "20.19.0" })).toEqual({ name: "node", version: "20.19.0" });
});
