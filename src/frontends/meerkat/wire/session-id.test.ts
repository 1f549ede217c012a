import { expect, it } from "vitest";
import { toSessionId } from "./session-id.ts";

const id = "01936f8a-7b2c-7000-8000-000000000001";

it.each([
	[id, id],
	[id.toUpperCase(), id],
	[id.replaceAll("-", ""), id],
	[`{${id}}`, id],
	[`urn:uuid:${id}`, id],
	[`URN:UUID:${id.toUpperCase()}`, id],
	["", null],
	["01936f8a-...", null],
	[`${id}0`, null],
	[`{${id}`, null],
	[id.replace("-", ""), null],
	["g1936f8a7b2c70008000000000000001", null],
])("reads %j as a session id", (text, expected) => expect(toSessionId(text)).toBe(expected));
