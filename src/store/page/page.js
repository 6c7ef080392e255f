"use strict";
/* Makes the page from the JSON of `lockstep profile --json` (docs/reference/profile.md). Texts of programs become text nodes: nothing here writes HTML. charts.js, which
 * comes before, has the two charts and `el`, `num` and `time`. */
const data = JSON.parse(document.getElementById("data").textContent);
const devices = data.devices || [];
const findings = (data.report && data.report.findings) || [];
const state = { device: 0, kernel: 0, query: "" };
const main = document.getElementById("main");

const plural = (n, one, more) => num(n) + " " + (n === 1 ? one : more || one + "s");
const percent = permille => (permille / 10).toFixed(1) + " %";
const baseName = path => path.slice(path.lastIndexOf("/") + 1);
const shape = v => v[2] > 1 ? v.join(" x ") : v[1] > 1 ? v[0] + " x " + v[1] : String(v[0]);
const device = () => devices[state.device] || { kernels: [], operations: [], advice: [] };
const kernel = () => device().kernels[state.kernel];

/* ---- sources ---- */

/* By file: its lines, as far as they are here. */
const sources = new Map();
for (const part of data.sources || []) {
  const lines = sources.get(part.file) || new Map();
  part.text.replace(/\n$/, "").split("\n").forEach((text, k) => lines.set(part.from + k, text.replace(/\r$/, "")));
  sources.set(part.file, lines);
}

/* The place of a finding to show: of the chain of inlined calls the innermost in a file of the user's. */
function placeOf(finding) {
  const chain = [];
  for (let p = finding.place; p; p = p.inlined_at) if (p.file && p.line && sources.has(p.file)) chain.push(p);
  return chain.find(p => !p.file.includes("/include/")) || chain[0] || hostPlace(finding.host && finding.host.call);
}

/* "cudaMemcpy at app.cu:20": the only file of that name that is here with such a line; else nothing. */
function hostPlace(site) {
  const at = /at (?:.*\/)?([^/\s:]+):(\d+)/.exec(site || "");
  const fits = at ? [...sources.keys()].filter(f => baseName(f) === at[1] && sources.get(f).has(+at[2])) : [];
  return fits.length === 1 ? { file: fits[0], line: +at[2] } : null;
}

const plainName = name => { const k = device().kernels.find(x => x.name === name); return k ? k.plain : (data.names || {})[name] || name || ""; };

/* Where the second access of a race is, if at another line: it says where the first one is. */
function seconds() {
  return findings.flatMap(f => {
    const first = placeOf(f), second = f.other && placeOf({ place: f.other });
    if (!first || !second || (first.file === second.file && first.line === second.line)) return [];
    return [{ kind: f.severity, id: f.id, kernel: f.kernel, file: second.file, line: second.line, first: baseName(first.file) + ":" + first.line, finding: f }];
  });
}

/* All that is said about places: findings, and advice of all kernels of the device. */
function remarks() {
  const all = findings.map(f => {
    const p = placeOf(f);
    return { kind: f.severity, id: f.id, title: f.title, weight: f.severity === "error" ? 2000 : 1500, kernel: f.kernel, file: p && p.file, line: p && p.line, finding: f,
      where: p ? baseName(p.file) + ":" + p.line : (f.host && f.host.call) || plainName(f.kernel) };
  });
  device().kernels.forEach((k, nth) => {
    for (const a of k.advice) {
      const place = a.about === "line" && a.file ? baseName(a.file) + ":" + a.line : "launch of " + k.plain;
      all.push({ kind: "advice", id: a.id, title: a.title, weight: a.weight_permille, kernel: k.name, nth, file: a.about === "line" ? a.file : null, line: a.line, advice: a, where: place });
    }
  });
  for (const a of device().advice) {
    const p = hostPlace(a.site);
    all.push({ kind: "advice", id: a.id, title: a.title, weight: a.weight_permille, file: p && p.file, line: p && p.line, advice: a, where: a.site || "the host" });
  }
  return all;
}

