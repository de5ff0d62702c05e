/**
 * Groups of alike proposals in the list: what is decided leaves its group, and what comes up next is never folded away.
 */

/** @param {Element} group @returns {HTMLInputElement} */
const pickOf = (group) => /** @type {HTMLInputElement} */ (group.querySelector("input[name=alike]"));

/** @param {Element} group @returns {HTMLInputElement[]} The boxes of all that are alike, the first one included. */
function boxesOf(group) {
  const ids = pickOf(group).value.split(",");
  const found = ids.map((id) => document.querySelector(`#row-${id} input[name=proposal]`));
  return /** @type {HTMLInputElement[]} */ (found.filter(Boolean));
}

/** @param {Event} event @returns {any} */
const detail = (event) => /** @type {CustomEvent} */ (event).detail;

/** Let each group count those that are left of it, and go with the last. */
function count() {
  for (const group of document.querySelectorAll("[data-alike]")) {
    const pick = pickOf(group);
    const left = pick.value.split(",").filter((id) => document.getElementById(`row-${id}`));
    const others = group.querySelectorAll("[data-row]").length;
    pick.value = left.join(",");
    for (const number of group.querySelectorAll("[data-others]")) number.textContent = String(others);
    for (const number of group.querySelectorAll("[data-all]")) number.textContent = String(left.length);
    if (!others) group.remove();
  }
}

// As the key is pressed, so that the list moves as its answer and not when the server has spoken.
document.addEventListener("htmx:configRequest", (event) => {
  const { verb, parameters } = detail(event);
  if (verb !== "post") return;
  const next = parameters.get ? parameters.get("next") : parameters.next;
  document.getElementById(`row-${next}`)?.closest("details:not([open])")?.setAttribute("open", "");
});

document.addEventListener("review:decided", count);

// One box stands for all of them, so that each shows whether it is among those that will be looked at.
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement)) return;
  for (const group of document.querySelectorAll("[data-alike]")) {
    const [pick, boxes] = [pickOf(group), boxesOf(group)];
    if (target === pick) boxes.forEach((box) => (box.checked = pick.checked));
    if (boxes.includes(target)) pick.checked = boxes.every((box) => box.checked);
  }
});
