// Where the page begins.
import { render } from "preact";
import { Page } from "./view/page.tsx";
import "./view/layout.ts";

const root = document.getElementById("page");
if (root !== null) render(<Page />, root);
