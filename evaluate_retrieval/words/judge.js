"use strict";
// The page on which a person judges. All that it knows is in #data; grades are kept in
// the browser at once, one item for each pair, so that two pages of a person never
// overwrite each other. It asks for nothing outside; a page that was served sends what
// it has kept to its own server.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const isSettling = data.mode === "settle";
const base = `evaluate-retrieval/${data.folder}/${data.person}/`;
const keys = new Map(data.scale.map((each) => [each.key, each]));
const LONG = 1800; // characters of a document that are shown without folding
const PART = 600; // of a part of it that is folded or not
const SLOWEST = 120; // seconds; who takes longer was away
const CANNOT_TELL = "?";

// --- What is kept ---------------------------------------------------------------

const memory = new Map(); // where the browser keeps nothing
let isKept = true;

function keep(name, value) {
  const text = JSON.stringify(value);
  memory.set(base + name, text);
  try {
    localStorage.setItem(base + name, text);
  } catch {
    isKept = false;
    $("unkept").hidden = false;
  }
}

function kept(name) {
  let text = null;
  try {
    text = localStorage.getItem(base + name);
  } catch {
    isKept = false;
  }
  try {
    return JSON.parse(text ?? memory.get(base + name) ?? "null");
  } catch {
    return null; // somebody else's
  }
}

const pairs = data.pairs.map(([number, id, given], place) => {
  const query = data.queries[number];
  const doc = data.documents[id];
  const name = `pair/${JSON.stringify([query.query_id, id, doc.hash])}`;
  return { place, number, query, id, doc, given: given ?? [], name };
});
const graded = (pair) => kept(pair.name);
const wantOf = (query) => kept(`want/${query.query_id}`) ?? query.want ?? "";

// --- Which pair comes next ------------------------------------------------------

let at = null; // the pair at hand; null when all are judged
let trail = []; // the pairs that were judged, the last one last

function isOpen(pair) {
  const grade = graded(pair);
  return !grade && !data.done.includes(pair.place);
}

const comesBack = (pair) => {
  const grade = graded(pair);
  return grade?.g === CANNOT_TELL && grade.times === 1;
};

function next() {
  return pairs.find(isOpen) ?? pairs.find(comesBack) ?? null;
}

function byTime() {
  const done = pairs.filter(graded);
  return done.sort((a, b) => (graded(a).t < graded(b).t ? -1 : 1));
}

function judge(grade) {
  if (!at) return;
  const before = graded(at);
  const isAgain = before?.g === CANNOT_TELL && grade === CANNOT_TELL;
  const note = $("note").value.trim();
  keep(at.name, {
    g: grade,
    t: now(before?.t),
    n: note,
    times: isAgain ? before.times + 1 : 1,
  });
  send(at);
  trail = trail.filter((pair) => pair !== at);
  trail.push(at);
  const word = keys.get(grade)?.says ?? (grade === CANNOT_TELL ? "cannot tell" : grade);
  let told = `${word}, kept. u goes back`;
  if (grade === CANNOT_TELL) {
    told = isAgain ? "it stays open. u goes back" : "it comes back at the end. u goes back";
  }
  say(told);
  at = next();
  show();
}

function undo() {
  const place = trail.indexOf(at);
  const earlier = place < 0 ? trail.length - 1 : place - 1;
  if (earlier < 0) {
    say("this is the first one");
    return;
  }
  at = trail[earlier];
  go("judge");
  const grade = graded(at);
  say(`back: it was ${keys.get(grade.g)?.says ?? "cannot tell"}`);
}

// the time as rows have it; a clock may be set back, and the later grade counts
function now(before) {
  const time = new Date().toISOString();
  return before && before >= time
    ? new Date(Date.parse(before) + 1).toISOString()
    : time;
}

// --- How long it takes ----------------------------------------------------------

function pace() {
  const times = byTime().map((pair) => Date.parse(graded(pair).t) / 1000);
  const steps = times.slice(1).map((time, n) => Math.min(time - times[n], SLOWEST));
  if (steps.length < 5) return data.seconds;
  steps.sort((a, b) => a - b);
  return Math.max(1, steps[Math.floor(steps.length / 2)]);
}

