/**
 * What the acts of the table of keys do, once `keys.js` found one: "review:act" carries its name and the key. An act that
 * is not among them presses the element that bears its name.
 */

const narrow = matchMedia("(width < 900px)");

/** @returns {HTMLElement[]} */
const rows = () => [...document.querySelectorAll("[data-row]")];
const currentRow = () => rows().find((row) => row.getAttribute("aria-current") === "true");
/** @param {string} act @returns {HTMLElement | null} */
const target = (act) => document.querySelector(`[data-act="${act}"]`);

/** @param {string} name @returns {string} What the page holds to be said, in the language of its reader. */
const words = (name) => document.getElementById("status")?.dataset[name] ?? "";

/** @param {string} sentence Tell a screen reader, and nobody else. */
function tell(sentence) {
  const status = document.getElementById("status");
  if (status) status.textContent = sentence;
}

/** @param {Element} row Open the group that it is folded into. */
const unfold = (row) => row.closest("details:not([open])")?.setAttribute("open", "");

/** @param {number} step Move the cursor in the list; the proposal beside it follows. */
function moveRow(step) {
  const all = rows();
  const focused = all.findIndex((row) => row === document.activeElement);
  const at = focused >= 0 ? focused : all.findIndex((row) => row === currentRow());
  const row = all[Math.min(all.length - 1, Math.max(0, at + step))];
  if (!row) return;
  unfold(row);
  row.focus();
  if (!narrow.matches && row !== currentRow()) row.click();
}

/** @param {number} step Move between hunks, wherever the focus is now. */
function moveHunk(step) {
  const hunks = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-hunk]")]);
  const at = hunks.findIndex((hunk) => hunk.contains(document.activeElement));
  const hunk = hunks[at < 0 ? (step > 0 ? 0 : hunks.length - 1) : at + step];
  hunk?.focus({ preventScroll: true });
  hunk?.scrollIntoView({ block: "center" });
}

/** Tick the row under the cursor for approving several together, or take the tick away. */
function selectRow() {
  const row = rows().find((one) => one === document.activeElement) ?? currentRow();
  const pick = row?.parentElement?.querySelector("input");
  pick?.click();
  tell(words(pick?.checked ? "selected" : "unselected"));
}

/** Tick all that are alike with the row under the cursor, or take the tick away. */
function selectAlike() {
  const row = rows().find((one) => one === document.activeElement) ?? currentRow();
  const item = row?.closest("[data-alike]") ?? row?.closest("li")?.nextElementSibling;
  const pick = item?.matches("[data-alike]") ? item.querySelector("input[name=alike]") : null;
  if (!(pick instanceof HTMLInputElement)) return tell(words("noneAlike"));
  pick.click();
  tell(words(pick.checked ? "selectedAlike" : "unselected"));
}

/** Close what is open, else cancel what is asked, else go back to the list. */
function goBack() {
  const sheet = document.querySelector("details.sheet[open]");
  if (sheet instanceof HTMLDetailsElement) {
    sheet.open = false;
    sheet.querySelector("summary")?.focus();
  } else if (target("cancel")) {
    target("cancel")?.click();
  } else if (narrow.matches) {
    target("back-link")?.click();
  } else {
    currentRow()?.focus();
  }
}

const refusal = () => document.getElementById("refusal")?.textContent ?? words("impossible");

/** @param {string} act Press the button, link or sheet that carries this act. */
function press(act) {
  const element = target(act);
  const pane = document.getElementById("proposal");
  if (!element) return tell(refusal());
  const row = currentRow();
  const focused = document.activeElement;
  const isBehind = focused instanceof HTMLElement && focused.dataset.row && row !== focused;
  if (pane?.getAttribute("aria-busy") === "true" || isBehind) {
    tell(words("loading"));
  } else if (element.matches(":disabled")) {
    tell(refusal());
  } else if (element.parentElement instanceof HTMLDetailsElement) {
    element.parentElement.open = !element.parentElement.open;
    /** @type {HTMLElement | null} */ (element.parentElement.querySelector("[data-first]"))?.focus();
  } else if (element instanceof HTMLInputElement) {
    element.select();
  } else {
    element.click();
  }
}

/** @param {string} key Pick a reason by its number in the form that is open. */
function pickReason(key) {
  const reason = document.querySelector(`details.sheet[open] [data-reason="${key}"], .form [data-reason="${key}"]`);
  if (!(reason instanceof HTMLElement)) return tell(words("noReasons"));
  reason.focus();
  reason.click();
}

/** @type {Record<string, (key: string) => void>} */
const acts = {
  next: () => moveRow(1),
  previous: () => moveRow(-1),
  open: () => (narrow.matches ? /** @type {HTMLElement} */ (document.activeElement)?.click() : document.getElementById("content")?.focus()),
  "next-hunk": () => moveHunk(1),
  "previous-hunk": () => moveHunk(-1),
  select: selectRow,
  "select-alike": selectAlike,
  drop: () => document.dispatchEvent(new Event("review:drop")),
  reason: pickReason,
  back: goBack,
  help: () => /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"))?.showModal(),
};

document.addEventListener("review:act", (event) => {
  const { act, key } = /** @type {CustomEvent} */ (event).detail;
  (acts[act] ?? (() => press(act)))(key);
});

document.addEventListener("click", (event) => {
  if (/** @type {Element} */ (event.target).closest('[data-act="help"]')) acts.help();
});
