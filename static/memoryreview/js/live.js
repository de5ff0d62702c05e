/**
 * What happens around a request: the busy mark, the cursor in the list, the focus after a swap, the toast's time, and
 * what is said when something was refused. All state stands in the page.
 */

const TOAST_MS = 12_000;
const DOUBLE_CLICK_MS = 400;
const narrow = matchMedia("(width < 900px)");

/** @returns {HTMLElement | null} */
const pane = () => document.getElementById("proposal");
/** @returns {HTMLElement[]} */
const rows = () => [...document.querySelectorAll("[data-row]")];
/** @param {Event} event @returns {any} */
const detail = (event) => /** @type {CustomEvent} */ (event).detail;

/** Where the focus was before a swap took it away: "list", "detail" or "". */
let focusWas = "";
/** @type {number} */
let toastTimer = 0;

/** Mark the row of the shown proposal, and let Tab stop at that row only. */
function markRow() {
  const shown = pane()?.dataset.id;
  for (const row of rows()) {
    const isCurrent = row.dataset.row === shown;
    isCurrent ? row.setAttribute("aria-current", "true") : row.removeAttribute("aria-current");
    row.tabIndex = isCurrent ? 0 : -1;
    if (isCurrent) row.closest("details:not([open])")?.setAttribute("open", "");
  }
  if (rows().length && !rows().some((row) => row.tabIndex === 0)) rows()[0].tabIndex = 0;
}

/** @returns {HTMLElement | undefined} */
const currentRow = () => rows().find((row) => row.getAttribute("aria-current") === "true");

/** @param {string} sentence Show a failure, and say it at once. */
function fail(sentence) {
  const alert = document.getElementById("alert");
  if (!alert) return;
  alert.textContent = sentence;
  alert.classList.remove("visually-hidden");
}

/** Take the toast away after a while, never while it is pointed at or holds the focus. */
function runToast() {
  clearTimeout(toastTimer);
  const toast = document.querySelector("[data-toast]");
  if (!toast) return;
  for (const button of toast.querySelectorAll("[data-dismiss]")) /** @type {HTMLElement} */ (button).hidden = false;
  toastTimer = setTimeout(() => {
    if (toast.matches(":hover, :focus-within")) runToast();
    else toast.remove();
  }, TOAST_MS);
}

/** Give the focus a place after a swap: what asks for it, else where it was. */
function placeFocus() {
  const asks = pane()?.querySelector("[data-focus]");
  if (asks instanceof HTMLElement && asks.offsetParent) return asks.focus();
  if (narrow.matches) return document.getElementById("title")?.focus();
  const content = document.getElementById("content");
  if (focusWas === "detail" && content) return content.focus({ preventScroll: true });
  if (focusWas && document.activeElement === document.body) (currentRow() ?? document.getElementById("title"))?.focus();
}

document.addEventListener("htmx:configRequest", (event) => {
  const { verb, parameters } = detail(event);
  if (verb !== "post") return;
  const all = rows();
  const at = all.findIndex((row) => row.dataset.row === pane()?.dataset.id);
  const next = all[at + 1] ?? all[at - 1];
  if (next) parameters.set ? parameters.set("next", next.dataset.row) : (parameters.next = next.dataset.row);
});

document.addEventListener("htmx:beforeRequest", (event) => {
  if (detail(event).target?.id !== "proposal") return;
  pane()?.setAttribute("aria-busy", "true");
  focusWas = /** @type {HTMLElement | null} */ (document.activeElement?.closest("[data-keys]"))?.dataset.keys ?? "";
  // A button is disabled while its request runs, and would drop the focus.
  if (document.activeElement?.closest(".actions")) document.getElementById("content")?.focus({ preventScroll: true });
  document.getElementById("alert")?.classList.add("visually-hidden");
});

document.addEventListener("htmx:afterRequest", () => pane()?.removeAttribute("aria-busy"));

document.addEventListener("htmx:afterSettle", () => {
  runToast();
});

// Before the page is drawn again: what had the focus may be gone with the swap.
document.addEventListener("htmx:afterSwap", (event) => {
  const target = detail(event).target;
  if (target?.matches("[data-diff]") && document.activeElement === document.body) {
    document.getElementById(target.id)?.focus({ preventScroll: true });
  }
  if (target?.id !== "proposal") return;
  const queue = document.getElementById("queue");
  if (queue) queue.dataset.shows = pane()?.dataset.id === "0" ? "list" : "proposal";
  markRow();
  placeFocus();
});

document.addEventListener("review:decided", (event) => {
  // The second half of a double click must not decide the proposal that has just come up.
  const fresh = pane();
  fresh?.classList.add("proposal--fresh");
  setTimeout(() => fresh?.classList.remove("proposal--fresh"), DOUBLE_CLICK_MS);
  const row = currentRow();
  if (detail(event).next && !rows().length) return location.reload(); // the next rows come with the page
  if (row && !narrow.matches) row.focus();
  else document.getElementById("title")?.focus();
  row?.scrollIntoView({ block: "nearest" });
});

document.addEventListener("review:failed", (event) => fail(detail(event).sentence));
document.addEventListener("htmx:responseError", (event) => {
  const { xhr } = detail(event);
  if (!xhr.getResponseHeader("HX-Trigger") && ![403, 409, 422, 503].includes(xhr.status)) {
    fail((document.getElementById("alert")?.dataset.refused ?? "").replace("{status}", xhr.status));
  }
});

document.addEventListener("click", (event) => {
  const element = /** @type {Element} */ (event.target);
  if (!element.closest("[data-dismiss]")) return;
  element.closest("[data-toast]")?.remove();
  if (document.activeElement === document.body) (currentRow() ?? document.getElementById("content"))?.focus({ preventScroll: true });
});

markRow();
runToast();
if (!narrow.matches) currentRow()?.scrollIntoView({ block: "nearest" });
if (document.activeElement === document.body && !narrow.matches) currentRow()?.focus({ preventScroll: true });
pane()?.querySelector(".actions [data-focus]")?.focus();
