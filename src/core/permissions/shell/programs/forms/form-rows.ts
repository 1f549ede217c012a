import type { Form } from "../form.ts";

export function rows(names: string, form: Form): Readonly<Record<string, Form>> {
	return Object.fromEntries(names.split(" ").map((name) => [name, form]));
}

/** Words other than options, addresses and outside paths. */
export const plainWord = /^(?![-@/])(?!.*\.\.)[\w.:@%+,=^~/ -]*$/;
