// The report, without it: nothing moves, and folded parts are opened by hand.
const all = (selector) => [...document.querySelectorAll(selector)]
const byId = (id) => document.getElementById(id)

// --- Another margin: the rule of gains_table, on the numbers of this run ---
const slider = byId("margin")
if (slider) {
  const rule = JSON.parse(slider.dataset.rule)
  slider.closest("figure").hidden = false
  slider.addEventListener("input", () => {
    const margin = Number(Number(slider.value).toPrecision(3))
    const pays = (row) => row.significant && row.expected >= margin
    const isBelow = (row) => row.most !== null && row.most < margin
    const ships = rule.rows.find(pays)
    byId("at").textContent = margin
    byId("verdict").textContent = ships
      ? ships.headline
      : rule.rows.every(isBelow) ? rule.keep : rule.undecided
  })
}

// --- The query that a link names, and those that a filter leaves ---
const openTarget = () => {
  const target = byId(location.hash.slice(1))
  for (let each = target; each; each = each.parentElement) {
    if (each.tagName === "DETAILS") each.open = true
  }
  if (target) target.scrollIntoView()
}
addEventListener("hashchange", openTarget)
openTarget()
const filter = byId("filter")
const narrow = () => {
  const word = filter.value.trim().toLowerCase()
  const order = byId("order").value
  for (const each of all(".query")) {
    const isMeant = each.textContent.toLowerCase().includes(word)
    each.hidden = !(isMeant && (!order || each.classList.contains(order)))
  }
  if (word || order) for (const each of all(".long")) each.open = true
}
if (filter) {
  filter.closest("form").hidden = false
  for (const each of [filter, byId("order")]) each.addEventListener("input", narrow)
}

// --- On paper what is folded is open; the long list stays folded, and says so ---
let opened = []
addEventListener("beforeprint", () => {
  opened = all("details:not([open]):not(.long):not(.long details)")
  for (const each of opened) each.open = true
})
addEventListener("afterprint", () => opened.forEach((each) => { each.open = false }))
