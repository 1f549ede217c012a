import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, createToolPlace, type ToolPlace } from "../../../test/support/host/tool-environment.ts";
import { createSetTodoList } from "./session/set-todo-list.ts";
import { createThink } from "./session/think.ts";

let place: ToolPlace;
beforeEach(async () => {
	place = await createToolPlace();
});
afterEach(() => place.remove());

describe("SetTodoList", () => {
	it("stores the list and shows it", async () => {
		const tool = createSetTodoList(place.environment);
		expect(await call(tool, {})).toMatchObject({ is_error: false, message: "", display: [] });
		const todos = [
			{ title: "read", status: "done" },
			{ title: "write", status: "in_progress" },
		];
		expect(await call(tool, { todos })).toEqual({
			is_error: false,
			output: "Todo list updated",
			message: "Todo list updated",
			display: [{ type: "todo", items: todos }],
			extras: null,
		});
		expect(place.environment.todos.read()).toEqual(todos);
		expect(await call(tool, { todos: null })).toEqual({
			is_error: false,
			output: "Current todo list:\n- [done] read\n- [in_progress] write",
			message: "",
			display: [],
			extras: null,
		});
	});
});

describe("Think", () => {
	it("returns only a message", async () => {
		expect(await call(createThink(), { thought: "hm" })).toMatchObject({
			is_error: false,
			output: "",
			message: expect.stringMatching(/./),
		});
	});
});
