// Cuts each section into slides that need no shrinking: what does not fit goes on.
const BOTTOM = 704;
const WIDTH = 1220;
const LINE = 600;  // the most characters of a line of an output
const TEXT = 14;  // the fewest pixels of a picture's text

// how narrow a picture may be: its text has 22 units in a diagram, else 12 points
const narrowest = (image) =>
  Math.ceil(image.naturalWidth * TEXT / (image.src.endsWith(".svg") ? 22 : 12 * 100 / 72));
const size = (image, width) => { image.style.width = `${Math.floor(width)}px`; };

// What a section has, in order: {node, kind, slide}; a kind is text, code or output. A
// slide: "begins" is the first of a slide, "alone" has one of its own.
function blocksOf(column) {
  const blocks = [];
  for (const cell of [...column.querySelectorAll(".jp-Cell")]) {
    const own = cell.closest("[data-slide]")?.dataset.slide;
    let slide = own;
    const add = (node, kind) => {
      const empty = !node.textContent.trim() && !node.querySelector("img");
      if (empty || node.matches("details:not(.result)")) return;
      if (kind === "code") node.classList.add("code");
      blocks.push({ node, kind: own === "answer" ? "output" : kind, slide });
      if (slide === "begins") slide = null;
    };
    for (const node of cell.querySelectorAll(".jp-MarkdownOutput > *")) {
      add(node, node.matches(".highlight") ? "code" : "text");
    }
    for (const node of cell.querySelectorAll(".jp-CodeMirrorEditor .highlight")) {
      add(node, "code");
    }
    for (const node of cell.querySelectorAll(".jp-OutputArea-output")) add(node, "output");
    cell.remove();
  }
  return blocks;
}

// Numbers and their column's head stand to the right, text to the left.
function align(table) {
  const NUMBER = /^[^\p{L}]*\d[^\p{L}]*( (to|of|a|de) [^\p{L}]*\d[^\p{L}]*)?$/u;
  const EMPTY = /^(NaN|None|[^\p{L}\d]*)$/u;
  const rows = [...table.rows].map((row) => [...row.cells].reverse());  // heads of rows span
  const body = rows.filter((row) => row[0]?.tagName === "TD");
  for (let column = 0; column < Math.max(...body.map((row) => row.length)); column++) {
    const cells = body.map((row) => row[column]).filter((cell) => cell);
    const texts = cells.map((cell) => cell.textContent.trim());
    if (!texts.some((text) => NUMBER.test(text))) continue;
    if (!texts.every((text) => NUMBER.test(text) || EMPTY.test(text))) continue;
    for (const row of rows) row[column]?.colSpan === 1 && row[column].classList.add("number");
  }
}

// A table that is wider than a slide has its longest texts cut.
function narrow(table) {
  for (let most = 80; table.offsetWidth > WIDTH && most > 10; most -= 5) {
    for (const cell of table.querySelectorAll("td, th")) {
      if (!cell.children.length && cell.textContent.length > most) {
        cell.textContent = `${cell.textContent.slice(0, most - 1).trimEnd()}…`;
      }
    }
  }
}

// Whether a line of code goes on with the statement of the line above.
const isInside = (line) => /^(\s|[)\]}])/.test(line?.textContent ?? "");
const isNarrowed = (box) => [...box.querySelectorAll("img")].some(
  (image) => image.offsetWidth < image.naturalWidth);

// Text that prints whole records has its longest lines cut.
function shorten(pre) {
  const walk = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const line = (text) => text.length > LINE ? `${text.slice(0, LINE - 1)}…` : text;
  while (walk.nextNode()) {
    walk.currentNode.data = walk.currentNode.data.split("\n").map(line).join("\n");
  }
}

// Parts of a block between which it may be cut, or nothing.
function partsOf(node) {
  const pre = node.matches("pre") ? node : node.querySelector("pre");
  if (pre) {
    if (!pre.querySelector(".line")) {
      const lines = pre.innerHTML.replace(/\n$/, "").split("\n");
      pre.innerHTML = lines.map((line) => `<span class="line">${line}\n</span>`).join("");
    }
    return [...pre.querySelectorAll(".line")];
  }
  const rows = [...node.querySelectorAll("tbody > tr")];
  return rows.length ? rows : [...node.querySelectorAll(":scope > li")];
}