function box(r) {
  const lines = [];
  if (r.first) {
    lines.push(el("p", {}, "the second side of " + r.finding.title + " at " + r.first + (r.finding.rival ? ": " + r.finding.rival.text : "")));
  } else if (r.advice) {
    const a = r.advice;
    lines.push(el("p", {}, el("strong", {}, a.title), ": " + a.why), el("p", {}, "fix: " + a.fix));
    if (a.certainty === "hardware") lines.push(el("p", { class: "faint" }, "compiler and caches decide what this costs: measure before you act"));
    if (a.certainty === "model") lines.push(el("p", { class: "faint" }, "by a model of the card, not measured"));
  } else {
    const f = r.finding;
    lines.push(el("p", {}, el("strong", {}, f.title), f.who ? ": " + f.who.text : "", f.occurrences > 1 ? " (" + num(f.occurrences) + " times)" : ""));
    const at = f.place && !r.line && f.place.ptx_text ? (f.place.ptx_file || "PTX") + ":" + f.place.ptx_line + ": " + f.place.ptx_text : "";
    for (const [name, text] of [["at", at], ["access", f.access && f.access.text], ["against", f.against && f.against.text], ["cause", f.cause], ["order", f.order], ["origin", f.origin_text],
      ["host", f.host && f.host.call], ["fix", f.fix]]) if (text) lines.push(el("p", {}, name + ": " + text));
    if (f.detail) lines.push(el("pre", {}, f.detail.trimEnd()));
  }
  return el("div", { class: "box " + r.kind, tabindex: -1 }, el("span", { class: "tag " + r.kind }, r.kind + " " + r.id), ...lines);
}

/* ---- tables that sort ---- */

/* columns: { name, value(row), show(row), number }. The table filters by the search field. */
function sortable(rows, columns, options) {
  let by = options.by, down = !options.up, chosen = options.chosen;
  const head = el("tr", {}), body = el("tbody", {});
  const text = row => columns.map(c => c.value(row)).join(" ").toLowerCase();
  function fill() {
    const list = rows.filter(r => !state.query || text(r).includes(state.query));
    const value = columns[by].value;
    list.sort((a, b) => { const x = value(a), y = value(b); return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || (options.tie ? options.tie(a, b) : 0); });
    body.replaceChildren(together(list.map(r => {
      const tr = el("tr", { tabindex: 0, class: chosen && chosen(r) ? "chosen" : "" }, ...columns.map(c => el("td", { class: (c.number ? "number " : "") + (c.class || "") }, c.show ? c.show(r) : String(c.value(r)))));
      const go = () => { options.choose(r); if (chosen) fill(); };
      tr.addEventListener("click", go);
      tr.addEventListener("keydown", e => {
        if (e.key === "Enter") go();
        if (e.key === "ArrowDown" && tr.nextSibling) tr.nextSibling.focus();
        if (e.key === "ArrowUp" && tr.previousSibling) tr.previousSibling.focus();
        if (e.key === "Enter" || e.key.startsWith("Arrow")) e.preventDefault();
      });
      return tr;
    })));
    if (!list.length) body.append(el("tr", {}, el("td", { colspan: columns.length, class: "faint" }, state.query ? "nothing here has “" + state.query + "”" : "none")));
    columns.forEach((c, k) => c.th.setAttribute("aria-sort", k === by ? (down ? "descending" : "ascending") : "none"));
  }
  columns.forEach((c, k) => {
    const press = el("button", { type: "button" }, c.name);
    press.addEventListener("click", () => { down = by === k ? !down : !!c.number; by = k; fill(); });
    c.th = el("th", { class: (c.number ? "number " : "") + (c.class || ""), scope: "col" }, press);
    head.append(c.th);
  });
  fill();
  refilters.push(fill);
  return el("div", { class: "wide" }, el("table", {}, el("thead", {}, head), body));
}
let refilters = [];

const bar = (permille, hot) => el("span", { class: "bar" + (hot ? " hot" : ""), role: "img", "aria-label": percent(permille) }, el("i", { style: "width:" + Math.min(100, permille / 10) + "%" }));

/* ---- parts of the page ---- */

function section(id, title, about, ...content) { // content: elements, or lists of them
  return el("section", { id, "aria-label": title }, el("h2", {}, title), about ? el("p", { class: "about" }, about) : "", content);
}

