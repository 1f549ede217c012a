// The program of the thread that reads a web page: what it is given is the page, what it posts is the text.
import { parentPort, workerData } from "node:worker_threads";
import { readPageText } from "./web-page.ts";

// A failure ends the thread with the error, which is how the one who started it hears of it.
void readPageText(workerData).then((page) => parentPort?.postMessage(page));