// Cut off a block what does not fit below; the rest as a block of its own, or null.
function cut(block, fits) {
  const parts = partsOf(block.node), all = parts.length;
  const rest = block.node.cloneNode(true), others = partsOf(rest);
  let kept = all;
  while (kept > 1 && !fits()) parts[--kept].remove();
  if (kept > 6 && all - kept < 3) while (kept > all - 3) parts[--kept].remove();
  if (block.kind === "code") {  // best where a statement begins
    let start = kept;
    while (start > kept / 2 && isInside(others[start])) start--;
    if (start > kept / 2) while (kept > start) parts[--kept].remove();
  }
  if (kept === all) return null;
  others.slice(0, kept).forEach((part) => part.remove());
  if (rest.matches("ol")) rest.start = (rest.start || 1) + kept;
  return { ...block, node: rest };
}

// Whether a block begins a slide after another.
const isApart = (block, before) => block.slide === "begins" ||
  (block.slide === "alone") !== (before?.slide === "alone");

// Blocks that should be on one slide: a heading with what follows, a question with its
// code and outputs.
function unitsOf(blocks) {
  const units = [];
  let open = false;
  for (const [i, block] of blocks.entries()) {
    const after = blocks[i + 1]?.kind;
    if (!open || isApart(block, blocks[i - 1])) units.push([]);
    units.at(-1).push(block);
    const leads = /^H\d$/.test(block.node.tagName) || /:$/.test(block.node.textContent.trim());
    open = block.kind === "text"
      ? after === "code" || (leads && after === "text")
      : after === "output";
  }
  return units;
}

// A section's notes begin with its row of the run sheet: what to do, and from when. The
// sheet is for 45 minutes. For 15 all is shorter, and in 90 a third is for exercises.
function addCues(columns, { minutes, starts }) {
  if (!starts.length) return;  // it has no sheet
  const EXERCISES = 22;  // how long they are where all others have 45
  const isTimed = Math.max(...starts) > 0, begins = {};
  let clock = 0;
  for (const column of columns) {
    const [, start, , , title] = column.row = JSON.parse(column.dataset.row);
    if (start === null || title in begins) continue;
    begins[title] = clock;
    const end = Math.min(45, ...starts.filter((one) => one > start));
    clock += title === "Exercises" ? EXERCISES : end - start;
  }
  for (const column of columns) {
    const [, start, does, pause, title] = column.row;
    const at = minutes === 45 ? start : Math.round(begins[title] * minutes / clock);
    const cue = document.createElement("p");
    cue.textContent = does === "show" ? "Show" : "Run";
    cue.textContent += isTimed && start !== null ? ` from minute ${at}.` : ".";
    if (pause) cue.textContent += /"/.test(pause) ? ` Pause before ${pause}: vote.` : ` ${pause}.`;
    column.querySelector("aside").prepend(cue);
  }
}

function paginate(column) {
  const notes = column.querySelector(":scope > aside");
  const blocks = blocksOf(column);
  let box = null, heading = null;
  // a slide that does not begin with a heading repeats the last one
  const page = () => {
    const slide = document.createElement("section");
    box = slide.appendChild(document.createElement("div"));
    box.className = "fit";
    column.append(slide);
    if (heading) {
      const again = box.appendChild(document.createElement("h4"));
      again.className = "again";
      again.textContent = heading;
    }
  };
  const fits = () => box.offsetHeight <= BOTTOM;
  // Put blocks on the slide, and say whether they fit; pictures may become narrower.
  const put = (unit) => {
    box.append(...unit.map((block) => block.node));
    const [first, second] = box.children;
    if (first.matches(".again") && second?.matches("h1, h2, h3")) first.remove();
    box.querySelectorAll("table").forEach(narrow);
    for (const image of unit.flatMap(({ node }) => [...node.querySelectorAll("img")])) {
      size(image, Math.min(WIDTH, image.naturalWidth));
      const over = box.offsetHeight - BOTTOM;
      if (over > 0) {
        const ratio = image.naturalWidth / image.naturalHeight;
        const width = image.offsetWidth - over * ratio;
        size(image, Math.max(width - 1, Math.min(narrowest(image), image.offsetWidth)));
      }
    }
    return fits();
  };
  const take = (unit) => unit.forEach((block) => block.node.remove());
  const isEmpty = () => !box.querySelector(":scope > :not(.again)");
  const place = (unit) => {
    if (put(unit)) return;
    take(unit);
    const before = box, first = unit.findIndex((block) => block.kind === "output");
    if (!isEmpty() && box.offsetHeight < 250 && first > 0) {  // better than a line alone
      if (put(unit.slice(0, first))) { page(); place(unit.slice(first)); return; }
      take(unit);
    }
    if (!isEmpty()) page();
    if (put(unit)) return;
    take(unit);
    if (unit.length === 1) {  // longer than a slide
      put(unit);
      const rest = cut(unit[0], fits);
      if (rest) { page(); place([rest]); }
      return;
    }
    let n = unit.length - 1;  // as much of it as fits, and the others after it
    for (; n > 1 && !put(unit.slice(0, n)); n--) take(unit);
    take(unit);
    if (unit.slice(0, n).every((block) => /^H\d$/.test(block.node.tagName))) {
      put(unit.slice(0, n + 1));  // a heading has the beginning of what follows
      const rest = cut(unit[n], fits);
      const others = [...rest ? [rest] : [], ...unit.slice(n + 1)];
      if (others.length) { page(); place(others); }
      return;
    }
    if (box !== before) box.parentElement.remove();
    box = before;
    place(unit.slice(0, n));
    page();
    place(unit.slice(n));
  };
  page();
  let before = null;
  for (const unit of unitsOf(blocks)) {
    if (before && isApart(unit[0], before)) page();
    before = unit.at(-1);
    for (const { node } of unit) {
      if (/^H[123]$/.test(node.tagName)) heading = node.textContent.replace("¶", "");
    }
    box.classList.toggle("alone", before.slide === "alone");
    place(unit);
  }
  for (const slide of [...column.querySelectorAll(":scope > section")]) {
    box = slide.firstChild;
    if (isEmpty()) slide.remove();
    else slide.append(notes.cloneNode(true));
  }
  notes.remove();
  for (const block of blocks) block.node.dataset.kind = block.kind;
  if (!column.children.length) column.remove();
}

