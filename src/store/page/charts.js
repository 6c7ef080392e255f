"use strict";
/* Helpers for elements and numbers, and the two charts: the timeline of a program, and the roofline of a card. */

/* Text of others as it is shown: controls, and what is invisible or turns the direction of the text around it, are spelled out, as in reports (base/printable.h). */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}]/gu;
const shown = text => typeof text === "string" ? text.replace(hidden, c => c < "\x80" ? "\\x" + c.codePointAt(0).toString(16).padStart(2, "0") : "\\u" + c.codePointAt(0).toString(16).padStart(4, "0")) : text;

/* An element: attributes, then children, which are elements, texts or lists of these, of any length. A text never becomes HTML. */
function el(name, attributes, ...children) { return fillElement(document.createElement(name), attributes, children); }
function svg(name, attributes, ...children) { return fillElement(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children); }
function fillElement(e, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) if (value !== "") e.setAttribute(key, key === "src" || key === "href" ? value : shown(value));
  for (const c of children.flat(Infinity)) if (c !== "" && c !== null && c !== undefined) e.append(shown(c));
  return e;
}
/* A list of elements for a call that takes them one by one: a call has no room for more than some ten thousand. */
function together(list) { const all = document.createDocumentFragment(); for (const e of list) all.append(e); return all; }
const largest = (list, least) => list.reduce((a, b) => b > a ? b : a, least), smallest = (list, most) => list.reduce((a, b) => b < a ? b : a, most);

/* 1234 -> "1,234"; 1572864 -> "1.57 M". */
function num(n) {
  if (n < 100000) return Math.round(n).toLocaleString("en");
  const k = Math.min(5, Math.floor(Math.log10(n) / 3));
  return (n / 1000 ** k).toPrecision(3) + " " + ["", "k", "M", "G", "T", "P"][k];
}
/* Picoseconds -> "15.4 us". */
function time(ps) {
  if (!ps) return "0";
  const k = ps < 1 ? 0 : Math.min(4, Math.floor(Math.log10(ps) / 3));
  return (ps / 1000 ** k).toPrecision(3).replace(/e\+3$/, "000") + " " + ["ps", "ns", "us", "ms", "s"][k];
}

/* ---- the timeline ---- */

const AT_ONCE = 2000; /* operations that are drawn */
const kindName = { launch: "launch", copy_to_device: "copy to the device", copy_from_device: "copy from the device", copy_on_device: "copy on the device", fill: "fill",
  host_function: "function of the host", event_record: "event", stream_wait: "wait for an event", graph_launch: "graph", synchronise: "the host waits for all", synchronise_stream: "the host waits for a stream",
  synchronise_event: "the host waits for an event" };
const streamName = n => n ? "stream " + n : "legacy stream";

function operationText(o, d) {
  const k = d.kernels.find(x => x.name === o.kernel), parts = [kindName[o.kind] || o.kind];
  if (k || o.kernel) parts.push((k ? k.plain : o.kernel) + " <<<" + o.grid.join("x") + ", " + o.block.join("x") + ">>>");
  if (o.bytes) parts.push(num(o.bytes) + " bytes" + (o.pageable ? " of pageable memory" : ""));
  if (o.graph) parts.push((o.kind === "graph_launch" ? "launch " : "node of graph launch ") + o.graph);
  if (!o.kind.startsWith("synchronise")) parts.push(streamName(o.stream));
  if (o.event) parts.push("event " + o.event);
  parts.push(time(o.start_ps) + " to " + time(o.end_ps));
  if (o.site) parts.push(o.site);
  return parts.join(", ");
}

