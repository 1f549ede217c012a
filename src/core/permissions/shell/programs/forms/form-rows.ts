import type { Form } from "../form.ts";

/** The same form for each name. */
export function rows(names: string, form: Form): Readonly<Record<string, Form>> {
	return Object.fromEntries(names.split(" ").map((name) => [name, form]));
}

/** Words other than options, addresses and outside paths. */
export const plainWord = /^(?![-@/])(?!.*\.\.)[\w.:@%+,=^~/ -]*$/;