function remarksSection() {
  const all = remarks(), counted = device().kernels.length > 0;
  const columns = [
    { name: "kind", value: r => r.kind, show: r => el("span", { class: "tag " + r.kind }, r.kind) },
    { name: "what", class: "name", value: r => r.title + " " + r.id, show: r => [r.title, " ", el("code", { class: "faint" }, r.id)] },
    { name: "where", class: "name", value: r => r.where, show: r => el("span", { class: "code" }, r.where) },
    { name: "kernel", class: "name less", value: r => plainName(r.kernel) },
    { name: "share", number: true, class: counted ? "" : "none", value: r => r.weight, show: r => r.advice ? percent(r.weight) : "" },
  ];
  const about = counted ? "Findings of the checks first, then advice by its share of the kernel's cost, or of the modelled time. Enter goes to the place." : "What the checks have found. Enter goes to the place.";
  return section("remarks", "Findings and advice", about, sortable(all, columns, { by: 4, choose: goTo, tie: (a, b) => a.where < b.where ? -1 : a.where > b.where ? 1 : 0 }));
}

const leastOf = k => k.shapes.reduce((sum, s) => sum + Math.max(0, ...Object.values(s.least_ps)) * s.launches, 0);
function kernelsSection() {
  const list = device().kernels, all = list.reduce((sum, k) => sum + k.counts.warp_instructions, 0) || 1;
  const columns = [
    { name: "kernel", class: "name", value: k => k.plain, show: k => el("span", { class: "code" }, k.plain) },
    { name: "launches", number: true, value: k => k.launches, show: k => num(k.launches) },
    { name: "instructions", number: true, value: k => k.counts.warp_instructions, show: k => [num(k.counts.warp_instructions) + " ", bar(k.counts.warp_instructions * 1000 / all)] },
    { name: "at least", number: true, value: leastOf, show: k => time(leastOf(k)) },
    { name: "limit", value: k => limitName(k.shapes[0].limit) },
    { name: "occupancy", number: true, class: "less", value: k => k.shapes[0].occupancy.permille, show: k => percent(k.shapes[0].occupancy.permille) },
    { name: "ops / byte", number: true, class: "less", value: k => k.shapes[0].operations_per_1000_bytes, show: k => (k.shapes[0].operations_per_1000_bytes / 1000).toFixed(2) },
    { name: "advice", number: true, value: k => k.advice.length },
    { name: "findings", number: true, value: k => findings.filter(f => f.kernel === k.name).length },
  ];
  return section("kernels", "Kernels", "At least: the longest of the limits of all its launches, by the card's published peaks; no measurement. Enter shows a kernel below.",
    sortable(list, columns, { by: 2, chosen: k => k === kernel(), choose: k => { state.kernel = list.indexOf(k); showKernel(); document.getElementById("kernel").scrollIntoView(); } }));
}

const limitName = key => ({ dram: "memory", issue: "instructions", l1: "L1", shared: "shared memory" }[key] || (key || "").replace("tensor_", "tensor ") || "none");
function shapeCard(k, s, nth) {
  const most = Math.max(1, ...Object.values(s.least_ps));
  const limits = Object.entries(s.least_ps).sort((a, b) => b[1] - a[1]).flatMap(([key, ps]) => [el("span", {}, limitName(key)), bar(ps * 1000 / most, ps === most), el("span", { class: "number", style: "text-align:left" }, time(ps))]);
  const rows = [["launches", num(s.launches)], ["occupancy", percent(s.occupancy.permille) + ", " + plural(s.occupancy.ctas_per_sm, "block") + " a multiprocessor, limited by " + s.occupancy.limit],
    ["registers", s.registers ? s.registers + (s.registers_by === "ptxas" ? " by ptxas" : " at most") : "not known"],
    ["shared memory", num(s.shared_fixed_bytes + s.shared_dynamic_bytes) + " bytes"],
    ["grid", plural(s.waves.waves, "wave") + " of up to " + plural(s.waves.ctas_at_a_time, "block") + ", " + percent(s.waves.idle_permille) + " of the places empty"],
    ["intensity", (s.operations_per_1000_bytes / 1000).toFixed(2) + " operations a byte, of " + num(s.footprint_bytes) + " bytes"]];
  if (s.spill_store_bytes || s.spill_load_bytes) rows.push(["spills", num(s.spill_store_bytes) + " bytes stored, " + num(s.spill_load_bytes) + " loaded, a thread"]);
  return el("div", { class: "card" }, el("strong", {}, "grid " + shape(s.grid) + ", block " + shape(s.block)),
    el("div", { class: "parts" }, el("dl", {}, ...rows.flatMap(([t, d]) => [el("dt", {}, t), el("dd", {}, d)])), el("div", {}, el("h3", {}, "limits: the least time of a launch"), el("div", { class: "limits" }, ...limits))),
    k.advice.filter(a => a.about === "launch" && a.shape === nth).map(a => box({ kind: "advice", id: a.id, advice: a })));
}