function secondsSpent() {
  const times = byTime().map((pair) => Date.parse(graded(pair).t) / 1000);
  const steps = times.slice(1).map((time, n) => Math.min(time - times[n], SLOWEST));
  return steps.reduce((sum, step) => sum + step, data.seconds);
}

// how many queries so much time completes: the pairs of one stand together
function completedIn(seconds) {
  const last = new Map(pairs.map((pair) => [pair.number, pair.place]));
  const open = pairs.filter(isOpen);
  const n = Math.floor(seconds / pace());
  const reached = n >= open.length ? Infinity : open[n].place;
  return [...last.values()].filter((place) => place < reached).length;
}

const nQueries = new Set(pairs.map((pair) => pair.number)).size;
const nJudged = () => pairs.filter((pair) => !isOpen(pair)).length;
const minutes = (seconds) => Math.max(1, Math.round(seconds / 60));
const counted = (n, one, more) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

// --- The texts ------------------------------------------------------------------

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function isMarked(word, stems) {
  const small = word.toLowerCase();
  return stems.some((stem) => {
    const longest = stem.length + Math.min(4, stem.length); // to: no tomorrow
    return small.startsWith(stem) && small.length <= longest;
  });
}

// a text with the words of the query marked; it is never read as HTML
function marked(parent, text, stems) {
  for (const part of text.split(/([\p{L}\p{N}_]+)/u)) {
    const isWord = /^[\p{L}\p{N}_]/u.test(part) && isMarked(part, stems);
    if (isWord) parent.append(element("mark", part));
    else if (part) parent.append(part);
  }
  return parent;
}