/* One drawing of operations from..from + AT_ONCE, `zoom` times as wide as the page. */
function timelineDrawing(d, from, zoom, told) {
  const ops = d.operations.slice(from, from + AT_ONCE);
  const left = 110, row = 30, streams = [...new Set(ops.filter(o => !o.kind.startsWith("synchronise")).map(o => o.stream))].sort((a, b) => a - b);
  const begin = smallest(ops.map(o => o.call_ps === undefined ? o.start_ps : o.call_ps), Infinity), end = largest(ops.map(o => o.end_ps), begin + 1);
  const width = Math.max(320, (main.clientWidth - 30)) * zoom, height = (streams.length + 1) * row + 26;
  const x = ps => left + (ps - begin) / (end - begin) * (width - left - 12);
  const drawing = svg("svg", { width, height, role: "group", "aria-label": "timeline by a model" });
  const ticks = Math.max(2, Math.floor((width - left) / 110));
  for (let k = 0; k <= ticks; k++) {
    const ps = begin + (end - begin) * k / ticks;
    drawing.append(svg("line", { class: "grid", x1: x(ps), x2: x(ps), y1: 0, y2: height - 18 }), svg("text", { class: "faint", x: x(ps), y: height - 4, "text-anchor": k ? (k === ticks ? "end" : "middle") : "start" }, time(ps)));
  }
  ["host", ...streams.map(streamName)].forEach((name, k) => drawing.append(svg("text", { x: 4, y: k * row + 19 }, name), svg("line", { class: "grid", x1: 0, x2: width, y1: (k + 1) * row, y2: (k + 1) * row })));
  const shapes = [];
  for (const o of ops) {
    const host = o.kind.startsWith("synchronise"), y = (host ? 0 : streams.indexOf(o.stream) + 1) * row + 5, w = x(o.end_ps) - x(o.start_ps);
    const say = operationText(o, d);
    if (o.call_ps !== undefined && o.return_ps > o.call_ps && !host && !(o.graph && o.kind !== "graph_launch")) {
      const waits = x(o.return_ps) - x(o.call_ps);
      drawing.append(svg("rect", { class: o.waits ? "waiting" : "call", x: x(o.call_ps), y: o.waits ? 9 : 5, width: Math.max(1, waits), height: o.waits ? 12 : 20, opacity: o.waits ? "" : "0.55" }, svg("title", {}, say)));
    }
    const still = o.end_ps === o.start_ps && !host;
    /* a graph is a frame; of its nodes, which may run side by side, launches are in the upper half */
    const half = o.graph && o.kind !== "graph_launch", top = o.kind === "graph_launch" ? y - 3 : half && o.kind !== "launch" ? y + 11 : y, tall = o.kind === "graph_launch" ? row - 4 : half ? 9 : row - 10;
    const s = still ? svg("path", { d: `M${x(o.start_ps) - 4},${y} h8 l-4,8 z` }) : svg("rect", { x: x(o.start_ps), y: top, width: Math.max(1.5, w), height: tall, rx: Math.min(3, w / 3) });
    s.setAttribute("class", "op " + (host ? "waiting" : o.kind));
    s.setAttribute("tabindex", shapes.length ? -1 : 0);
    s.setAttribute("role", "img");
    s.setAttribute("aria-label", say);
    s.append(svg("title", {}, say));
    s.addEventListener("focus", () => { told.textContent = say; });
    s.addEventListener("click", () => { s.focus(); told.textContent = say; });
    s.addEventListener("keydown", e => {
      const to = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0, at = shapes.indexOf(s) + to;
      if (!to || !shapes[at]) return;
      e.preventDefault();
      shapes[at].focus();
      shapes[at].scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    shapes.push(s);
    drawing.append(s);
  }
  return drawing;
}

function timelineSection(d) {
  let from = 0, zoom = 1;
  const told = el("p", { id: "told", class: "code", "aria-live": "polite" }, "An operation says here what it is."), place = el("div", { class: "wide chart" }), tools = el("div", { class: "tools" });
  const draw = () => place.replaceChildren(timelineDrawing(d, from, zoom, told));
  const button = (name, does) => { const b = el("button", { type: "button" }, name); b.addEventListener("click", () => { does(); draw(); }); return b; };
  const closer = () => { zoom = Math.min(32, zoom * 2); }, further = () => { zoom = Math.max(1, zoom / 2); };
  tools.append(button("closer ( + )", closer), button("further ( − )", further));
  if (d.operations.length > AT_ONCE) {
    const which = el("span", { class: "faint" }, "operations 1 to " + AT_ONCE + " of " + d.operations.length);
    const move = by => { from = Math.max(0, Math.min(d.operations.length - 1, from + by * AT_ONCE)); from -= from % AT_ONCE; which.textContent = "operations " + (from + 1) + " to " + Math.min(from + AT_ONCE, d.operations.length) + " of " + d.operations.length; };
    tools.append(button("earlier", () => move(-1)), button("later", () => move(1)), which);
  }
  place.addEventListener("keydown", e => {
    if (!"+=-−".includes(e.key)) return;
    e.preventDefault();
    if ("+=".includes(e.key)) closer(); else further();
    draw();
    place.querySelector(".op").focus();
  });
  const legend = el("div", { class: "legend" }, ...[["launch", "launch"], ["to", "copy to the device"], ["from", "copy from it"], ["on", "copy on it"], ["fill", "fill"], ["host", "call of the host, event"], ["waiting", "the host waits"]].map(([v, name]) => el("span", {}, el("i", { style: "background:var(--" + v + ")" }), name)));
  const list = el("details", {}, el("summary", {}, "as text"), el("ol", { class: "code" }, d.operations.slice(0, AT_ONCE).map(o => el("li", {}, operationText(o, d)))));
  const more = d.operations_left_out ? " " + d.operations_left_out + " further operations were not noted." : "";
  draw();
  window.addEventListener("resize", draw);
  return section("timeline", "Timeline", "By a clock model, nothing is measured: the work of a launch takes the least time that its footprint and its operations need at the card's published peaks, a lower bound; a copy its bytes at the rate of the bus; calls, launches and copies cost a fixed time each." + more,
    place, told, tools, legend, list);
}

/* ---- the roofline ---- */

function rooflinePoints(d) {
  const points = [];
  for (const k of d.kernels)
    for (const s of k.shapes) {
      const ps = Math.max(0, ...Object.values(s.least_ps));
      if (!s.floating_operations || !s.footprint_bytes || !ps) continue;
      points.push({ name: k.plain, at: s.floating_operations / s.footprint_bytes, rate: s.floating_operations / ps * 1000, limit: limitName(s.limit) });
      const m = measuredOf(k);
      if (m && m.duration_ps) points.push({ name: k.plain + ", measured", at: s.floating_operations / s.footprint_bytes, rate: s.floating_operations / m.duration_ps * 1000, measured: true });
    }
  return points;
}

function rooflineSection(d) {
  const points = rooflinePoints(d), peaks = Object.entries(d.card.peak_gops), slope = d.card.memory_gbs;
  const top = Math.max(...peaks.map(p => p[1])), xs = points.map(p => p.at).concat(peaks.map(p => p[1] / slope)), ys = points.map(p => p.rate);
  const low = 2 ** Math.floor(Math.log2(smallest(xs, Infinity)) - 1), high = 2 ** Math.ceil(Math.log2(largest(xs, 0)) + 1), floor = 10 ** Math.floor(Math.log10(smallest(ys, low * slope))), roof = 10 ** Math.ceil(Math.log10(top * 1.2));
  const width = 860, height = 420, left = 74, bottom = 40, x = v => left + Math.log(v / low) / Math.log(high / low) * (width - left - 140), y = v => 10 + Math.log(roof / v) / Math.log(roof / floor) * (height - bottom - 10);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", style: "max-width:1000px;min-width:560px", role: "img", "aria-label": "roofline by the card's published peaks" });
  for (let v = low, k = 0; v <= high * 1.001; v *= 2, k++) {
    drawing.append(svg("line", { class: "grid", x1: x(v), x2: x(v), y1: y(roof), y2: y(floor) }));
    if (k % 2 === 0) drawing.append(svg("text", { class: "faint", x: x(v), y: height - 22, "text-anchor": "middle" }, v >= 1 ? String(v) : "1/" + 1 / v));
  }
  for (let v = floor; v <= roof * 1.001; v *= 10) drawing.append(svg("line", { class: "grid", x1: x(low), x2: x(high), y1: y(v), y2: y(v) }), svg("text", { class: "faint", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, num(v * 1e9).replace(/\.0+ /, " ")));
  drawing.append(svg("text", { class: "faint", x: (left + width - 140) / 2, y: height - 4, "text-anchor": "middle" }, "floating-point operations a byte of the footprint"));
  let last = -100;
  for (const [name, peak] of peaks.sort((a, b) => b[1] - a[1])) {
    drawing.append(svg("path", { class: "roof", d: `M${x(peak / slope)},${y(peak)} L${x(high)},${y(peak)}` }));
    const at = Math.max(y(peak) + 4, last + 13);
    last = at;
    drawing.append(svg("text", { x: x(high) + 6, y: at }, limitName(name) + " " + num(peak * 1e9) + "/s"));
  }
  const ridge = Math.min(high, top / slope), start = Math.max(low, floor / slope);
  drawing.append(svg("path", { class: "roof", d: `M${x(start)},${y(start * slope)} L${x(ridge)},${y(ridge * slope)}` }));
  drawing.append(svg("text", { class: "label", x: x(Math.sqrt(start * ridge)) - 10, y: y(Math.sqrt(start * ridge) * slope) - 6, "text-anchor": "end" }, "memory " + slope + " GB/s"));
  const used = [];
  for (const p of points) {
    let at = y(p.rate) - 8;
    while (at > 8 && used.some(u => Math.abs(u[1] - at) < 13 && Math.abs(u[0] - x(p.at)) < 160)) at -= 13;
    if (at > 8) used.push([x(p.at), at]); // the others would lie on these, or above the drawing: the list below has them all
    drawing.append(svg("circle", { class: "point" + (p.measured ? " measured" : ""), cx: x(p.at), cy: y(p.rate), r: 5 }, svg("title", {}, p.name + ": " + p.at.toFixed(2) + " operations a byte, " + (p.measured ? "" : "at most ") + num(p.rate * 1e9) + " operations a second" + (p.limit ? ", limited by " + p.limit : ""))),
      at > 8 ? svg("text", { class: "label", x: x(p.at) + 8, y: at }, p.name.length > 40 ? p.name.slice(0, 38) + "…" : p.name) : "");
  }
  const text = el("details", {}, el("summary", {}, "as text"), el("ul", {}, points.map(p => el("li", {}, p.name + ": " + p.at.toFixed(2) + " operations a byte, " + (p.measured ? "measured " : "at most ") + num(p.rate * 1e9) + " a second"))));
  return section("roofline", "Roofline", "Filled: the most that a launch can reach by the longest of its limits, on " + d.card.title + " at its published peaks; no measurement. A point below the roofs is held down by instructions, L1 or shared memory.", el("div", { class: "wide chart" }, drawing), text);
}

/* ---- measurements of a GPU beside the counts ---- */

/* What Nsight Compute has measured of a kernel, if anything. */
function measuredOf(k) {
  return ((data.hardware && data.hardware.kernels) || []).find(m => m.kernel === k.name || m.kernel === k.plain);
}

/* A value in its unit, as ncu has them: nanoseconds, bytes, percent, warps. */
function measuredText(v, unit) {
  if (v === null || v === undefined) return "";
  return unit === "ns" ? time(v * 1000) : unit === "%" ? v.toFixed(1) + " %" : unit === "warps" ? v.toFixed(2) : num(v) + (unit ? " " + unit : "");
}

function hardwareSection() {
  const rows = data.hardware.kernels.flatMap(m => m.metrics.filter(x => x.unit === "warps" ? x.measured >= 0.1 : x.measured || x.counted).map((x, k) => ({ kernel: m.plain || m.kernel, nth: k, ...x })));
  const columns = [{ name: "kernel", class: "name", value: r => r.kernel, show: r => el("span", { class: "code" }, r.kernel) }, { name: "what", class: "name", value: r => r.name, show: r => el("span", { title: r.metric || "" }, r.name) },
    { name: "measured", number: true, value: r => r.measured, show: r => measuredText(r.measured, r.unit) }, { name: "counted", number: true, value: r => r.counted === undefined || r.counted === null ? -1 : r.counted, show: r => measuredText(r.counted, r.unit) },
    { name: "", value: r => r.exact ? (r.measured === r.counted ? "the same" : "differs") : "", show: r => el("span", { class: r.exact && r.measured !== r.counted ? "tag note" : "faint" }, r.exact ? (r.measured === r.counted ? "the same" : "differs") : "") }];
  const about = "By " + data.hardware.by + (data.hardware.capability ? " on a GPU of compute capability " + data.hardware.capability : "") + ", beside what was counted here. Of the time, the least by the model; of DRAM, the footprint; of occupancy, what fits.";
  return section("hardware", "Measured", about, sortable(rows, columns, { by: 0, up: true, choose: () => {}, tie: (a, b) => a.nth - b.nth }));
}

/* Pictures of journals: as images, so that nothing in them can do anything. */
function picturesSection() {
  const about = { landscape: "Medians over the size that varies.", samples: "Every sample, by entry and process; the bar is the median.", roofline: "What entries reached, below what this card reaches in a copy and in multiply-adds." };
  return section("pictures", "Times", "Measured on a GPU, from journals.", data.pictures.map(p => el("figure", {}, el("img", { class: "picture", src: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(p.svg), alt: p.kind + " of " + p.journal }), el("figcaption", { class: "faint" }, p.journal + ": " + about[p.kind]))));
}
