// What plan mode leaves of WriteFile and StrReplaceFile: the plan file, without approval (agent-kernel §11.2).
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../test/support/host/tool-environment.ts";
import { createStringReplaceFile } from "./files/string-replace-file.ts";
import { createWriteFile } from "./files/write-file.ts";
import type { ToolEnvironment } from "./tool.ts";

let place: ToolPlace;
let environment: ToolEnvironment;
let plan: string;
beforeEach(async () => {
	place = await createToolPlace();
	plan = place.at("share", "plans", "amber-fern-oak.md");
	environment = { ...place.environment, plan: { ...place.environment.plan, isOn: () => true, file: () => plan } };
});
afterEach(() => place.remove());

const text = (file: string) => readFile(file, "utf8");

describe("in plan mode", () => {
	it("other files cannot be changed, inside the workspace or outside", async () => {
		await writeFile(place.at("work", "a.txt"), "one\n");
		const edit = { old: "one", new: "two" };
		for (const path of ["a.txt", "new.txt", place.at("outside", "b.txt"), `${plan}.bak`]) {
			expect(briefOf(await call(createWriteFile(environment), { path, content: "x" }))).toBe("Plan mode restriction");
		}
		const refused = await call(createStringReplaceFile(environment), { path: "a.txt", edit });
		expect(briefOf(refused)).toBe("Plan mode restriction");
		expect(refused.message).toContain(plan);
		expect(await text(place.at("work", "a.txt"))).toBe("one\n");
	});

	it("the plan file is written without approval unless a rule speaks of it, with its directory, and edited", async () => {
		const written = await prepareCall(createWriteFile(environment), { path: plan, content: "# Plan\none\n" });
		expect(written).toMatchObject({ approval: { byDefault: "allow" }, hasEffect: true });
		expect((await written.execute()).is_error).toBe(false);
		const spelled = `${place.at("share", "plans")}/../plans/amber-fern-oak.md`;
		const edited = await prepareCall(createStringReplaceFile(environment), {
			path: spelled,
			edit: { old: "one", new: "two" },
		});
		expect(edited.approval).toMatchObject({ byDefault: "allow", subjects: [{ operation: "edit", path: plan }] });
		expect((await edited.execute()).is_error).toBe(false);
		expect(await text(plan)).toBe("# Plan\ntwo\n");
	});

	it("a link at the path of the plan file is refused", async () => {
		await mkdir(place.at("share", "plans"), { recursive: true });
		await writeFile(place.at("work", "a.txt"), "one\n");
		await symlink(place.at("work", "a.txt"), plan);
		expect(briefOf(await call(createWriteFile(environment), { path: plan, content: "x" }))).toBe(
			"Plan mode restriction",
		);
		expect(await text(place.at("work", "a.txt"))).toBe("one\n");
	});

	it("the plan file is recognized through a directory that is a link", async () => {
		await mkdir(place.at("elsewhere", "plans"), { recursive: true });
		await symlink(place.at("elsewhere"), place.at("share"));
		const written = await prepareCall(createWriteFile(environment), { path: plan, content: "# Plan\n" });
		expect(written.approval).toMatchObject({ byDefault: "allow" });
		expect((await written.execute()).is_error).toBe(false);
		expect(await text(place.at("elsewhere", "plans", "amber-fern-oak.md"))).toBe("# Plan\n");
	});
});

describe("outside plan mode", () => {
	it("a plan file is an ordinary file", async () => {
		await mkdir(place.at("share", "plans"), { recursive: true });
		const written = await prepareCall(createWriteFile(place.environment), { path: plan, content: "x" });
		expect(written.approval?.action).toBe("edit file outside of working directory");
	});
});