// parts of a text: paragraphs, and code between fences; long ones are cut at blanks
function partsOf(text) {
  const parts = [];
  text.split(/^```.*$/m).forEach((block, number) => {
    const isCode = number % 2 === 1;
    const pieces = isCode ? [block] : block.split(/\n\s*\n/);
    for (const piece of pieces) {
      let rest = piece.replace(/^\n+|\s+$/g, "");
      while (rest.length > 2 * PART) {
        const end = rest.slice(PART, 2 * PART).search(/\s/);
        const cut = end < 0 ? PART : PART + end;
        parts.push({ isCode, text: rest.slice(0, cut) });
        rest = rest.slice(cut).trimStart();
      }
      if (rest) parts.push({ isCode, text: rest });
    }
  });
  return parts;
}

function hits(text, stems) {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return new Set(words.filter((word) => isMarked(word, stems)).map((w) => w.toLowerCase()))
    .size;
}

// which parts are shown at first: the beginning, and those with the query's words
function shownFirst(parts, stems) {
  const order = parts.map((part, place) => ({ place, n: hits(part.text, stems) }));
  order.sort((a, b) => (b.place === 0) - (a.place === 0) || b.n - a.n || a.place - b.place);
  const shown = new Set();
  let length = 0;
  for (const { place, n } of order) {
    if (length > LONG || (shown.size && !n)) break;
    shown.add(place);
    length += parts[place].text.length;
  }
  return shown;
}

function showText(parent, text, stems) {
  const parts = partsOf(text);
  const isLong = text.length > LONG + PART;
  const shown = isLong ? shownFirst(parts, stems) : null;
  let folded = null;
  parts.forEach((part, place) => {
    const made = marked(element(part.isCode ? "pre" : "p"), part.text, stems);
    if (part.isCode) made.tabIndex = 0; // so that keys can move it
    if (!isLong || shown.has(place)) {
      folded = null;
      parent.append(made);
      return;
    }
    if (!folded) {
      folded = element("details");
      folded.append(element("summary"));
      parent.append(folded);
    }
    folded.append(made);
    const n = folded.children.length - 1;
    folded.firstChild.textContent = `${counted(n, "more part", "more parts")} of this document`;
  });
}

// --- The screens ----------------------------------------------------------------

function go(screen) {
  for (const each of document.querySelectorAll("main > section")) {
    each.hidden = each.id !== screen;
  }
  const isJudging = screen === "judge" || screen === "practice";
  $("bar").hidden = !isJudging;
  $("keys").hidden = !isJudging;
  $("pair").hidden = !isJudging;
  $("want-row").hidden = screen !== "judge";
  $("again").hidden = screen === "practice";
  if (screen === "judge") show();
  if (screen === "practice") showPractice();
  if (screen === "start") showStart();
  if (screen === "done") showDone();
}

const isOn = (screen) => !$(screen).hidden;

function focusOn(id) {
  $(id).focus({ preventScroll: true });
  scrollTo(0, 0);
}

function showStart() {
  const n = pairs.length - nJudged();
  const seconds = n * pace();
  const inTime = completedIn(data.minutes * 60);
  $("how-many").textContent =
    `${counted(pairs.length, "pair", "pairs")} of ${counted(nQueries, "query", "queries")}, ` +
    `${n.toLocaleString("en")} still to judge: about ${counted(minutes(seconds), "minute", "minutes")} ` +
    `at ${Math.round(pace())} seconds a pair.`;
  $("in-time").hidden = isSettling;
  $("in-time").textContent =
    `In ${data.minutes} minutes you complete about ${inTime.toLocaleString("en")} of the ` +
    `${counted(nQueries, "query", "queries")}. Only complete queries count.`;
  const isNew = n === pairs.length;
  $("begin").textContent = isNew ? "Begin" : "Go on";
  $("try").hidden = !data.practice.length;
}

function setBar(done, all, told) {
  $("bar-part").max = Math.max(1, all);
  $("bar-part").value = done;
  $("bar-count").textContent = `${done.toLocaleString("en")} of ${all.toLocaleString("en")}`;
  $("bar-told").textContent = told;
}

function showPair(query, title, text, given) {
  $("query").textContent = query.query;
  $("history").replaceChildren();
  for (const line of (query.history ?? "").split("\n").filter(Boolean)) {
    $("history").append(element("p", `earlier: ${line}`));
  }
  const parent = $("document");
  parent.replaceChildren(marked(element("h2"), title || "Document", query.words));
  showText(parent, text, query.words);
  $("given").replaceChildren();
  for (const { grade, note } of given) {
    const card = element("div", undefined, "card");
    card.append(element("b", grade), element("span", ` ${keys.get(grade)?.says ?? ""}`));
    card.append(element("p", note ? `“${note}”` : "no note"));
    $("given").append(card);
  }
}

function show() {
  if (!at) {
    go("done");
    return;
  }
  const grade = graded(at);
  const ofQuery = pairs.filter((pair) => pair.number === at.number);
  const numbers = [...new Set(pairs.map((pair) => pair.number))];
  const open = pairs.filter(isOpen);
  const left = minutes(Math.max(1, open.length) * pace());
  const ofThis = ofQuery.filter(isOpen).length;
  setBar(nJudged(), pairs.length, `about ${counted(left, "minute", "minutes")} left`);
  $("place").textContent =
    `Query ${numbers.indexOf(at.number) + 1} of ${numbers.length}, ` +
    `pair ${ofQuery.indexOf(at) + 1} of ${ofQuery.length}; ` +
    `${ofThis} left of this query.`;
  showPair(at.query, at.doc.title, at.doc.text, at.given);
  $("want").value = wantOf(at.query);
  $("note").value = grade?.n ?? "";
  $("note-row").hidden = !$("note").value && !isSettling;
  for (const button of document.querySelectorAll("[data-grade]")) {
    button.setAttribute("aria-pressed", String(button.dataset.grade === grade?.g));
  }
  focusOn("query");
}

let tried = 0; // practice pairs

function showPractice() {
  const pair = data.practice[tried];
  setBar(tried, data.practice.length, "practice: these do not count");
  $("place").textContent = `Practice pair ${tried + 1} of ${data.practice.length}.`;
  showPair(pair, pair.title, pair.text, []);
  $("answer").hidden = true;
  $("note-row").hidden = true;
  focusOn("query");
}

function practise(grade) {
  const pair = data.practice[tried];
  if (!$("answer").hidden) {
    tried += 1;
    if (tried < data.practice.length) showPractice();
    else go("judge");
    return;
  }
  const yours = keys.get(grade)?.says ?? "cannot tell";
  const agreed = keys.get(pair.grade)?.says ?? pair.grade;
  const isSame = grade === pair.grade;
  $("answer").textContent = isSame
    ? `Agreed: ${agreed}. Any key goes on.`
    : `You: ${yours}. Agreed: ${agreed}. Any key goes on.`;
  $("answer").hidden = false;
}

function showDone() {
  const counts = new Map();
  for (const pair of pairs) {
    const grade = graded(pair)?.g;
    if (grade) counts.set(grade, (counts.get(grade) ?? 0) + 1);
  }
  const n = pairs.filter(graded).length;
  const time = counted(minutes(secondsSpent()), "minute", "minutes");
  const spent = n < nJudged() ? `, ${n} of them in this browser` : ` in ${time}`;
  $("thanks").textContent = isSettling
    ? `${counted(n, "pair is", "pairs are")} settled.`
    : `Done: ${counted(nJudged(), "pair", "pairs")}${spent}. Thank you, ${data.person}.`;
  $("spread").replaceChildren();
  for (const { key, says } of [...data.scale, { key: CANNOT_TELL, says: "cannot tell" }]) {
    const row = element("tr");
    const share = n ? (counts.get(key) ?? 0) / n : 0;
    const meter = element("meter");
    meter.value = share;
    meter.setAttribute("aria-label", says);
    const cell = element("td");
    cell.append(meter);
    row.append(element("th", says), cell, element("td", String(counts.get(key) ?? 0)));
    row.firstChild.scope = "row";
    $("spread").append(row);
  }
  focusOn("thanks");
  tellOthers();
}

async function tellOthers() {
  if (!data.post) return;
  const answer = await fetch(`left?seat=${data.seat}`).catch(() => null);
  $("others").textContent = answer?.ok ? await answer.text() : "";
}

// --- Said for a moment ----------------------------------------------------------

let timer = 0;

function say(text) {
  $("toast").textContent = text;
  $("toast").classList.add("on");
  clearTimeout(timer);
  timer = setTimeout(() => $("toast").classList.remove("on"), 1500);
}

// --- The file -------------------------------------------------------------------

const COLUMNS = "query_id query course kind document grade judge time note want text";
// what a spreadsheet would compute gets a ' before it, as in every file of ours
const harmless = (text) => (/^\s*[=+\-@]/.test(text) ? `'${text}` : text);

function cell(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function rowOf(pair) {
  const grade = graded(pair);
  const line = (text) => harmless(text.replace(/[\r\n]+/g, " "));
  return {
    ...pair.query.cells,
    document: pair.doc.cell,
    grade: keys.get(grade.g)?.grade ?? grade.g,
    judge: data.person,
    time: grade.t,
    note: line(grade.n ?? ""),
    want: line(wantOf(pair.query)),
    text: pair.doc.hash,
  };
}

function csv() {
  const names = COLUMNS.split(" ");
  const rows = byTime().map((pair) => {
    const row = rowOf(pair);
    return names.map((name) => cell(row[name])).join(",");
  });
  return [names.join(","), ...rows, ""].join("\n");
}

function save() {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  link.download = data.file;
  document.body.append(link);
  link.click();
  link.remove();
  say(`saved as ${data.file}`);
}

// --- The server, if one has brought the page ------------------------------------

const RETRY = 3000; // milliseconds after which a lost connection is tried again
let isSending = false;

const unsent = () =>
  data.post ? byTime().filter((pair) => kept(`sent/${pair.name}`) !== graded(pair).t) : [];

// one grade after another, in the order of their times; what fails is sent again
async function sendAll() {
  if (isSending) return;
  isSending = true;
  try {
    for (let [pair] = unsent(); pair; [pair] = unsent()) {
      const row = rowOf(pair);
      const answer = await fetch(data.post, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Seat": data.seat },
        body: JSON.stringify(row),
      });
      if (!answer.ok) throw new Error(await answer.text());
      keep(`sent/${pair.name}`, row.time);
    }
    $("unsent").hidden = true;
  } catch (error) {
    $("unsent").hidden = false;
    $("why").textContent = String(error.message).slice(0, 200);
    setTimeout(sendAll, RETRY);
  }
  isSending = false;
}

function send() {
  if (data.post) sendAll();
}

// --- Print ----------------------------------------------------------------------

// a sheet with all pairs, for a room without computers
function fillSheet() {
  const sheet = $("sheet-pairs");
  sheet.replaceChildren();
  let number = -1;
  for (const pair of pairs) {
    if (pair.number !== number) sheet.append(element("h2", pair.query.query));
    number = pair.number;
    const block = element("div", undefined, "of-sheet");
    const boxes = data.scale.map((each) => `☐ ${each.key}`).join("   ");
    block.append(element("p", `${pair.place + 1}   ${boxes}   ☐ ?`, "boxes"));
    block.append(element("h3", pair.doc.title || "Document"));
    const text = pair.doc.text;
    block.append(element("p", text.length > PART ? `${text.slice(0, PART)} …` : text));
    sheet.append(block);
  }
}

// --- Keys and buttons -----------------------------------------------------------

const ACTIONS = {
  u: undo,
  n: () => {
    $("note-row").hidden = false;
    $("note").focus();
    $("note").scrollIntoView({ block: "center" });
  },
  e: () => $("want").focus(),
  f: () => {
    const folded = [...document.querySelectorAll("#document details")];
    const isAnyShut = folded.some((each) => !each.open);
    for (const each of folded) each.open = isAnyShut;
  },
  g: () => $("rule").showModal(),
};

function press(key) {
  if (isOn("practice")) {
    if (key === "g") ACTIONS.g();
    else if (keys.has(key) || key === CANNOT_TELL || !$("answer").hidden) practise(key);
  } else if (isOn("judge")) {
    if (keys.has(key) || key === CANNOT_TELL) judge(key);
    else ACTIONS[key]?.();
  } else if (isOn("done") && key === "u") {
    undo();
  }
}

document.addEventListener("keydown", (event) => {
  const isText = /^(INPUT|TEXTAREA)$/.test(event.target.tagName);
  if (isText && (event.key === "Escape" || event.key === "Enter")) {
    event.preventDefault();
    focusOn("query");
  }
  // a key that is held down counts once
  const isOurs = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
  if (isText || !isOurs || $("rule").open || event.key.length > 1) return;
  const key = event.key.toLowerCase();
  if (key === " ") return; // it presses the button that has the focus
  if (key in ACTIONS) event.preventDefault(); // n would be typed where it leads
  press(key);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button || event.detail > 1) return; // the second of a double click
  const { press: key, to } = button.dataset;
  if (key) press(key);
  if (to === "judge") at = next();
  if (to) go(to);
});

$("want").addEventListener("change", () => {
  keep(`want/${at.query.query_id}`, $("want").value.trim());
});
$("note").addEventListener("change", () => {
  const grade = at && graded(at);
  if (!grade) return; // it is kept with the grade
  keep(at.name, { ...grade, n: $("note").value.trim(), t: now(grade.t) });
  send(at);
});
$("save").addEventListener("click", save);
$("save-again").addEventListener("click", save);
$("close").addEventListener("click", () => $("rule").close());

// another page of the same person has judged
addEventListener("storage", () => {
  trail = byTime();
  if (isOn("start")) showStart();
  if (isOn("judge") && (!at || graded(at))) {
    at = next();
    show();
  }
});
addEventListener("beforeprint", fillSheet);
addEventListener("online", send);

trail = byTime();
at = next();
send();
go(at ? "start" : "done");