// A wide picture alone leaves a third of the slide empty: the last statements before it
// come along.
function fill(slide) {
  const box = slide.firstChild, code = slide.previousElementSibling?.firstChild?.lastChild;
  const isLow = isNarrowed(box) && box.offsetHeight < 480;
  if (!isLow || code?.dataset.kind !== "code") return;
  const lines = partsOf(code), copy = code.cloneNode(true), copies = partsOf(copy);
  box.firstChild.after(copy);  // the heading
  let first = 0;
  const drop = () => { do copies[first++].remove(); while (isInside(copies[first])); };
  while (first < lines.length && (first === 0 || box.offsetHeight > BOTTOM)) drop();
  if (first === lines.length) copy.remove();
  lines.slice(first).forEach((line) => line.remove());
}

// A picture that has room grows, and outputs and what follows them wait for a key.
function finish(slide) {
  const box = slide.querySelector(".fit"), images = [...box.querySelectorAll("img")];
  if (images.length === 1) {
    const [image] = images, ratio = image.naturalWidth / image.naturalHeight;
    const room = (BOTTOM - box.offsetHeight) * ratio + image.offsetWidth;
    if (room > image.offsetWidth) {
      size(image, Math.min(WIDTH, room, 1.3 * image.naturalWidth));
      while (box.offsetHeight > BOTTOM) size(image, image.offsetWidth - 2);
    }
  }
  let step = -1, before = null;
  for (const node of box.querySelectorAll(":scope > :not(.again)")) {
    const isOutput = node.dataset.kind === "output";
    if (isOutput !== before) step++;
    before = isOutput;
    if (step) {
      node.classList.add("fragment");
      node.dataset.fragmentIndex = step - 1;
    }
  }
  // the run sheet names a question: where it stands is where to pause
  const notes = slide.querySelector("aside"), cue = notes.firstChild;
  for (const [, words] of cue?.textContent.matchAll(/"([^"]+)"/g) ?? []) {
    if (!box.textContent.includes(words)) continue;
    const here = cue.cloneNode();
    here.textContent = `Pause on this slide: "${words}"`;
    notes.prepend(here);
  }
}

window.addEventListener("load", () => {
  document.querySelectorAll("details.result").forEach((result) => { result.open = true; });
  document.querySelectorAll("table").forEach(align);
  document.querySelectorAll(".jp-OutputArea-output pre").forEach(shorten);
  const columns = [...document.querySelectorAll(".slides > section")];
  const deck = JSON.parse(document.body.dataset.deck);
  addCues(columns, deck);
  columns.forEach(paginate);
  document.querySelectorAll(".slides > section > section").forEach(fill);
  document.querySelectorAll(".slides > section > section").forEach(finish);
  document.querySelectorAll("details.result").forEach((result) => { result.open = false; });
  document.body.classList.remove("measure");
  Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false, hash: true, slideNumber: "c/t",
    transition: "none", plugins: [RevealNotes], totalTime: 60 * deck.minutes,
  });
});