/* Units of an access beside the least possible: "32.0 / 4.0". */
function access(line, space, unit) {
  let units = 0, least = 0, requests = 0;
  for (const a of Object.values(line[space] || {})) { units += a[unit]; least += unit === "wavefronts" ? a[unit] - a.conflicts : a.least; requests += a.requests; }
  return requests ? { each: units / requests, least: least / requests } : null;
}
function accessCell(line, space, unit) {
  const a = access(line, space, unit);
  return el("td", { class: "number less" + (a && a.each > a.least * 1.25 ? " waste" : ""), title: a ? unit + " a request, of which " + a.least.toFixed(1) + " are needed" : "" }, a ? a.each.toFixed(1) + " / " + a.least.toFixed(1) : "");
}

function instructions(line) {
  return el("table", { class: "ptx" }, el("tbody", {}, line.instructions.map(i => el("tr", {}, el("td", { class: "number" }, num(i.times)), el("td", { class: "number" }, (i.lanes / Math.max(1, i.times)).toFixed(1)), el("td", { class: "code" }, i.ptx || "")))));
}

/* The lines of one file: those in `counts` (by line), with the remarks below theirs; what lies far from both is folded. Where nothing was counted, the columns of counts
   are not shown. */
function fileTable(file, counts, notes) {
  const body = el("tbody", {}), text = sources.get(file) || new Map([...counts].map(([n, l]) => [n, l.source || ""]));
  const numbers = [...text.keys()].sort((a, b) => a - b);
  const near = new Set();
  for (const n of [...counts.keys(), ...notes.map(r => r.line)]) for (let k = n - 4; k <= n + 4; k++) near.add(k);
  const most = largest([...counts.values()].map(l => l.cost_permille), 1), said = new Map();
  for (const r of notes) { if (!said.has(r.line)) said.set(r.line, []); said.get(r.line).push(r); }
  const row = n => {
    const l = counts.get(n), tr = el("tr", { "data-file": file, "data-line": n });
    const at = el("td", { class: "at number" }, l && l.instructions.length ? el("button", { type: "button", "aria-expanded": "false", title: "the instructions of this line" }, String(n)) : String(n));
    tr.append(el("td", { class: "cost number", style: l ? "--heat:" + (0.75 * l.cost_permille / most).toFixed(3) : "" }, l ? percent(l.cost_permille) : ""),
      el("td", { class: "number less" }, l ? num(l.warp_instructions) : ""), el("td", { class: "number" }, l && l.warp_instructions ? (l.thread_instructions / l.warp_instructions).toFixed(1) : ""),
      l ? accessCell(l, "global", "sectors") : el("td", { class: "less" }), l ? accessCell(l, "shared", "wavefronts") : el("td", { class: "less" }), at, el("td", { class: "text code" }, text.get(n)));
    if (state.query && text.get(n).toLowerCase().includes(state.query)) tr.classList.add("hit");
    const press = at.querySelector("button");
    if (press) press.addEventListener("click", () => {
      const open = press.getAttribute("aria-expanded") === "true";
      press.setAttribute("aria-expanded", String(!open));
      if (open) tr.nextSibling.remove(); else tr.after(el("tr", {}, el("td", { class: "under", colspan: 7 }, el("div", {}, el("span", { class: "faint" }, "times, lanes, PTX"), instructions(l)))));
    });
    const rows = [tr];
    for (const r of said.get(n) || []) rows.push(el("tr", { class: "remark", "data-file": file, "data-line": n }, el("td", { class: "under", colspan: 7 }, box(r))));
    return rows;
  };
  for (let k = 0; k < numbers.length;) {
    if (near.has(numbers[k])) { body.append(...row(numbers[k++])); continue; }
    const from = k;
    while (k < numbers.length && !near.has(numbers[k])) k++;
    const folded = numbers.slice(from, k), gap = el("tr", { class: "gap" }), press = el("button", { type: "button" }, "… " + plural(folded.length, "line") + " …");
    press.addEventListener("click", () => gap.replaceWith(together(folded.flatMap(row))));
    gap.append(el("td", { colspan: 7 }, press));
    body.append(gap);
  }
  const head = (name, cls, title) => el("th", { class: cls, scope: "col", title: title || "" }, name);
  const table = el("table", { class: counts.size ? "source" : "source bare" }, el("thead", {}, el("tr", {}, head("cost", "number", "share of the kernel's cost: a model, for ranking"), head("warp instr.", "number less"), head("lanes", "number", "of 32, on average"),
    head("sectors", "number less", "of global memory, a request / the least possible"), head("wavefronts", "number less", "of shared memory, a request / without conflicts"), head("line", "number"), head("source", ""))), body);
  return [el("h3", {}, el("span", { class: "code", title: file }, baseName(file))), el("div", { class: "wide" }, table)];
}

