/**
 * When a request was sent and no answer came, nobody knows what holds. Then nothing can be decided here, what was typed
 * stays, and the server is asked until it says how the proposal stands.
 */

const ASK_MS = 3_000;
const LOCKED = "data-locked";
const UNKNOWN =
  "The server does not answer, so whether this was decided is not known yet. Nothing can be pressed until it is; what you typed stays.";
const SILENT = "The server does not answer. Nothing can be pressed until it does; what you typed stays.";
let isLocked = false;
/** Whether a decision may have arrived although no answer did. */
let mayBeDecided = false;

const pane = () => document.getElementById("proposal");
/** @param {string} sentence */
const say = (sentence) => document.dispatchEvent(new CustomEvent("review:failed", { detail: { sentence } }));
/** @param {ParentNode | null} part @returns {string} */
const version = (part) => part?.querySelector("input[name=version]")?.getAttribute("value") ?? "";
/** @returns {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */
const fields = () => document.querySelectorAll("#proposal textarea, #proposal input[type=text], #proposal input:not([type])");

/** Keep every button from being pressed, or give back those that were. */
function lock() {
  for (const button of document.querySelectorAll("#proposal button:enabled, #undo button:enabled, #batch button:enabled")) {
    /** @type {HTMLButtonElement} */ (button).disabled = true;
    button.setAttribute(LOCKED, "");
  }
}

function unlock() {
  isLocked = mayBeDecided = false;
  for (const button of document.querySelectorAll(`button[${LOCKED}]`)) {
    /** @type {HTMLButtonElement} */ (button).disabled = false;
    button.removeAttribute(LOCKED);
  }
}

/** Ask how the shown proposal stands now. */
async function ask() {
  const id = pane()?.dataset.id ?? "0";
  const address = id === "0" ? "/queue/count" : `/proposals/${id}`;
  const answer = await fetch(address, { redirect: "manual", headers: { "HX-Request": "true" } }).catch(() => null);
  if (answer?.headers.has("HX-Redirect") || answer?.type === "opaqueredirect") {
    return say("Your session has ended. What you typed is still here: copy it, then reload the page and sign in.");
  }
  if (answer && answer.status < 500) return settle(address, await answer.text());
  setTimeout(ask, ASK_MS);
}

/** @param {string} address @param {string} html Compare what holds with what is shown, and show it where it differs. */
async function settle(address, html) {
  const wasSent = mayBeDecided;
  const now = new DOMParser().parseFromString(html, "text/html");
  const isSame = version(now) === version(pane());
  const typed = new Map([...fields()].map((field) => [field.id, field.value]));
  unlock();
  if (isSame) return say(wasSent ? "The server answers again. Nothing was decided; press again." : "The server answers again.");
  await /** @type {any} */ (window).htmx.ajax("GET", address, { target: "#proposal", swap: "outerHTML" });
  for (const field of fields()) field.value ||= typed.get(field.id) ?? "";
  say("The server answers again. This proposal was decided or changed meanwhile; this is how it stands now.");
}

/** @param {Event} event */
function doubt(event) {
  const { xhr, requestConfig } = /** @type {CustomEvent} */ (event).detail;
  mayBeDecided ||= requestConfig.verb === "post";
  if (!xhr.getResponseHeader("HX-Trigger")) say(mayBeDecided ? UNKNOWN : SILENT);
  lock();
  if (!isLocked) setTimeout(ask, ASK_MS);
  isLocked = true;
}

for (const kind of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(kind, doubt);
document.addEventListener("htmx:responseError", (event) => {
  const { xhr, requestConfig } = /** @type {CustomEvent} */ (event).detail;
  if (requestConfig.verb === "post" && [500, 502, 504].includes(xhr.status)) doubt(event);
});
// A part of the page that came meanwhile has buttons of its own, and a form is sent by keys as well.
document.addEventListener("htmx:afterSettle", () => isLocked && lock());
document.addEventListener(
  "submit",
  (event) => {
    if (!isLocked || /** @type {HTMLFormElement} */ (event.target).method !== "post") return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);
