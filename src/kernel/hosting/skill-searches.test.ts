// Searches for skills that run together are shared only where they may read the same.
import { expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createHostServices } from "../../../test/support/host/host-services.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { plainSessionOptions } from "../compose/session-options.ts";
import { Kernel } from "./kernel.ts";

it("gives a session no skill whose file a rule keeps from it, though a list of all is made at the same moment", async () => {
	const files = createMemoryFiles();
	const all = ["hidden", "open"];
	for (const name of all) {
		const directory = `/work/.kimi/skills/${name}`;
		await files.makeDirectory(directory);
		await files.replace(`${directory}/SKILL.md`, `---\nname: ${name}\ndescription: d\n---\ntext\n`);
	}
	const rules = [{ decision: "deny", pattern: "Read(/work/.kimi/skills/hidden/**)" }];
	const text = JSON.stringify({ permission: { rules } });
	const { configuration } = await readConfiguration({ kind: "text", text }, files, silentLog);
	let gate: Promise<void> | null = null;
	const gated: Files = {
		...files,
		async status(target: string) {
			if (target.endsWith("skills")) await gate;
			return await files.status(target);
		},
		admitting: (admit) => ({ ...files.admitting(admit), status: gated.status }),
	};
	const hostServices = createHostServices({ files: gated, clock: createFakeClock() });
	const kernel = new Kernel({ store: createMemoryStore(), configuration, hostServices });
	const list = () => kernel.findSkills("/work", plainSessionOptions.skillsDirs);
	// What the first one imports, the next one has.
	await kernel.create("/work", plainSessionOptions);

	const searching = createDeferred<void>();
	gate = searching.promise;
	const first = list();
	const creating = kernel.create("/work", plainSessionOptions);
	for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
	const second = list();
	searching.resolve();
	const session = await creating;
	for (const { skills } of await Promise.all([first, second])) expect(skills.map(({ name }) => name)).toEqual(all);
	const names = (await session.send({ type: "session.describe" })).slashCommands
		.map(({ name }) => name)
		.filter((name) => name.startsWith("skill:"));
	expect(names).toEqual(["skill:open"]);
	await kernel.close();
});