function sourceParts(k) {
  const files = new Map(), notes = remarks().concat(seconds()).filter(r => r.file && r.line && (!k || !r.kernel || r.kernel === k.name));
  if (k) for (const l of k.lines) if (l.file) { if (!files.has(l.file)) files.set(l.file, new Map()); files.get(l.file).set(l.line, l); }
  for (const r of notes) if (!files.has(r.file)) files.set(r.file, new Map());
  const cost = new Map([...files].map(([f, lines]) => [f, [...lines.values()].reduce((sum, l) => sum + l.cost, 0)])), said = new Map([...files.keys()].map(f => [f, []]));
  for (const r of notes) said.get(r.file).push(r);
  const order = [...files.keys()].sort((a, b) => cost.get(b) - cost.get(a));
  return order.flatMap(f => fileTable(f, files.get(f), said.get(f)));
}

/* What is said of a kernel, or of the host, without a line that could be shown. */
function placeless(k) {
  const boxes = remarks().filter(r => !(r.file && r.line) && !(r.advice && r.advice.about === "launch") && (!k || !r.kernel || r.kernel === k.name)).map(box);
  return boxes.length ? [el("h3", {}, "without a line of the source"), boxes] : [];
}

function kernelSection(k, id) {
  const parts = sourceParts(k), lost = k ? k.lines.filter(l => !l.file) : [], cost = lost.reduce((sum, l) => sum + l.cost_permille, 0);
  return el("section", { id, "aria-label": "source" }, el("h2", {}, k ? ["Kernel ", el("span", { class: "code" }, k.plain)] : "Source"),
    k ? el("div", { class: "shapes" }, k.shapes.map((s, nth) => shapeCard(k, s, nth))) : "", placeless(k), parts, !parts.length && k ? el("p", { class: "faint" }, "No source line is known: compile with -lineinfo.") : "",
    cost ? el("details", parts.length ? {} : { open: "open" }, el("summary", {}, percent(cost) + " of the cost is in instructions without a line"), el("p", { class: "faint" }, "times, lanes, PTX"), el("div", { class: "wide" }, lost.map(instructions))) : "");
}

function showKernel() {
  if (!kernel() && !findings.length) return;
  const old = document.getElementById("kernel"), now = kernelSection(kernel(), "kernel");
  if (old) old.replaceWith(now); else main.append(now);
}

/* On paper all kernels are shown, one after the other. */
window.addEventListener("beforeprint", () => { if (kernel()) document.getElementById("kernel").after(together(device().kernels.filter(k => k !== kernel()).map((k, n) => kernelSection(k, "printed" + n)))); });
window.addEventListener("afterprint", () => main.querySelectorAll("[id^=printed]").forEach(s => s.remove()));

/* ---- going around ---- */

function mark(row) {
  for (const r of main.querySelectorAll("tr.now")) r.classList.remove("now");
  row.classList.add("now");
  row.scrollIntoView({ block: "center" });
  const inside = row.querySelector(".box") || row;
  if (!inside.hasAttribute("tabindex")) inside.setAttribute("tabindex", -1);
  inside.focus({ preventScroll: true });
}

function goTo(r) {
  const nth = device().kernels.findIndex(k => k.name === r.kernel);
  if (nth >= 0 && nth !== state.kernel) { state.kernel = nth; showKernel(); refilters.forEach(f => f()); }
  const rows = [...document.querySelectorAll("tr[data-line]")].filter(t => t.dataset.file === r.file && +t.dataset.line === r.line);
  if (rows.length) mark(rows.find(t => t.classList.contains("remark")) || rows[0]);
  else document.getElementById(r.kernel || !document.getElementById("timeline") ? "kernel" : "timeline").scrollIntoView();
}

