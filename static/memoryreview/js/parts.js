/**
 * Parts that are left out: what the button says then, and what goes with them. All state stands in the check boxes.
 */

/** @returns {HTMLInputElement[]} */
const boxes = () => [...document.querySelectorAll("input[data-drop]")];

/** Let the button name what it approves, and mark the rows that go with a part elsewhere. @returns {string} */
function show() {
  const all = boxes();
  const dropped = all.filter((box) => box.checked);
  const kept = `${all.length - dropped.length} of ${all.length} parts`;
  const words = document.querySelector("[data-words]");
  if (words instanceof HTMLElement && all.length) words.textContent = dropped.length ? kept : words.dataset.words ?? "";
  for (const other of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-with]"))) {
    other.toggleAttribute("data-dropped", dropped.some((box) => box.value === other.dataset.with));
  }
  return kept;
}

/** @param {string} sentence Tell a screen reader, and nobody else. */
function tell(sentence) {
  const status = document.getElementById("status");
  if (status) status.textContent = sentence;
}

/** Leave out the part that has the focus, or keep it again. */
function dropPart() {
  const hunk = document.activeElement?.closest("[data-hunk]");
  const marks = "[data-drop], [data-with]";
  const mark = hunk?.querySelector(marks) ?? hunk?.closest(".document")?.querySelector(`:scope > .portion :is(${marks})`);
  const number = mark instanceof HTMLInputElement ? mark.value : mark?.getAttribute("data-with");
  const box = boxes().find((one) => one.value === number);
  box ? box.click() : tell("This is approved or rejected as a whole.");
}

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || !box.matches("[data-drop]")) return;
  const kept = show();
  tell(`${box.checked ? "Left out" : "Kept"}. Approving writes ${kept}.`);
});

document.addEventListener("review:drop", dropPart);
document.addEventListener("htmx:afterSettle", show);
show();