function step(rows, by) {
  const at = rows.findIndex(r => r.classList.contains("now"));
  if (rows.length) mark(rows[(at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by + rows.length) % rows.length]);
}

const keys = [["/", "search", () => search.focus()], ["n", "next finding or advice in the source", () => step([...main.querySelectorAll("tr.remark")], 1)],
  ["p", "the one before", () => step([...main.querySelectorAll("tr.remark")], -1)], ["]", "next kernel", () => next(1)], ["[", "the kernel before", () => next(-1)],
  ["?", "these keys", () => document.getElementById("help").showModal()]];
const others = [["Enter", "in a table: go there; in the search field: next line that has it"], ["↑ ↓", "in a table: next row"], ["← →", "in the timeline: next operation"], ["+ −", "in the timeline: closer, further"]];

function next(by) {
  const n = device().kernels.length;
  if (!n) return;
  state.kernel = (state.kernel + by + n) % n;
  showKernel();
  refilters.forEach(f => f());
  document.getElementById("kernel").scrollIntoView();
}

const search = document.getElementById("search");
search.addEventListener("input", () => { state.query = search.value.trim().toLowerCase(); refilters.forEach(f => f()); showKernel(); });
search.addEventListener("keydown", e => {
  if (e.key === "Enter") { step([...main.querySelectorAll("tr.hit")], 1); search.focus({ preventScroll: true }); }
  if (e.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); search.blur(); }
});
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target === search) return;
  const key = keys.find(k => k[0] === e.key);
  if (!key) return;
  e.preventDefault();
  key[2]();
});
document.getElementById("keys").addEventListener("click", () => document.getElementById("help").showModal());
document.getElementById("keylist").append(...[...keys, ...others].flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]));

function titles() {
  const d = device(), report = data.report || { errors: 0, notes: 0 };
  const name = d.kernels.length ? d.kernels[0].plain + (d.kernels.length > 1 ? " and " + plural(d.kernels.length - 1, "other kernel") : "") : (findings[0] && plainName(findings[0].kernel)) || "report";
  document.title = shown(name) + " - Lockstep";
  document.getElementById("title").textContent = shown(name);
  const parts = [], ending = data.ending;
  if (ending && ending.exit) parts.push(`${ending.word}, exit code ${ending.exit}: ${shown(ending.why.join("; "))}`);
  if (d.card) parts.push(d.card.title, plural(d.kernels.reduce((s, k) => s + k.launches, 0), "launch", "launches"));
  if (report.verdict && !(ending && ending.exit)) parts.push(report.verdict);
  parts.push(plural(report.errors, "error"), plural(report.notes, "note"));
  if (d.card) parts.push(plural(remarks().filter(r => r.advice).length, "piece of advice", "pieces of advice"));
  document.getElementById("summary").textContent = parts.join(" · ") + (devices.length ? " · counted by Lockstep on a software GPU: counts are exact, times are least times by a model" : "");
}

function render() {
  refilters = [];
  main.replaceChildren(remarksSection());
  const d = device();
  if (d.kernels.length) main.append(kernelsSection());
  showKernel();
  if (d.operations.length) main.append(timelineSection(d));
  if (d.kernels.some(k => k.shapes.some(s => s.floating_operations && s.footprint_bytes))) main.append(rooflineSection(d));
  if (data.hardware) main.append(hardwareSection());
  if (data.pictures) main.append(picturesSection());
  const nav = document.getElementById("nav");
  nav.replaceChildren(...[...main.querySelectorAll("section")].map(s => el("a", { href: "#" + s.id }, s.id === "kernel" ? "Source" : s.getAttribute("aria-label"))));
  if (devices.length > 1) {
    const choose = el("select", { "aria-label": "device" }, ...devices.map((x, k) => el("option", k === state.device ? { value: k, selected: "selected" } : { value: k }, "device " + k + ": " + x.card.title)));
    choose.addEventListener("change", () => { state.device = +choose.value; state.kernel = 0; render(); });
    nav.append(choose);
  }
  titles();
}
render();
